//! Launches that are like one before: of the same kernel, in the same sizes, with the same memory. Only their values may differ.
//!
//! Programs enqueue the same kernel again and again, and wait for it. What a launch comes to (its key, the pipeline, the groups, what is bound) is found out once,
//! and then taken from here: a third of the instructions of clEnqueueNDRangeKernel, all of which a device that has nothing else to do waits for.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, MemoryRange};
use wgcl_compiler::emit::{Binding, BindingSource};
use wgcl_compiler::ir::KernelParam;
use wgcl_runtime::Program;

use crate::gpu::open_device::Gpu;
use crate::launch::bind::{Ranges, bound_range};
use crate::launch::ndrange::GroupRange;
use crate::launch::pipeline::{BindGroup, Pipeline};
use crate::launch::program::{Kernel, WgpuProgram};
use crate::memory::device_memory::{WgpuMemory, downcast};
use crate::submit::batch_encoder::Uses;

/// Launches that are remembered: programs take turns with a few kernels.
const MAX_CACHED_LAUNCHES: usize = 8;

/// The launches that are remembered, the last one that was new at the end.
#[derive(Default)]
pub(crate) struct LaunchCache(VecDeque<CachedLaunch>);

impl LaunchCache {
    /// A launch of that program which this one is like.
    pub(crate) fn find(&self, code: &Arc<Program<Gpu>>, launch: &Launch) -> Option<&CachedLaunch> {
        self.0.iter().rev().find(|cached| {
            Arc::ptr_eq(&cached.kernel, &launch.kernel)
                && Weak::as_ptr(&cached.code) == Arc::as_ptr(code)
                && cached.shape.is_that_of(launch)
        })
    }

    /// Remembers a launch, and forgets the oldest.
    pub(crate) fn note(&mut self, cached: CachedLaunch) {
        if self.0.len() == MAX_CACHED_LAUNCHES {
            self.0.pop_front();
        }
        self.0.push_back(cached);
    }

    /// Forgets those that use memory which is gone.
    pub(crate) fn forget(&mut self, id: u64) {
        self.0.retain(|cached| cached.bound.iter().all(|range| range.0 != id) && !cached.shape.has(id));
    }
}

/// A launch of one dispatch, and what it came to.
pub(crate) struct CachedLaunch {
    /// Its address is no other program's as long as this is here.
    code: Weak<Program<Gpu>>,
    kernel: Arc<str>,
    shape: Shape,
    bound: Ranges,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) groups: [u32; 3],
    pub(crate) part: GroupRange,
    pub(crate) group: Arc<BindGroup>,
    /// The memory of the ring in which its arguments were.
    pub(crate) arguments: Option<u64>,
    pub(crate) uses: Uses,
    /// The memory that it uses, and whether it writes that.
    pub(crate) memory: SmallVec<[(MemorySource, bool); 8]>,
}

/// What a dispatch was made of.
pub(crate) struct RecordedDispatch {
    pub(crate) bound: Ranges,
    pub(crate) group: Arc<BindGroup>,
    pub(crate) arguments: Option<u64>,
    pub(crate) uses: Uses,
    /// `None` where it uses memory of the engine's own, which is not the same the next time.
    pub(crate) memory: Option<SmallVec<[(MemorySource, bool); 8]>>,
}

impl CachedLaunch {
    /// A launch that was just recorded as that dispatch; `None` where the next one may come to something else.
    pub(crate) fn new(
        (program, kernel, launch): (&WgpuProgram, &Kernel, &Launch),
        pipeline: &Arc<Pipeline>,
        (groups, part): ([u32; 3], GroupRange),
        dispatched: RecordedDispatch,
    ) -> Option<Self> {
        let RecordedDispatch { bound, group, arguments, uses, memory } = dispatched;
        Some(Self {
            code: Arc::downgrade(&program.code),
            kernel: Arc::clone(&launch.kernel),
            shape: Shape::of(launch, kernel)?,
            bound,
            pipeline: Arc::clone(pipeline),
            groups,
            part,
            group,
            arguments,
            uses,
            memory: memory?,
        })
    }
}

/// Where a launch has memory.
#[derive(Clone, Copy)]
pub(crate) enum MemorySource {
    /// An argument's, or behind them one to which only pointers in memory lead.
    Range(u32),
    /// The program's constants.
    Constants,
    /// The program's variables.
    Variables,
}

impl MemorySource {
    /// Of what is bound; `None` for memory of the engine's own.
    pub(crate) fn of(binding: &Binding) -> Option<Self> {
        match binding.source {
            BindingSource::Param(index) => Some(Self::Range(index)),
            BindingSource::ConstantData => Some(Self::Constants),
            BindingSource::GlobalVariables => Some(Self::Variables),
            _ => None,
        }
    }

    /// The memory of a launch.
    pub(crate) fn memory<'a>(self, launch: &'a Launch, program: &'a WgpuProgram) -> BackendResult<&'a WgpuMemory> {
        let memory = match self {
            Self::Range(index) => bound_range(launch, index).map(|range| downcast(&range.memory)).transpose()?,
            Self::Constants => program.constants.as_deref(),
            Self::Variables => program.variables.as_deref(),
        };
        memory.ok_or_else(|| BackendError::Other("memory that a launch like this had".to_owned()))
    }
}

/// What decides to what a launch comes, but for its kernel.
struct Shape {
    work_dim: u32,
    global_offset: [u64; 3],
    global_size: [u64; 3],
    local_size: [u32; 3],
    /// The arguments, and behind them the memory to which only pointers in memory lead.
    args: SmallVec<[Arg; 8]>,
}

/// An argument.
enum Arg {
    /// Whatever it is.
    Value,
    /// Bytes of local memory.
    Local(u32),
    Memory(Bytes),
}

/// A range of memory: its number, offset, size, the byte to which the argument points, and whether kernels may only read it.
type Bytes = (u64, u64, u64, u64, bool);

fn bytes(range: &MemoryRange) -> Option<Bytes> {
    Some((downcast(&range.memory).ok()?.id, range.offset, range.size, range.start, range.read_only))
}

impl Arg {
    /// `None` where more of it decides than is kept here.
    fn of(arg: &LaunchArg, param: &KernelParam) -> Option<Self> {
        match (arg, param) {
            (LaunchArg::Value(_), KernelParam::Value | KernelParam::Bytes { .. }) => Some(Self::Value),
            (LaunchArg::Local(size), _) => Some(Self::Local(*size)),
            (LaunchArg::Buffer(Some(range)), _) => bytes(range).map(Self::Memory),
            _ => None,
        }
    }

    fn is_that_of(&self, arg: &LaunchArg) -> bool {
        match (self, arg) {
            (Self::Value, LaunchArg::Value(_)) => true,
            (Self::Local(size), LaunchArg::Local(other)) => size == other,
            (Self::Memory(known), LaunchArg::Buffer(Some(range))) => bytes(range).as_ref() == Some(known),
            _ => false,
        }
    }
}

impl Shape {
    fn of(launch: &Launch, kernel: &Kernel) -> Option<Self> {
        let args = launch.args.iter().zip(kernel.params()).map(|(arg, param)| Arg::of(arg, param));
        let extra = launch.extra.iter().map(|range| bytes(range).map(Arg::Memory));
        let Launch { work_dim, global_offset, global_size, local_size, .. } = *launch;
        Some(Self { work_dim, global_offset, global_size, local_size, args: args.chain(extra).collect::<Option<_>>()? })
    }

    fn is_that_of(&self, launch: &Launch) -> bool {
        let (args, extra) = self.args.split_at(launch.args.len().min(self.args.len()));
        self.global_size == launch.global_size
            && self.local_size == launch.local_size
            && self.global_offset == launch.global_offset
            && self.work_dim == launch.work_dim
            && (args.len(), extra.len()) == (launch.args.len(), launch.extra.len())
            && args.iter().zip(&launch.args).all(|(known, arg)| known.is_that_of(arg))
            && extra
                .iter()
                .zip(&launch.extra)
                .all(|(known, range)| matches!(known, Arg::Memory(known) if bytes(range).as_ref() == Some(known)))
    }

    fn has(&self, id: u64) -> bool {
        self.args.iter().any(|arg| matches!(arg, Arg::Memory(known) if known.0 == id))
    }
}
