//! Launches: the pipelines and dispatches that each takes, and the memory of the engine's own that they bind.

use std::sync::Arc;

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg};
use wgcl_compiler::launch::{LaunchKey, SplitBindings, Words};
use wgcl_compiler::printf::BUFFER_SIZE;
use wgcl_runtime::Program;

use crate::gpu::open_device::Gpu;
use crate::launch::bind::{BindGroups, Bound, InternalMemory, Ranges, VIEW, argument_bytes, bind, reached};
use crate::launch::key::{launch_key, region_key};
use crate::launch::limits::Planner;
use crate::launch::merge_buffers::Fold;
use crate::launch::ndrange::{Part, Region, group_counts, local_size, regions, split_or_rows};
use crate::launch::pipeline::Pipeline;
use crate::launch::program::{Kernel, WgpuProgram};
use crate::launch::replay_cache::{Again, Dispatched, Place, Seen};
use crate::launch::thread_coarsening::{CoarseLaunch, LaunchSizes, coarse_launch};
use crate::memory::device_memory::WgpuMemory;
use crate::readback::printf::{COUNTER, MOST_IN_FLIGHT, Output, Pool};
use crate::readback::watchdog::{BYTES, COPIED, Watch, Word};
use crate::submit::batch::{Dispatch, Uses};
use crate::submit::completion::After;
use crate::submit::handled::Handled;
use crate::submit::open_batch::Recording;

/// Bytes bound where the application passed a null pointer: as many as any uniform binding has.
const NULL_BYTES: u64 = 1 << 16;

/// The dispatches of one pipeline.
struct Stage {
    pipeline: Arc<Pipeline>,
    parts: SmallVec<[Part; 1]>,
    output: Option<Output>,
    /// Parameters that are folded into one.
    folded: Words,
    /// What is bound in pieces.
    pieces: SplitBindings,
}

impl Stage {
    /// Whether nothing comes with its dispatches: memory of the engine's own, buffers in pieces or folded into one, what is read afterwards.
    fn is_plain(&self) -> bool {
        let Self { pipeline, output, folded, pieces, .. } = self;
        let nothing_afterwards = output.is_none() && !pipeline.watched;
        nothing_afterwards && folded.is_empty() && pieces.params.is_empty() && pipeline.scratch() == 0
    }
}

/// What launches need besides what they are given.
pub(crate) struct Launches {
    planner: Planner,
    bind_groups: BindGroups,
    again: Again,
    /// Private memory that does not fit registers, the same for all launches: they run one after the other as far as they use it.
    scratch: Option<Arc<WgpuMemory>>,
    /// Where arguments are folded into one.
    folded: Option<Arc<WgpuMemory>>,
    /// Bound where the application passed a null pointer: as uniform and as storage, which one buffer cannot be at once.
    nulls: [Option<Arc<WgpuMemory>>; 2],
    printf: Arc<Pool>,
    turns: Option<Arc<Word>>,
}

/// The program of a launch.
fn program(launch: &Launch) -> BackendResult<&WgpuProgram> {
    launch.program.as_any().downcast_ref().ok_or_else(|| BackendError::Other("a program of another backend".to_owned()))
}

impl Launches {
    pub(crate) fn new(planner: Planner) -> Self {
        Self {
            planner,
            bind_groups: BindGroups::default(),
            again: Again::default(),
            scratch: None,
            folded: None,
            nulls: [None, None],
            printf: Arc::default(),
            turns: None,
        }
    }

    /// What the keys of launches depend upon.
    pub(crate) const fn planner(&self) -> &Planner {
        &self.planner
    }

    /// That memory is gone.
    pub(crate) fn forget(&mut self, id: u64) {
        self.bind_groups.forget(id);
        self.again.forget(id);
    }

    /// Whether a launch finds its kernel made.
    pub(crate) fn is_ready(launch: &Launch) -> bool {
        program(launch).and_then(|program| program.code.kernel(&launch.kernel)).is_ok_and(|kernel| kernel.is_ready())
    }

    /// Records a launch.
    pub(crate) fn perform(&mut self, recording: &mut Recording, launch: &Launch, profile: bool) -> BackendResult<Handled> {
        let program = program(launch)?;
        let kernel = program.code.kernel(&launch.kernel)?;
        if !profile && self.repeat(recording, launch, (program, kernel))? {
            return Ok(Handled::Recorded(None));
        }
        let local_size = local_size(launch, kernel, self.planner.enough);
        let groups = group_counts(launch, local_size)?;
        if groups.contains(&0) {
            return Ok(Handled::Nothing);
        }
        let mut stages = self.stages(recording, launch, (&program.code, kernel), (local_size, groups))?;
        if launch.args.iter().any(|arg| matches!(arg, LaunchArg::Buffer(None))) {
            self.ensure_nulls()?;
        }
        self.give_outputs(recording, &mut stages)?;
        let watch = stages.iter().any(|stage| stage.pipeline.watched).then(|| self.watch(&launch.kernel)).transpose()?;
        let fold = Fold::new(launch, stages.first().map_or(&[][..], |stage| &stage.folded), &self.planner.gpu)?;
        if let Some(fold) = &fold {
            let folded = self.fold_buffer(fold.size())?;
            fold.copy_in(recording, &folded)?;
        }
        // Nothing may fail between the two: queries that are never written cannot be resolved.
        let stamp = recording.stamp(profile)?;
        for memory in stages.iter().filter_map(|stage| stage.output.as_ref()?.memory()) {
            recording.clear(memory.buffer(), COUNTER.0, COUNTER.1)?;
        }
        if let Some(word) = watch.as_ref().and_then(Watch::to_clear) {
            recording.clear(word.buffer(), 0, BYTES)?;
        }
        recording.begin_stamp(stamp.as_ref(), true)?;
        for stage in &stages {
            for part in &stage.parts {
                let dispatched = self.dispatch(recording, launch, (program, kernel), stage, (groups, *part), fold.as_ref())?;
                let is_all = stages.len() == 1 && stage.parts.len() == 1 && stage.is_plain();
                if is_all && let Some(seen) = Seen::new((program, kernel, launch), &stage.pipeline, (groups, *part), dispatched) {
                    self.again.note(seen);
                }
            }
        }
        recording.end_stamp(stamp.as_ref(), true)?;
        if let (Some(fold), Some(folded)) = (&fold, &self.folded) {
            fold.copy_out(recording, folded)?;
        }
        for (from, to) in stages.iter().filter_map(|stage| stage.output.as_ref()?.copy()) {
            recording.copy((from, 0), (to, 0), u64::from(BUFFER_SIZE))?;
        }
        if let Some((from, to)) = watch.as_ref().and_then(Watch::copy) {
            recording.copy((from, 0), (to, 0), COPIED)?;
        }
        let outputs: Vec<Output> = stages.into_iter().filter_map(|stage| stage.output).collect();
        let after = After { outputs, watches: watch.into_iter().collect(), fetches: Vec::new() };
        Ok(if after.is_empty() { Handled::Recorded(stamp) } else { Handled::Followed(stamp, Box::new(after)) })
    }

    /// Records a launch that is like one before; whether it is.
    fn repeat(&self, recording: &mut Recording, launch: &Launch, (program, kernel): (&WgpuProgram, &Kernel)) -> BackendResult<bool> {
        let Some(seen) = self.again.find(&program.code, launch) else { return Ok(false) };
        let Seen { pipeline, groups, part, group, .. } = seen;
        let mut offset = None;
        if let Some(memory) = seen.arguments {
            let bytes = argument_bytes(launch, kernel, (&pipeline.args, None), *groups, part.base)?;
            let slot = recording.place_arguments(bytes)?;
            if slot.memory.id != memory {
                return Ok(false);
            }
            offset = Some(slot.offset as u32);
        }
        recording.begin_stamp(None, true)?;
        for (place, writes) in &seen.memory {
            place.memory(launch, program)?.mark(recording.serial(), *writes);
        }
        let (id, compute) = (pipeline.id, &pipeline.compute);
        recording.dispatch(&Dispatch { id, compute, group, offset, uses: &seen.uses, groups: part.groups })?;
        Ok(true)
    }

    /// Gives each stage that prints a buffer for it.
    fn give_outputs(&self, recording: &mut Recording, stages: &mut [Stage]) -> BackendResult<()> {
        let printing = stages.iter().filter(|stage| stage.pipeline.printf.is_some()).count();
        if printing > 0 && self.printf.in_use() + printing > MOST_IN_FLIGHT {
            recording.finish_all()?;
        }
        for stage in stages {
            if let Some(table) = &stage.pipeline.printf {
                stage.output = Some(Output::new(&self.planner.gpu, &self.printf, table)?);
            }
        }
        Ok(())
    }

    fn watch(&mut self, kernel: &Arc<str>) -> BackendResult<Watch> {
        let word = match &self.turns {
            Some(word) => word,
            None => self.turns.insert(Word::new(&self.planner.gpu)?),
        };
        Watch::new(word, kernel)
    }

    /// The pipelines and dispatches of a launch: one for each size that groups have, split where there are too many groups.
    fn stages(
        &mut self,
        recording: &mut Recording,
        launch: &Launch,
        (code, kernel): (&Program<Gpu>, &Kernel),
        sizes: ([u32; 3], [u32; 3]),
    ) -> BackendResult<SmallVec<[Stage; 1]>> {
        let common = launch_key(launch, kernel, (&self.planner.gpu, sizes.0))?;
        if let Some(stage) = self.coarse_stage(recording, launch, (code, kernel), &common)? {
            return Ok(smallvec::smallvec![stage]);
        }
        let (regions, guard) = regions(launch, sizes, kernel);
        let mut stages = SmallVec::new();
        for region in regions {
            let Region { local_size, part } = region;
            let fits = |limits: [u32; 3]| part.fits(limits);
            let mut key = region_key(&common, &region, guard, self.planner.max_groups);
            let mut pipeline = pipeline(recording, code, kernel, &key)?;
            let mut limits = self.planner.max_groups;
            let scratch = pipeline.scratch();
            if scratch > 0 {
                limits = self.scratch_limits(local_size, part.groups, scratch)?;
                if key.binding.two_dimensional_dispatch || (key.binding.single_dispatch && !fits(limits)) {
                    (key.binding.single_dispatch, key.binding.two_dimensional_dispatch) = (false, false);
                    pipeline = self::pipeline(recording, code, kernel, &key)?;
                }
            }
            let parts = split_or_rows(part, limits, key.binding.two_dimensional_dispatch);
            self.reserve_scratch(pipeline.scratch(), local_size, &parts)?;
            stages.push(Stage { pipeline, parts, output: None, folded: key.binding.merged, pieces: key.binding.split });
        }
        Ok(stages)
    }

    /// The stage of a launch that is coarsened; `None` for the others.
    fn coarse_stage(
        &self,
        recording: &mut Recording,
        launch: &Launch,
        (code, kernel): (&Program<Gpu>, &Kernel),
        common: &LaunchKey,
    ) -> BackendResult<Option<Stage>> {
        if !kernel.is_ready() && self.planner.gpu.raw.is_some() {
            // The device begins with what is recorded while the shader is made.
            recording.submit();
        }
        let shape = LaunchSizes::of(launch);
        while let Some(CoarseLaunch { key, groups, most, count }) = coarse_launch(code, kernel, (&shape, common), &self.planner)? {
            let pipeline = pipeline(recording, code, kernel, &key)?;
            if pipeline.coarse == count {
                let parts = split_or_rows(groups, self.planner.max_groups, key.binding.two_dimensional_dispatch);
                return Ok(Some(Stage { pipeline, parts, output: None, folded: key.binding.merged, pieces: key.binding.split }));
            }
            kernel.correct(most, pipeline.coarse);
        }
        Ok(None)
    }

    fn dispatch(
        &mut self,
        recording: &mut Recording,
        launch: &Launch,
        (program, kernel): (&WgpuProgram, &Kernel),
        stage: &Stage,
        (groups, part): ([u32; 3], Part),
        fold: Option<&Fold>,
    ) -> BackendResult<Dispatched> {
        let Stage { pipeline, output, pieces, .. } = stage;
        let gpu = Arc::clone(&self.planner.gpu);
        let mut arguments = None;
        if pipeline.has_arguments() {
            arguments = Some(recording.place_arguments(argument_bytes(launch, kernel, (&pipeline.args, fold), groups, part.base)?)?);
        }
        let internal = InternalMemory {
            printf: output.as_ref().and_then(Output::memory),
            turns: self.turns.as_ref().map(|word| word.memory()),
            scratch: self.scratch.as_ref(),
            folded: fold.and_then(|fold| Some((fold.first, self.folded.as_ref()?))),
            nulls: self.nulls.each_ref().map(Option::as_ref),
        };
        let mut bound: SmallVec<[Bound<'_>; 8]> = SmallVec::new();
        for binding in &pipeline.bindings {
            bound.push(bind(&internal, launch, (program, kernel), binding, arguments.as_ref(), (pipeline, pieces))?);
        }
        let mut uses = Uses::new();
        let mut places = Some(SmallVec::new());
        for (Bound { buffer, memory, writes, .. }, binding) in bound.iter().zip(&pipeline.bindings) {
            if let Some(memory) = memory {
                memory.mark(recording.serial(), *writes);
                places = places.zip(Place::of(binding)).map(|(places, place)| with(places, (place, *writes)));
                // The pieces of one buffer follow each other.
                if uses.last() != Some(&buffer.used(*writes)) {
                    uses.push(buffer.used(*writes));
                }
            }
        }
        for (index, memory, writes) in reached(launch, kernel, &pipeline.args)? {
            memory.mark(recording.serial(), writes);
            uses.push(memory.buffer().used(writes));
            places = places.map(|places| with(places, (Place::Range(index), writes)));
        }
        let ranges: Ranges = bound.iter().map(|bound| bound.range).collect();
        let group = self.bind_groups.get((pipeline.id, ranges.clone()), || {
            let ranges: SmallVec<[_; 8]> = pipeline
                .bindings
                .iter()
                .zip(&bound)
                .map(|(binding, Bound { buffer, range: (_, offset, size), .. })| (binding.binding, *buffer, *offset, *size))
                .collect();
            let group = pipeline.compute.group(&gpu, &ranges)?;
            bound.iter().filter_map(|bound| bound.memory).for_each(WgpuMemory::set_bound);
            Ok(group)
        })?;
        let offset = arguments.as_ref().map(|slot| slot.offset as u32);
        let compute = &pipeline.compute;
        recording.dispatch(&Dispatch { id: pipeline.id, compute, group: &group, offset, uses: &uses, groups: part.groups })?;
        Ok(Dispatched { bound: ranges, group, arguments: arguments.as_ref().map(|slot| slot.memory.id), uses, memory: places })
    }

    /// The buffer for folded arguments, of so many bytes at least.
    fn fold_buffer(&mut self, size: u64) -> BackendResult<Arc<WgpuMemory>> {
        if let Some(folded) = self.folded.as_ref().filter(|folded| folded.allocated >= size) {
            return Ok(Arc::clone(folded));
        }
        if let Some(old) = self.folded.take() {
            self.bind_groups.forget(old.id);
        }
        Ok(Arc::clone(self.folded.insert(WgpuMemory::new(&self.planner.gpu, size, None)?)))
    }

    /// The largest numbers of groups whose work-items' scratch memory one binding holds.
    fn scratch_limits(&self, local_size: [u32; 3], groups: [u32; 3], bytes_per_item: u64) -> BackendResult<[u32; 3]> {
        let per_group = local_size.iter().map(|size| u64::from(*size)).product::<u64>() * bytes_per_item;
        let limit = self.planner.gpu.limits.max_storage_buffer_binding_size.min(self.planner.gpu.limits.max_buffer_size);
        let mut left = limit / per_group.max(1);
        if left == 0 {
            return Err(BackendError::OutOfDeviceMemory);
        }
        let mut limits = self.planner.max_groups;
        for (limit, count) in limits.iter_mut().zip(groups) {
            let taken = u64::from((*limit).min(count)).min(left).max(1);
            *limit = taken as u32;
            left /= taken;
        }
        Ok(limits)
    }

    fn reserve_scratch(&mut self, bytes_per_item: u64, local_size: [u32; 3], parts: &[Part]) -> BackendResult<()> {
        if bytes_per_item == 0 {
            return Ok(());
        }
        let items = local_size.iter().map(|size| u64::from(*size)).product::<u64>();
        let groups = parts.iter().map(|part| part.groups.iter().map(|count| u64::from(*count)).product::<u64>()).max().unwrap_or(0);
        let needed = (items * groups * bytes_per_item).max(VIEW);
        if self.scratch.as_ref().is_none_or(|scratch| scratch.allocated < needed) {
            if let Some(old) = self.scratch.take() {
                self.bind_groups.forget(old.id);
            }
            self.scratch = Some(WgpuMemory::new(&self.planner.gpu, needed, None)?);
        }
        Ok(())
    }

    fn ensure_nulls(&mut self) -> BackendResult<()> {
        for null in &mut self.nulls {
            if null.is_none() {
                *null = Some(WgpuMemory::new(&self.planner.gpu, NULL_BYTES, None)?);
            }
        }
        Ok(())
    }
}

/// The pipeline for a key. Where it has to be made, the device begins with what is recorded so far.
fn pipeline(recording: &mut Recording, code: &Program<Gpu>, kernel: &Kernel, key: &LaunchKey) -> BackendResult<Arc<Pipeline>> {
    if let Some(made) = code.made(kernel, key) {
        return made;
    }
    if recording.gpu().raw.is_some() {
        recording.submit();
    }
    code.executable(kernel, key)
}

/// A list with one more at its end.
fn with<T: smallvec::Array>(mut list: SmallVec<T>, item: T::Item) -> SmallVec<T> {
    list.push(item);
    list
}
