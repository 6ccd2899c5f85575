//! IR to naga, and naga to SPIR-V.

use crate::ir;
use crate::launch::{LaunchError, LaunchKey, LaunchResult, Shader};
use crate::target::Target;

/// See [`crate::launch::specialise`].
pub(crate) fn specialise(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target) -> LaunchResult<Shader> {
    let _ = (module, key, target);
    Err(LaunchError::NoKernel(kernel.to_owned()))
}
