//! Programs: the interpreter's code, and the memory of program-scope variables.

use std::any::Any;
use std::sync::Arc;

use wgcl_compiler::interpret::{self, Instance, Settings, Stage};
use wgcl_compiler::ir;
use wgcl_compiler::launch::LaunchError;
use wgcl_compiler::target::Target;

use super::memory::{InterpreterMemory, Names};
use crate::backend::{BackendError, BackendResult, KernelUsage, LoadedProgram};

/// A program on the device.
#[derive(Debug)]
pub(super) struct InterpreterProgram {
    pub(super) program: interpret::Program,
    pub(super) instance: Instance,
    /// Variables and constants of program scope; the former may be written.
    pub(super) objects: Vec<(InterpreterMemory, bool)>,
}

impl InterpreterProgram {
    pub(super) fn new(module: &ir::Module, target: &Target, names: &Arc<Names>) -> BackendResult<Self> {
        let program = interpret::Program::new(module, Settings::new(Stage::Built, target));
        let mut memory = interpret::Memory::default();
        let instance = program.instantiate(&mut memory, || names.take()).ok_or(BackendError::OutOfDeviceMemory)?;
        let objects = instance
            .objects()
            .map(|(id, read_only)| (InterpreterMemory::named(names, id, memory.remove(id).unwrap_or_default()), read_only))
            .collect();
        Ok(Self { program, instance, objects })
    }
}

impl LoadedProgram for InterpreterProgram {
    fn warm(&self, _kernel: &str, _local_size: [u32; 3]) {
        // There is nothing to make ahead of time.
    }

    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage> {
        let missing = |_| BackendError::Launch(LaunchError::NoKernel(kernel.to_owned()));
        let (local_memory, private_memory) = self.program.usage(kernel).map_err(missing)?;
        Ok(KernelUsage { local_memory, private_memory })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
