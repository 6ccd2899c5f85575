//! Records launches: selects pipelines, splits the NDRange into dispatches, and provides the buffers of the engine
//! that kernels bind.

use std::sync::Arc;

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg};
use wgcl_compiler::launch::{LaunchKey, SplitBindings, Words};
use wgcl_runtime::Program;

use crate::gpu::open_device::Gpu;
use crate::launch::bind::{
    AddressedMemory, BindContext, BindGroups, BoundBuffer, InternalMemory, LARGEST_VIEW_ELEMENT, LaunchTarget, MergedMemory, Ranges,
    addressed, argument_bytes, bind,
};
use crate::launch::kernel::Kernel;
use crate::launch::limits::LaunchLimits;
use crate::launch::merge_buffers::MergedBuffers;
use crate::launch::ndrange::{GroupRange, GroupSpan, Region, dispatches};
use crate::launch::pipeline::Pipeline;
use crate::launch::pipeline_prefetch::prefetch_group_size;
use crate::launch::plan::LaunchPlan;
use crate::launch::printf_copy::PrintfCopy;
use crate::launch::program::WgpuProgram;
use crate::launch::replay_cache::{CachedLaunch, LaunchCache, MemorySource, RecordedDispatch};
use crate::launch::thread_coarsening::CoarsenedLaunch;
use crate::memory::device_memory::WgpuMemory;
use crate::readback::failure_word::{BYTES, COPIED, FailureWord, WatchedLaunch};
use crate::readback::printf::{COUNTER, MAX_IN_FLIGHT, Output, Pool};
use crate::submit::batch_encoder::{Dispatch, Uses};
use crate::submit::completion::{Completion, PostWork};
use crate::submit::open_batch::OpenBatch;

/// Size in bytes of the buffer bound for a null pointer: the largest uniform binding.
const NULL_BYTES: u64 = 1 << 16;

/// The dispatches of one pipeline.
struct Stage {
    pipeline: Arc<Pipeline>,
    parts: SmallVec<[GroupRange; 1]>,
    output: Option<Output>,
    /// Parameters in the merged buffer.
    merged: Words,
    /// Buffers that are split across several bindings.
    split: SplitBindings,
}

impl Stage {
    /// Whether the dispatches use only arguments, the program's memory and the buffers for null pointers. They then use
    /// no other buffer of the engine, no split or merged buffers, and no readback.
    fn uses_only_arguments(&self) -> bool {
        let Self { pipeline, output, merged, split, .. } = self;
        let nothing_afterwards = output.is_none() && !pipeline.reports_failures;
        nothing_afterwards && merged.is_empty() && split.params.is_empty() && pipeline.scratch() == 0
    }
}

/// The state that the launches of a device share: limits, caches and the engine's buffers.
pub(crate) struct Launches {
    limits: LaunchLimits,
    bind_groups: BindGroups,
    launch_cache: LaunchCache,
    /// Private memory that does not fit registers. All launches share it, so launches that use it do not overlap.
    scratch: Option<Arc<WgpuMemory>>,
    /// The merged buffer ([`crate::launch::merge_buffers`]).
    merged: Option<Arc<WgpuMemory>>,
    /// The buffers that are bound for null pointers, as uniform and as storage. A dispatch cannot bind one buffer as
    /// both.
    nulls: [Option<Arc<WgpuMemory>>; 2],
    printf: Arc<Pool>,
    printf_copy: PrintfCopy,
    failure_word: Option<Arc<FailureWord>>,
}

fn program(launch: &Launch) -> BackendResult<&WgpuProgram> {
    launch
        .program
        .as_any()
        .downcast_ref()
        .ok_or_else(|| BackendError::Other("internal error: the program of the launch belongs to another backend".to_owned()))
}

impl Launches {
    pub(crate) fn new(limits: LaunchLimits) -> Self {
        Self {
            limits,
            bind_groups: BindGroups::default(),
            launch_cache: LaunchCache::default(),
            scratch: None,
            merged: None,
            nulls: [None, None],
            printf: Arc::default(),
            printf_copy: PrintfCopy::default(),
            failure_word: None,
        }
    }

    pub(crate) const fn limits(&self) -> &LaunchLimits {
        &self.limits
    }

    /// Drops all state that refers to a freed memory object.
    pub(crate) fn forget(&mut self, id: u64) {
        self.bind_groups.forget(id);
        self.launch_cache.forget(id);
    }

    /// Returns whether a pipeline of the launch's kernel exists. If it exists, the launch usually compiles nothing.
    pub(crate) fn is_ready(launch: &Launch) -> bool {
        program(launch).and_then(|program| program.code.kernel(&launch.kernel)).is_ok_and(|kernel| kernel.is_ready())
    }

    /// Records a launch.
    pub(crate) fn perform(&mut self, batch: &mut OpenBatch, launch: &Launch, profile: bool) -> BackendResult<Completion> {
        let program = program(launch)?;
        let kernel = program.code.kernel(&launch.kernel)?;
        let target = LaunchTarget { launch, program, kernel };
        if !profile && self.replay(batch, target)? {
            return Ok(Completion::Batch { timestamps: None, post_work: None });
        }
        let Some(plan) = LaunchPlan::new(launch, kernel, &self.limits)? else { return Ok(Completion::Marker) };
        let mut stages = self.stages(batch, target, &plan)?;
        if launch.args.iter().any(|arg| matches!(arg, LaunchArg::Buffer(None))) {
            self.ensure_nulls()?;
        }
        self.allocate_outputs(batch, &mut stages)?;
        let watched = stages.iter().any(|stage| stage.pipeline.reports_failures).then(|| self.watch(&launch.kernel)).transpose()?;
        let merged = MergedBuffers::new(launch, stages.first().map_or(&[][..], |stage| &stage.merged), &self.limits.gpu)?;
        let copied = merged.as_ref().filter(|merged| merged.common_range().is_none());
        if let Some(merged) = copied {
            let merged_buffer = self.merged_buffer(merged.size())?;
            merged.copy_in(batch, &merged_buffer)?;
        }
        // Allocations may fail, so they precede the first timestamp. If a command failed after its first timestamp, the
        // next command would write the end query of the failed one.
        let timestamps = batch.timestamps(profile)?;
        for memory in stages.iter().filter_map(|stage| stage.output.as_ref()?.memory()) {
            batch.clear(memory.buffer(), COUNTER.0, COUNTER.1)?;
        }
        if let Some(word) = watched.as_ref().and_then(WatchedLaunch::memory_to_clear) {
            batch.clear(word.buffer(), 0, BYTES)?;
        }
        batch.begin_timestamps(timestamps.as_ref(), true)?;
        for stage in &stages {
            for part in &stage.parts {
                let span = GroupSpan { total: plan.groups, range: *part };
                let dispatched = self.dispatch(batch, target, stage, span, merged.as_ref())?;
                let is_all = stages.len() == 1 && stage.parts.len() == 1 && stage.uses_only_arguments();
                if is_all && let Some(cached) = CachedLaunch::new(target, &stage.pipeline, span, dispatched) {
                    self.launch_cache.insert(cached);
                }
            }
        }
        batch.end_timestamps(timestamps.as_ref(), true)?;
        if let (Some(merged), Some(merged_buffer)) = (copied, &self.merged) {
            merged.copy_out(batch, merged_buffer)?;
        }
        for output in stages.iter().filter_map(|stage| stage.output.as_ref()) {
            self.printf_copy.record(batch, output)?;
        }
        if let Some((from, to)) = watched.as_ref().and_then(WatchedLaunch::copy) {
            batch.copy((from, 0), (to, 0), COPIED)?;
        }
        let outputs: Vec<Output> = stages.into_iter().filter_map(|stage| stage.output).collect();
        let post_work = PostWork { outputs, watched_launches: watched.into_iter().collect(), pending_reads: Vec::new() };
        Ok(Completion::Batch { timestamps, post_work: (!post_work.is_empty()).then(|| Box::new(post_work)) })
    }

    /// Records a launch from the launch cache. Returns false if the launch is not cached. Also returns false if the
    /// arguments of the cached launch are in another ring segment. The same holds if the host has read its buffers
    /// across the bus since then.
    fn replay(&self, batch: &mut OpenBatch, target: LaunchTarget<'_>) -> BackendResult<bool> {
        let LaunchTarget { launch, program, kernel } = target;
        let Some(cached) = self.launch_cache.find(&program.code, launch) else { return Ok(false) };
        let CachedLaunch { pipeline, span, group, .. } = cached;
        if !cached.shows_writes() && cached.must_show_writes(launch, program)? {
            return Ok(false);
        }
        let mut offset = None;
        if let Some(memory) = cached.arguments {
            let bytes = argument_bytes(launch, kernel, &pipeline.args, None, *span)?;
            let slot = batch.place_arguments(bytes)?;
            if slot.memory.id != memory {
                return Ok(false);
            }
            offset = Some(slot.offset as u32);
        }
        batch.begin_timestamps(None, true)?;
        for (source, writes) in &cached.memory {
            source.memory(launch, program)?.record_use(batch.serial(), *writes);
        }
        let (id, compute) = (pipeline.id, &pipeline.compute);
        batch.dispatch(&Dispatch { id, compute, group, offset, uses: &cached.uses, groups: span.range.groups })?;
        Ok(true)
    }

    /// Allocates the `printf` buffer of each stage whose kernel prints.
    fn allocate_outputs(&self, batch: &mut OpenBatch, stages: &mut [Stage]) -> BackendResult<()> {
        let printing = stages.iter().filter(|stage| stage.pipeline.printf.is_some()).count();
        if printing > 0 && self.printf.in_use() + printing > MAX_IN_FLIGHT {
            batch.finish_all()?;
        }
        for stage in stages {
            if let Some(table) = &stage.pipeline.printf {
                stage.output = Some(Output::new(&self.limits.gpu, &self.printf, table)?);
            }
        }
        Ok(())
    }

    fn watch(&mut self, kernel: &Arc<str>) -> BackendResult<WatchedLaunch> {
        let word = match &self.failure_word {
            Some(word) => word,
            None => self.failure_word.insert(FailureWord::new(&self.limits.gpu)?),
        };
        WatchedLaunch::new(word, kernel)
    }

    /// Returns the pipelines and dispatches of a launch. Each region has one pipeline. A region with too many
    /// work-groups for one dispatch has several dispatches.
    fn stages(&mut self, batch: &mut OpenBatch, target: LaunchTarget<'_>, plan: &LaunchPlan) -> BackendResult<SmallVec<[Stage; 1]>> {
        let LaunchTarget { program: WgpuProgram { code, .. }, kernel, .. } = target;
        if let Some(stage) = self.coarsened_stage(batch, target, plan)? {
            return Ok(smallvec::smallvec![stage]);
        }
        let mut stages = SmallVec::new();
        for (Region { local_size, range }, mut key) in plan.regions(self.limits.max_groups) {
            let mut pipeline = pipeline(batch, code, kernel, &key)?;
            let mut limits = self.limits.max_groups;
            let scratch = pipeline.scratch();
            if scratch > 0 {
                limits = self.scratch_limits(local_size, range.groups, scratch)?;
                if key.binding.two_dimensional_dispatch || (key.binding.single_dispatch && !range.fits(limits)) {
                    (key.binding.single_dispatch, key.binding.two_dimensional_dispatch) = (false, false);
                    pipeline = self::pipeline(batch, code, kernel, &key)?;
                }
            }
            let parts = dispatches(range, limits, key.binding.two_dimensional_dispatch);
            self.reserve_scratch(pipeline.scratch(), local_size, &parts)?;
            stages.push(Stage { pipeline, parts, output: None, merged: key.binding.merged, split: key.binding.split });
        }
        Ok(stages)
    }

    /// Returns the stage of a coarsened launch, or `None` if the launch is not coarsened.
    fn coarsened_stage(&self, batch: &mut OpenBatch, target: LaunchTarget<'_>, plan: &LaunchPlan) -> BackendResult<Option<Stage>> {
        let LaunchTarget { program: WgpuProgram { code, .. }, kernel, .. } = target;
        if !kernel.is_ready() && self.limits.gpu.vulkan_queue.is_some() {
            // The device starts the recorded commands while the shader is compiled.
            batch.submit();
        }
        while let Some(CoarsenedLaunch { key, groups, max_factor, factor }) = plan.coarsened(code, kernel, &self.limits)? {
            let pipeline = pipeline(batch, code, kernel, &key)?;
            if pipeline.coarsening_factor == factor {
                let parts = dispatches(groups, self.limits.max_groups, key.binding.two_dimensional_dispatch);
                return Ok(Some(Stage { pipeline, parts, output: None, merged: key.binding.merged, split: key.binding.split }));
            }
            kernel.set_measurement(max_factor, pipeline.coarsening_factor);
        }
        Ok(None)
    }

    fn dispatch(
        &mut self,
        batch: &mut OpenBatch,
        target: LaunchTarget<'_>,
        stage: &Stage,
        span: GroupSpan,
        merged: Option<&MergedBuffers>,
    ) -> BackendResult<RecordedDispatch> {
        let Stage { pipeline, output, split, .. } = stage;
        let gpu = Arc::clone(&self.limits.gpu);
        let mut arguments = None;
        if pipeline.has_arguments() {
            let bytes = argument_bytes(target.launch, target.kernel, &pipeline.args, merged, span)?;
            arguments = Some(batch.place_arguments(bytes)?);
        }
        let internal = InternalMemory {
            printf: output.as_ref().and_then(Output::memory),
            failure_word: self.failure_word.as_ref().map(|word| word.memory()),
            scratch: self.scratch.as_ref(),
            merged: merged.and_then(|merged| {
                let memory = match merged.common_range() {
                    Some(range) => MergedMemory::InPlace(range),
                    None => MergedMemory::Copied(self.merged.as_ref()?),
                };
                Some((merged.first, memory))
            }),
            nulls: self.nulls.each_ref().map(Option::as_ref),
        };
        let context = BindContext { target, internal, arguments: arguments.as_ref(), layout: &pipeline.args, split };
        let mut bound: SmallVec<[BoundBuffer<'_>; 8]> = SmallVec::new();
        for binding in &pipeline.bindings {
            bound.push(bind(&context, binding)?);
        }
        let mut uses = Uses::new();
        let mut sources = Some(SmallVec::new());
        for (BoundBuffer { buffer, memory, writes, .. }, binding) in bound.iter().zip(&pipeline.bindings) {
            if let Some(memory) = memory {
                memory.record_use(batch.serial(), *writes);
                sources = sources.zip(MemorySource::of(binding)).map(|(sources, source)| appended(sources, (source, *writes)));
                // The split bindings of a buffer are consecutive, so the comparison with the last use omits their
                // duplicates.
                if uses.last() != Some(&buffer.used(*writes)) {
                    uses.push(buffer.used(*writes));
                }
            }
        }
        for AddressedMemory { index, memory, writes } in addressed(target, &pipeline.args)? {
            memory.record_use(batch.serial(), writes);
            uses.push(memory.buffer().used(writes));
            sources = sources.map(|sources| appended(sources, (MemorySource::Range(index), writes)));
        }
        let ranges: Ranges = bound.iter().map(|bound| bound.range).collect();
        let group = self.bind_groups.get((pipeline.id, ranges.clone()), || {
            let ranges: SmallVec<[_; 8]> = pipeline
                .bindings
                .iter()
                .zip(&bound)
                .map(|(binding, BoundBuffer { buffer, range, .. })| (binding.binding, *buffer, range.offset, range.size))
                .collect();
            let group = pipeline.compute.group(&gpu, &ranges)?;
            bound.iter().filter_map(|bound| bound.memory).for_each(WgpuMemory::set_bound);
            Ok(group)
        })?;
        let offset = arguments.as_ref().map(|slot| slot.offset as u32);
        let compute = &pipeline.compute;
        batch.dispatch(&Dispatch { id: pipeline.id, compute, group: &group, offset, uses: &uses, groups: span.range.groups })?;
        Ok(RecordedDispatch { bound: ranges, group, arguments: arguments.as_ref().map(|slot| slot.memory.id), uses, memory: sources })
    }

    /// Returns a merged buffer of at least `size` bytes.
    fn merged_buffer(&mut self, size: u64) -> BackendResult<Arc<WgpuMemory>> {
        if let Some(merged_buffer) = self.merged.as_ref().filter(|merged_buffer| merged_buffer.allocated >= size) {
            return Ok(Arc::clone(merged_buffer));
        }
        if let Some(old) = self.merged.take() {
            self.bind_groups.forget(old.id);
        }
        Ok(Arc::clone(self.merged.insert(WgpuMemory::new(&self.limits.gpu, size, None)?)))
    }

    /// Returns the limits of a dispatch, in work-groups, such that the scratch memory of all its work-items fits one
    /// binding.
    fn scratch_limits(&self, local_size: [u32; 3], groups: [u32; 3], bytes_per_item: u64) -> BackendResult<[u32; 3]> {
        let per_group = local_size.iter().map(|size| u64::from(*size)).product::<u64>() * bytes_per_item;
        let limit = self.limits.gpu.limits.max_storage_buffer_binding_size.min(self.limits.gpu.limits.max_buffer_size);
        let mut remaining = limit / per_group.max(1);
        if remaining == 0 {
            return Err(BackendError::OutOfDeviceMemory);
        }
        let mut limits = self.limits.max_groups;
        for (limit, count) in limits.iter_mut().zip(groups) {
            let taken = u64::from((*limit).min(count)).min(remaining).max(1);
            *limit = taken as u32;
            remaining /= taken;
        }
        Ok(limits)
    }

    fn reserve_scratch(&mut self, bytes_per_item: u64, local_size: [u32; 3], parts: &[GroupRange]) -> BackendResult<()> {
        if bytes_per_item == 0 {
            return Ok(());
        }
        let items = local_size.iter().map(|size| u64::from(*size)).product::<u64>();
        let groups = parts.iter().map(|part| part.groups.iter().map(|count| u64::from(*count)).product::<u64>()).max().unwrap_or(0);
        let needed = (items * groups * bytes_per_item).max(LARGEST_VIEW_ELEMENT);
        if self.scratch.as_ref().is_none_or(|scratch| scratch.allocated < needed) {
            if let Some(old) = self.scratch.take() {
                self.bind_groups.forget(old.id);
            }
            self.scratch = Some(WgpuMemory::new(&self.limits.gpu, needed, None)?);
        }
        Ok(())
    }

    fn ensure_nulls(&mut self) -> BackendResult<()> {
        for null in &mut self.nulls {
            if null.is_none() {
                *null = Some(WgpuMemory::new(&self.limits.gpu, NULL_BYTES, None)?);
            }
        }
        Ok(())
    }
}

/// Returns the pipeline for a key. If the pipeline must be created, first submits the recorded commands, so that the
/// device runs them meanwhile.
fn pipeline(batch: &mut OpenBatch, code: &Arc<Program<Gpu>>, kernel: &Kernel, key: &LaunchKey) -> BackendResult<Arc<Pipeline>> {
    if let Some(pipeline) = code.loaded(kernel, key) {
        return pipeline;
    }
    prefetch_group_size(code, kernel, key);
    if batch.gpu().vulkan_queue.is_some() {
        batch.submit();
    }
    code.executable(kernel, key)
}

fn appended<T: smallvec::Array>(mut list: SmallVec<T>, item: T::Item) -> SmallVec<T> {
    list.push(item);
    list
}
