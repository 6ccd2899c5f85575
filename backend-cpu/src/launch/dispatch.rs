//! A dispatch: groups of one size of a launch, and all that runs them.

use std::ops::Range;
use std::sync::Arc;

use wgcl_compiler::vectorize::abi::LaunchContext;

use crate::launch::arguments::ArgBlock;
use crate::memory::arena::Arena;
use crate::program::Variant;
use crate::threads::thread_pool::Work;

/// Groups of one size, and the kernel that runs them.
#[derive(Debug)]
pub(crate) struct Dispatch {
    variant: Arc<Variant>,
    context: LaunchContext,
    /// Where the context says that arguments are.
    _arguments: Arc<ArgBlock>,
}

impl Dispatch {
    /// Of a kernel's variant with these arguments, which were made for its places. Of the context the address of the arguments is still open.
    pub(crate) fn new(variant: Arc<Variant>, mut context: LaunchContext, arguments: Arc<ArgBlock>) -> Self {
        context.args = arguments.address();
        Self { variant, context, _arguments: arguments }
    }

    /// Its groups.
    pub(crate) fn groups(&self) -> u64 {
        self.context.group_count.iter().map(|&count| u64::from(count)).product()
    }

    /// Bytes of the stack that it takes.
    pub(crate) fn stack(&self) -> u32 {
        self.variant.stack
    }
}

impl Work for Dispatch {
    fn run(&self, groups: Range<u64>, arena: &mut Arena) -> bool {
        let Some(mut worker) = arena.reserve(self.variant.arena) else { return false };
        // SAFETY: the context has the arguments that were made for this variant, which it keeps, and the memory of its program, which the launch keeps until all groups are done; the arena is as
        // large as asked for and this thread's; whoever calls has the stack (`Engine::execute`).
        unsafe { self.variant.code.run(&self.context, &mut worker, groups) };
        true
    }
}
