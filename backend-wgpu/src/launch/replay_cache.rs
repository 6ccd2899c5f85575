//! Caches recorded launches. A launch with the same kernel, sizes and memory as a cached one reuses its pipeline and
//! bind group. Only argument values may differ.
//!
//! Programs often enqueue the same kernel many times and wait for each launch. An idle device waits while
//! clEnqueueNDRangeKernel runs. The cache saves a third of this function's instructions.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, MemoryRange};
use wgcl_compiler::emit::{Binding, BindingSource};
use wgcl_compiler::ir::KernelParam;
use wgcl_runtime::Program;

use crate::gpu::compute_pipeline::BindGroup;
use crate::gpu::open_device::Gpu;
use crate::launch::bind::{LaunchTarget, Ranges, bound_range};
use crate::launch::kernel::Kernel;
use crate::launch::ndrange::GroupSpan;
use crate::launch::pipeline::Pipeline;
use crate::launch::program::WgpuProgram;
use crate::memory::device_memory::{WgpuMemory, downcast};
use crate::submit::batch_encoder::Uses;

/// Maximum number of cached launches. Few suffice, because applications usually alternate between a few kernels.
const MAX_CACHED_LAUNCHES: usize = 8;

/// The cached launches, the newest at the end.
#[derive(Default)]
pub(crate) struct LaunchCache(VecDeque<CachedLaunch>);

impl LaunchCache {
    /// Returns a cached launch of the program whose recording can be reused for `launch`.
    pub(crate) fn find(&self, code: &Arc<Program<Gpu>>, launch: &Launch) -> Option<&CachedLaunch> {
        self.0.iter().rev().find(|cached| {
            Arc::ptr_eq(&cached.kernel, &launch.kernel) && Weak::as_ptr(&cached.code) == Arc::as_ptr(code) && cached.shape.matches(launch)
        })
    }

    /// Adds a launch. If the cache is full, evicts the oldest one.
    pub(crate) fn insert(&mut self, cached: CachedLaunch) {
        if self.0.len() == MAX_CACHED_LAUNCHES {
            self.0.pop_front();
        }
        self.0.push_back(cached);
    }

    /// Drops launches that use a freed memory object.
    pub(crate) fn forget(&mut self, id: u64) {
        self.0.retain(|cached| cached.bound.iter().all(|range| range.id != id) && !cached.shape.has(id));
    }
}

/// A launch of one dispatch, and its recording.
pub(crate) struct CachedLaunch {
    /// The program. While this reference exists, no other program has the same address.
    code: Weak<Program<Gpu>>,
    kernel: Arc<str>,
    shape: LaunchShape,
    bound: Ranges,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) span: GroupSpan,
    pub(crate) group: BindGroup,
    /// ID of the ring segment with the arguments of the launch. `None` if the shader reads no arguments.
    pub(crate) arguments: Option<u64>,
    pub(crate) uses: Uses,
    /// The memory objects that the launch uses, and whether it writes each of them.
    pub(crate) memory: SmallVec<[(MemorySource, bool); 8]>,
}

/// A dispatch that was recorded.
pub(crate) struct RecordedDispatch {
    pub(crate) bound: Ranges,
    pub(crate) group: BindGroup,
    pub(crate) arguments: Option<u64>,
    pub(crate) uses: Uses,
    /// `None` if the dispatch uses a buffer of the engine: the next launch could use another one.
    pub(crate) memory: Option<SmallVec<[(MemorySource, bool); 8]>>,
}

impl CachedLaunch {
    /// Creates the cache entry of a recorded launch. Returns `None` if an equal launch may record another dispatch.
    pub(crate) fn new(
        LaunchTarget { launch, program, kernel }: LaunchTarget<'_>,
        pipeline: &Arc<Pipeline>,
        span: GroupSpan,
        dispatched: RecordedDispatch,
    ) -> Option<Self> {
        let RecordedDispatch { bound, group, arguments, uses, memory } = dispatched;
        Some(Self {
            code: Arc::downgrade(&program.code),
            kernel: Arc::clone(&launch.kernel),
            shape: LaunchShape::of(launch, kernel)?,
            bound,
            pipeline: Arc::clone(pipeline),
            span,
            group,
            arguments,
            uses,
            memory: memory?,
        })
    }

    /// Returns whether the recorded batch makes the launch's writes visible to the host.
    pub(crate) fn shows_writes(&self) -> bool {
        self.uses.iter().any(|used| used.writes && used.host_visible)
    }

    /// Returns whether the batch of a new recording would make the launch's writes visible to the host.
    pub(crate) fn must_show_writes(&self, launch: &Launch, program: &WgpuProgram) -> BackendResult<bool> {
        for (source, writes) in &self.memory {
            if *writes && source.memory(launch, program)?.buffer().visibility.has_barriers() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Where a launch specifies a memory object.
#[derive(Clone, Copy)]
pub(crate) enum MemorySource {
    /// A parameter, or an index after the parameters for memory that only pointers in memory refer to.
    Range(u32),
    Constants,
    Variables,
}

impl MemorySource {
    /// Returns the source of a binding's memory, or `None` for a buffer of the engine.
    pub(crate) fn of(binding: &Binding) -> Option<Self> {
        match binding.source {
            BindingSource::Param(index) => Some(Self::Range(index)),
            BindingSource::ConstantData => Some(Self::Constants),
            BindingSource::GlobalVariables => Some(Self::Variables),
            _ => None,
        }
    }

    pub(crate) fn memory<'a>(self, launch: &'a Launch, program: &'a WgpuProgram) -> BackendResult<&'a WgpuMemory> {
        let memory = match self {
            Self::Range(index) => bound_range(launch, index).map(|range| downcast(&range.memory)).transpose()?,
            Self::Constants => program.constants.as_deref(),
            Self::Variables => program.variables.as_deref(),
        };
        memory.ok_or_else(|| BackendError::Other("internal error: a cached launch uses memory that this launch does not have".to_owned()))
    }
}

/// The properties of a launch that determine its recording, besides the kernel.
struct LaunchShape {
    work_dim: u32,
    global_offset: [u64; 3],
    global_size: [u64; 3],
    local_size: [u32; 3],
    /// The arguments, followed by memory that only pointers in memory refer to.
    args: SmallVec<[CachedArg; 8]>,
}

enum CachedArg {
    /// A value of any contents.
    Value,
    /// Bytes of local memory.
    Local(u32),
    Memory(CachedRange),
}

/// The range of a buffer argument.
#[derive(PartialEq, Eq)]
struct CachedRange {
    id: u64,
    offset: u64,
    size: u64,
    /// Byte offset in the range to which the argument points.
    start: u64,
    read_only: bool,
}

impl CachedRange {
    fn of(range: &MemoryRange) -> Option<Self> {
        let MemoryRange { offset, size, start, read_only, .. } = *range;
        Some(Self { id: downcast(&range.memory).ok()?.id, offset, size, start, read_only })
    }
}

impl CachedArg {
    /// Returns the properties of an argument that the recording depends on, or `None` if this type cannot represent
    /// them.
    fn of(arg: &LaunchArg, param: &KernelParam) -> Option<Self> {
        match (arg, param) {
            (LaunchArg::Value(_), KernelParam::Value | KernelParam::Bytes { .. }) => Some(Self::Value),
            (LaunchArg::Local(size), _) => Some(Self::Local(*size)),
            (LaunchArg::Buffer(Some(range)), _) => CachedRange::of(range).map(Self::Memory),
            _ => None,
        }
    }

    fn matches(&self, arg: &LaunchArg) -> bool {
        match (self, arg) {
            (Self::Value, LaunchArg::Value(_)) => true,
            (Self::Local(size), LaunchArg::Local(other)) => size == other,
            (Self::Memory(known), LaunchArg::Buffer(Some(range))) => CachedRange::of(range).as_ref() == Some(known),
            _ => false,
        }
    }
}

impl LaunchShape {
    fn of(launch: &Launch, kernel: &Kernel) -> Option<Self> {
        let args = launch.args.iter().zip(kernel.params()).map(|(arg, param)| CachedArg::of(arg, param));
        let extra = launch.extra.iter().map(|range| CachedRange::of(range).map(CachedArg::Memory));
        let Launch { work_dim, global_offset, global_size, local_size, .. } = *launch;
        Some(Self { work_dim, global_offset, global_size, local_size, args: args.chain(extra).collect::<Option<_>>()? })
    }

    fn matches(&self, launch: &Launch) -> bool {
        let (args, extra) = self.args.split_at(launch.args.len().min(self.args.len()));
        self.global_size == launch.global_size
            && self.local_size == launch.local_size
            && self.global_offset == launch.global_offset
            && self.work_dim == launch.work_dim
            && (args.len(), extra.len()) == (launch.args.len(), launch.extra.len())
            && args.iter().zip(&launch.args).all(|(known, arg)| known.matches(arg))
            && extra
                .iter()
                .zip(&launch.extra)
                .all(|(known, range)| matches!(known, CachedArg::Memory(known) if CachedRange::of(range).as_ref() == Some(known)))
    }

    fn has(&self, id: u64) -> bool {
        self.args.iter().any(|arg| matches!(arg, CachedArg::Memory(known) if known.id == id))
    }
}
