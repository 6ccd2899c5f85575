//! Kernels as machine code of the CPU: one lane of a vector is one work-item.
//!
//! [`abi`] is what generated code and the device that runs it agree upon.

pub mod abi;

use wgcl_codegen::Isa;

use crate::ir;
use crate::launch::{LaunchError, LaunchKey, LaunchResult};
use crate::target::Target;
use abi::NativeKernel;

/// Makes the machine code of a kernel for one launch key. Of the key's binding nothing is asked.
///
/// # Errors
/// See [`LaunchError`].
pub fn compile(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target, isa: Isa) -> LaunchResult<NativeKernel> {
    let _ = (module, key, target);
    Err(LaunchError::Unsupported { kernel: kernel.to_owned(), what: format!("code for {isa:?}") })
}
