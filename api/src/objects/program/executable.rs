//! Programs that are built for a device.

use std::sync::Arc;

use wgcl_compiler::program::{KernelInfo, Program as Compiled};

use crate::backend::LoadedProgram;
use crate::commands::serialization::TreeQueue;

/// A program that was built for a device and loaded on it.
#[derive(Debug)]
pub struct Executable {
    /// The compiler's result.
    pub compiled: Compiled,
    /// The backend's program.
    pub loaded: Arc<dyn LoadedProgram>,
    /// Serialises launches of this program whose kernels can enqueue kernels.
    pub(crate) trees: TreeQueue,
}

/// The reflection data of a kernel, or `None` if the executable has no such kernel.
pub(crate) fn find_kernel<'a>(executable: &'a Executable, name: &str) -> Option<&'a KernelInfo> {
    executable.compiled.kernels.iter().find(|kernel| kernel.name == name)
}
