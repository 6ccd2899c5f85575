//! A dispatch: the work-groups of one region, with the code and arguments that run them.

use std::ops::Range;
use std::sync::Arc;

use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_codegen::VectorLength;
use wgcl_compiler::vectorize::abi::LaunchContext;

use crate::launch::arguments::ArgumentBlock;
use crate::launch::subgroups::{Places, Scheduler};
use crate::memory::arena::Arena;
use crate::program::Variant;
use crate::threads::thread_pool::Work;

/// The work-groups of a region, and the kernel variant that runs them.
#[derive(Debug)]
pub(crate) struct Dispatch {
    variant: Arc<Variant>,
    context: LaunchContext,
    /// Owns the arguments that `context` points to.
    _arguments: Arc<ArgumentBlock>,
}

impl Dispatch {
    /// Creates a dispatch of `variant`. `arguments` must have the layout of the variant. Stores their address in
    /// `context`.
    pub(crate) fn new(variant: Arc<Variant>, mut context: LaunchContext, arguments: Arc<ArgumentBlock>) -> Self {
        context.args = arguments.address();
        Self { variant, context, _arguments: arguments }
    }

    /// Number of work-groups.
    pub(crate) fn groups(&self) -> u64 {
        self.context.group_count.iter().map(|&count| u64::from(count)).product()
    }

    /// Bytes of stack that the kernel uses at most.
    pub(crate) fn stack(&self) -> u32 {
        self.variant.stack
    }
}

impl Work for Dispatch {
    fn run(&self, groups: Range<u64>, arena: &mut Arena) -> BackendResult<()> {
        // A thread of the application can have another length. Workers inherit the length of the thread that starts
        // them.
        let _vector_length =
            VectorLength::with_bytes(self.variant.isa.sve_vector_bytes()).map_err(|error| BackendError::Other(error.to_string()))?;
        if self.variant.subgroups > 0 {
            let worker = arena.reserve(Places::of(&self.variant).size()).ok_or(BackendError::OutOfHostMemory)?;
            // SAFETY: the reasons below hold. The arena has the size that the scheduler needs.
            unsafe { Scheduler::run(&self.variant, &self.context, worker.arena, groups) };
            return Ok(());
        }
        let mut worker = arena.reserve(self.variant.arena).ok_or(BackendError::OutOfHostMemory)?;
        // SAFETY: the context points to arguments in the layout of this variant, which `_arguments` keeps. It also
        // points to the memory of its program, which the launch keeps until all groups are done. The arena has the size
        // that the variant needs and belongs to this thread. The caller provides the stack (`Engine::launch_region`).
        unsafe { self.variant.code.run(&self.context, &mut worker, groups) };
        Ok(())
    }
}
