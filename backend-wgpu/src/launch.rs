//! Launches: the key, the bindings, the arguments, the dispatches.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, MemoryRange};
use wgcl_compiler::emit::{Binding, BindingKind, BindingSource};
use wgcl_compiler::ir::{KernelParam, Space};
use wgcl_compiler::launch::{ConstantBinding, LaunchKey, Pieces};
use wgcl_compiler::layout::{ArgLayout, hidden};
use wgcl_compiler::printf::BUFFER_SIZE;
use wgcl_runtime::Program;

use crate::batch::Dispatch;
use crate::engine::{Engine, Taking};
use crate::fold::{self, Fold};
use crate::gpu::{Buffer, Gpu};
use crate::memory::{WgpuMemory, downcast};
use crate::pieces::{self, Window};
use crate::pipeline::{Group, Pipeline};
use crate::printf::{MOST_IN_FLIGHT, Output};
use crate::program::{Kernel, WgpuProgram};
use crate::retire::After;
use crate::ring::Slot;
use crate::turns::{BYTES, Watch, Word};

/// Bytes bound where the application passed a null pointer: as many as any uniform binding has.
const NULL_BYTES: u64 = 1 << 16;
/// Bind groups kept at most.
const KEPT_GROUPS: usize = 1024;
/// Texels that a view may have.
const MOST_TEXELS: u64 = 1 << 27;
/// Storage bindings are rounded up to this: the largest element of a view.
const VIEW: u64 = 16;

/// A buffer's name, offset and size, for each binding.
type Places = SmallVec<[(u64, u64, u64); 8]>;

/// The contents of an argument buffer.
type ArgumentBytes = SmallVec<[u8; 256]>;

/// The arguments that were placed last: a kernel that is launched again and again mostly gets the same ones.
pub(crate) struct LastArguments {
    bytes: ArgumentBytes,
    slot: Slot,
    /// The ring's turn then.
    turn: u64,
}

/// Bind groups by pipeline and contents.
#[derive(Default)]
pub(crate) struct BindGroups {
    groups: FxHashMap<(u64, Places), Arc<Group>>,
}

impl BindGroups {
    /// Drops those that bind a buffer which is gone.
    pub(crate) fn forget(&mut self, id: u64) {
        self.groups.retain(|(_, places), _| places.iter().all(|place| place.0 != id));
    }
}

/// A dispatch: first group and number of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) base: [u32; 3],
    pub(crate) groups: [u32; 3],
}

impl Part {
    fn fits(&self, limits: [u32; 3]) -> bool {
        self.base == [0; 3] && self.groups.iter().zip(limits).all(|(count, limit)| *count <= limit)
    }

    /// Whether it is one dispatch, and otherwise whether it may be laid out in rows.
    pub(crate) fn shape(&self, limits: [u32; 3]) -> (bool, bool) {
        let fits = self.fits(limits);
        (fits, !fits && self.groups[1..] == [1, 1])
    }
}

/// Groups of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    local_size: [u32; 3],
    part: Part,
}

/// The dispatches of one pipeline.
pub(crate) struct Stage {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) parts: SmallVec<[Part; 1]>,
    pub(crate) output: Option<Output>,
    /// Parameters that are folded into one.
    pub(crate) folded: Vec<u32>,
    /// What is bound in pieces.
    pub(crate) pieces: Pieces,
}

/// Memory of the thread's own.
struct Own<'a> {
    printf: Option<&'a Arc<WgpuMemory>>,
    turns: Option<&'a Arc<WgpuMemory>>,
    scratch: Option<&'a Arc<WgpuMemory>>,
    /// The parameter that stands for all folded ones, and their memory.
    folded: Option<(u32, &'a Arc<WgpuMemory>)>,
    nulls: [Option<&'a Arc<WgpuMemory>>; 2],
}

/// What a launch binds.
struct Bound<'a> {
    buffer: &'a Buffer,
    /// Where it is not of a ring.
    memory: Option<&'a WgpuMemory>,
    writes: bool,
    place: (u64, u64, u64),
}

impl Engine {
    /// Records a launch.
    pub(crate) fn launch(&mut self, launch: &Launch, profile: bool) -> BackendResult<Taking> {
        let program: &WgpuProgram =
            launch.program.as_any().downcast_ref().ok_or_else(|| BackendError::Other("a program of another backend".to_owned()))?;
        let kernel = program.code.kernel(&launch.kernel)?;
        let groups = group_counts(launch)?;
        if groups.contains(&0) {
            return Ok(Taking::Nothing);
        }
        let mut stages = self.stages(launch, (&program.code, kernel), groups)?;
        if launch.args.iter().any(|arg| matches!(arg, LaunchArg::Buffer(None))) {
            self.ensure_nulls()?;
        }
        let gpu = Arc::clone(&self.gpu);
        let printing = stages.iter().filter(|stage| stage.pipeline.printf.is_some()).count();
        if printing > 0 && self.printf.in_use() + printing > MOST_IN_FLIGHT {
            self.finish_all()?;
        }
        for stage in &mut stages {
            if let Some(table) = &stage.pipeline.printf {
                stage.output = Some(Output::new(&gpu, &self.printf, table)?);
            }
        }
        let watch = stages.iter().any(|stage| stage.pipeline.watched).then(|| self.watch(&launch.kernel)).transpose()?;
        let fold = Fold::new(launch, stages.first().map_or(&[][..], |stage| &stage.folded), &gpu)?;
        if let Some(fold) = &fold {
            self.fold(fold, &gpu)?;
        }
        // Nothing may fail between the two: queries that are never written cannot be resolved.
        let stamp = self.stamp(profile)?;
        for output in stages.iter().filter_map(|stage| stage.output.as_ref()) {
            output.begin(&gpu, &mut self.batch)?;
        }
        self.batch.begin_stamp(&gpu, stamp.as_ref(), true)?;
        for stage in &stages {
            for part in &stage.parts {
                self.dispatch(launch, (program, kernel), stage, (groups, *part), fold.as_ref())?;
            }
        }
        self.batch.end_stamp(&gpu, stamp.as_ref(), true)?;
        if let Some(fold) = &fold {
            self.unfold(fold, &gpu)?;
        }
        for stage in &stages {
            if let Some((from, to)) = stage.output.as_ref().and_then(Output::copy) {
                self.batch.copy(&gpu, (from, 0), (to, 0), u64::from(BUFFER_SIZE))?;
            }
        }
        let outputs: Vec<Output> = stages.into_iter().filter_map(|stage| stage.output).collect();
        let after = After { outputs, watches: watch.into_iter().collect(), fetches: Vec::new() };
        Ok(if after.is_empty() { Taking::Recorded(stamp) } else { Taking::Followed(stamp, Box::new(after)) })
    }

    fn watch(&mut self, kernel: &Arc<str>) -> BackendResult<Watch> {
        let word = match &self.turns {
            Some(word) => word,
            None => {
                let word = Word::new(&self.gpu)?;
                if word.memory().mapping().is_none() {
                    self.batch.clear(&self.gpu, word.memory().buffer(), 0, BYTES)?;
                    // Launches that bind it do not say so.
                    self.finish_all()?;
                }
                self.turns.insert(word)
            }
        };
        Ok(Watch::new(word, kernel))
    }

    /// The pipelines and dispatches of a launch: one for each size that groups have, split where there are too many groups.
    fn stages(
        &mut self,
        launch: &Launch,
        (code, kernel): (&Program<Gpu>, &Kernel),
        groups: [u32; 3],
    ) -> BackendResult<SmallVec<[Stage; 1]>> {
        let common = launch_key(launch, kernel, &self.gpu)?;
        if let Some(stage) = self.coarse_stage(launch, (code, kernel), &common)? {
            return Ok(smallvec::smallvec![stage]);
        }
        let (regions, guard) = regions(launch, groups, kernel.group_blind());
        let mut stages = SmallVec::new();
        for region in regions {
            let Region { local_size, part } = region;
            let fits = |limits: [u32; 3]| part.fits(limits);
            let mut key = region_key(&common, &region, guard, self.planner.max_groups);
            let mut pipeline = self.pipeline(code, kernel, &key)?;
            let mut limits = self.planner.max_groups;
            let scratch = pipeline.scratch();
            if scratch > 0 {
                limits = self.scratch_limits(local_size, part.groups, scratch)?;
                if key.binding.rows || (key.binding.single_dispatch && !fits(limits)) {
                    (key.binding.single_dispatch, key.binding.rows) = (false, false);
                    pipeline = self.pipeline(code, kernel, &key)?;
                }
            }
            let parts = split_or_rows(part, limits, key.binding.rows);
            self.reserve_scratch(pipeline.scratch(), local_size, &parts)?;
            stages.push(Stage { pipeline, parts, output: None, folded: key.binding.folded, pieces: key.binding.pieces });
        }
        Ok(stages)
    }

    /// The pipeline for a key. Where it has to be made, the device begins with what is recorded so far.
    pub(crate) fn pipeline(&mut self, code: &Program<Gpu>, kernel: &Kernel, key: &LaunchKey) -> BackendResult<Arc<Pipeline>> {
        if let Some(made) = code.made(kernel, key) {
            return made;
        }
        if self.gpu.raw.is_some() {
            self.submit();
        }
        code.executable(kernel, key)
    }

    fn dispatch(
        &mut self,
        launch: &Launch,
        (program, kernel): (&WgpuProgram, &Kernel),
        stage: &Stage,
        (groups, part): ([u32; 3], Part),
        fold: Option<&Fold>,
    ) -> BackendResult<()> {
        let Stage { pipeline, output, pieces, .. } = stage;
        let gpu = Arc::clone(&self.gpu);
        let mut arguments = None;
        if pipeline.has_arguments() {
            let align = u64::from(gpu.limits.min_uniform_buffer_offset_alignment);
            let bytes = argument_bytes(launch, kernel, (&pipeline.args, fold), groups, part.base)?;
            arguments = Some(self.place_arguments(bytes, align)?);
        }
        let printf = output.as_ref().and_then(Output::memory);
        let folded = fold.and_then(|fold| Some((fold.first, self.folded.as_ref()?)));
        let turns = self.turns.as_ref().map(|word| word.memory());
        let own = Own { printf, turns, scratch: self.scratch.as_ref(), folded, nulls: self.nulls.each_ref().map(Option::as_ref) };
        let mut bound: SmallVec<[Bound<'_>; 8]> = SmallVec::new();
        for binding in &pipeline.bindings {
            bound.push(bind(&own, launch, (program, kernel), binding, arguments.as_ref(), (pipeline, pieces))?);
        }
        let mut uses: SmallVec<[_; 8]> = SmallVec::new();
        for Bound { buffer, memory, writes, .. } in &bound {
            if let Some(memory) = memory {
                memory.mark(self.serial, *writes);
                // The pieces of one buffer follow each other.
                if uses.last() != Some(&(buffer.raw, *writes)) {
                    uses.push((buffer.raw, *writes));
                }
            }
        }
        let places: Places = bound.iter().map(|bound| bound.place).collect();
        let key = (pipeline.id, places);
        let group = match self.bind_groups.groups.get(&key) {
            Some(group) => Arc::clone(group),
            None => {
                let ranges: SmallVec<[_; 8]> = pipeline
                    .bindings
                    .iter()
                    .zip(&bound)
                    .map(|(binding, Bound { buffer, place: (_, offset, size), .. })| (binding.binding, *buffer, *offset, *size))
                    .collect();
                let group = Arc::new(pipeline.compute.group(&gpu, &ranges)?);
                bound.iter().filter_map(|bound| bound.memory).for_each(WgpuMemory::set_bound);
                if self.bind_groups.groups.len() >= KEPT_GROUPS {
                    self.bind_groups.groups.clear();
                }
                self.bind_groups.groups.insert(key, Arc::clone(&group));
                group
            }
        };
        let offset = arguments.as_ref().map(|slot| slot.offset as u32);
        let compute = &pipeline.compute;
        self.batch.dispatch(&gpu, &Dispatch { id: pipeline.id, compute, group: &group, offset, uses: &uses, groups: part.groups })
    }

    /// Where the device finds arguments: where those of the last launch are, if they are the same.
    fn place_arguments(&mut self, bytes: ArgumentBytes, align: u64) -> BackendResult<Slot> {
        if let Some(last) = &self.last_arguments
            && last.turn == self.arguments.turn
            && last.bytes == bytes
        {
            self.arguments.touch(&last.slot, self.serial);
            return Ok(last.slot.clone());
        }
        let slot = self.slot(|engine| &mut engine.arguments, bytes.len() as u64, align)?;
        slot.memory.write(&self.gpu, slot.offset, &bytes)?;
        self.last_arguments = Some(LastArguments { bytes, slot: slot.clone(), turn: self.arguments.turn });
        Ok(slot)
    }

    /// The largest numbers of groups whose work-items' scratch memory one binding holds.
    fn scratch_limits(&self, local_size: [u32; 3], groups: [u32; 3], bytes_per_item: u64) -> BackendResult<[u32; 3]> {
        let per_group = local_size.iter().map(|size| u64::from(*size)).product::<u64>() * bytes_per_item;
        let limit = self.gpu.limits.max_storage_buffer_binding_size.min(self.gpu.limits.max_buffer_size);
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
            self.scratch = Some(WgpuMemory::new(&self.gpu, needed, None)?);
        }
        Ok(())
    }

    fn ensure_nulls(&mut self) -> BackendResult<()> {
        for null in &mut self.nulls {
            if null.is_none() {
                *null = Some(WgpuMemory::new(&self.gpu, NULL_BYTES, None)?);
            }
        }
        Ok(())
    }
}

/// Finds what a binding binds.
fn bind<'a>(
    own: &Own<'a>,
    launch: &'a Launch,
    (program, kernel): (&'a WgpuProgram, &Kernel),
    binding: &Binding,
    arguments: Option<&'a Slot>,
    (pipeline, pieces): (&Pipeline, &Pieces),
) -> BackendResult<Bound<'a>> {
    let missing = |what: &str| BackendError::Other(format!("the kernel has no {what} to bind"));
    let whole = |memory: &'a Arc<WgpuMemory>| match binding.kind {
        BindingKind::Uniform { size } => {
            Bound { buffer: memory.buffer(), memory: Some(memory), writes: false, place: (memory.id, 0, u64::from(size)) }
        }
        BindingKind::Storage | BindingKind::Texels(_) => {
            let writes = binding.kind == BindingKind::Storage;
            Bound { buffer: memory.buffer(), memory: Some(memory), writes, place: (memory.id, 0, memory.allocated) }
        }
    };
    match binding.source {
        BindingSource::Arguments => {
            let slot = arguments.ok_or_else(|| missing("arguments"))?;
            let size = u64::from(pipeline.args.size.max(ArgLayout::HEADER));
            Ok(Bound { buffer: &slot.memory.buffer, memory: None, writes: false, place: (slot.memory.id, 0, size) })
        }
        BindingSource::Param(index) => {
            let (index, window) = pieces::window(pieces, launch, index);
            match (launch.args.get(index as usize), bound_range(launch, index)) {
                _ if own.folded.is_some_and(|(first, _)| first == index) => {
                    own.folded.map(|(_, memory)| whole(memory)).ok_or_else(|| missing("folded buffer"))
                }
                (_, Some(range)) => {
                    let read_only = matches!(
                        kernel.params().get(index as usize),
                        Some(KernelParam::Buffer { read_only: true, .. } | KernelParam::Buffer { space: Space::Constant, .. })
                    );
                    let writes = !read_only && !matches!(binding.kind, BindingKind::Texels(_));
                    bind_range(range, window, binding.kind, writes)
                }
                (Some(LaunchArg::Buffer(None)), None) => {
                    own.nulls[usize::from(binding.kind == BindingKind::Storage)].map(whole).ok_or_else(|| missing("null buffer"))
                }
                _ => Err(missing("buffer")),
            }
        }
        BindingSource::ConstantData => program.constants.as_ref().map(whole).ok_or_else(|| missing("constant data")),
        BindingSource::GlobalVariables => program.variables.as_ref().map(whole).ok_or_else(|| missing("global variables")),
        BindingSource::Scratch { .. } => own.scratch.map(whole).ok_or_else(|| missing("scratch memory")),
        // All launches write the same there, if they do: none waits for another.
        BindingSource::Turns => {
            own.turns.map(|memory| Bound { memory: None, writes: false, ..whole(memory) }).ok_or_else(|| missing("word for stopped loops"))
        }
        BindingSource::Printf => own.printf.map(whole).ok_or_else(|| missing("printf buffer")),
    }
}

/// What is bound for a parameter: the kernel's own, and behind them those for what pointers in memory lead to.
fn bound_range(launch: &Launch, index: u32) -> Option<&MemoryRange> {
    let index = index as usize;
    match launch.args.get(index) {
        Some(arg) => fold::range(arg),
        None => launch.extra.get(index - launch.args.len()),
    }
}

/// Binds what a parameter is given, or the part of it that a window shows.
fn bind_range(range: &MemoryRange, window: Window, kind: BindingKind, writes: bool) -> BackendResult<Bound<'_>> {
    let memory = downcast(&range.memory)?;
    let (begin, most) = window.unwrap_or((0, u64::MAX));
    let offset = range.offset.saturating_add(begin);
    let left = memory.allocated.saturating_sub(offset);
    let size = match kind {
        BindingKind::Uniform { size } => u64::from(size),
        BindingKind::Storage | BindingKind::Texels(_) => {
            range.size.saturating_sub(begin).max(1).next_multiple_of(VIEW).min(left & !3).min(most)
        }
    };
    if size == 0 || size > left {
        return Err(BackendError::Other("an argument beyond the end of its buffer".to_owned()));
    }
    Ok(Bound { buffer: memory.buffer(), memory: Some(memory), writes, place: (memory.id, offset, size) })
}

/// Groups in each dimension.
pub(crate) fn group_counts(launch: &Launch) -> BackendResult<[u32; 3]> {
    let mut counts = [1; 3];
    for ((count, global), local) in counts.iter_mut().zip(launch.global_size).zip(launch.local_size) {
        if local == 0 {
            return Err(BackendError::Other("a local size of zero".to_owned()));
        }
        *count = u32::try_from(global)
            .map(|global| global.div_ceil(local))
            .map_err(|_| BackendError::Other("a global size of 2^32 or more".to_owned()))?;
    }
    Ok(counts)
}

/// The groups of a launch by their size (there are up to eight), and the dimensions in which the last ones reach beyond the NDRange: those of a kernel that
/// does not see its groups, which needs no pipelines for smaller ones.
pub(crate) fn regions(launch: &Launch, groups: [u32; 3], group_blind: bool) -> (SmallVec<[Region; 1]>, [bool; 3]) {
    // Below 2^32, as the local size is.
    let rest: [u32; 3] = std::array::from_fn(|d| (launch.global_size[d] % u64::from(launch.local_size[d])) as u32);
    let whole = Region { local_size: launch.local_size, part: Part { base: [0; 3], groups } };
    if group_blind {
        return (smallvec::smallvec![whole], rest.map(|rest| rest != 0));
    }
    let mut regions: SmallVec<[Region; 1]> = smallvec::smallvec![whole];
    for d in (0..3).filter(|&d| rest[d] != 0) {
        for index in 0..regions.len() {
            let mut edge = regions[index];
            edge.local_size[d] = rest[d];
            edge.part.base[d] = groups[d] - 1;
            edge.part.groups[d] = 1;
            regions[index].part.groups[d] -= 1;
            regions.push(edge);
        }
    }
    regions.retain(|region| !region.part.groups.contains(&0));
    (regions, [false; 3])
}

/// The dispatches of some groups.
pub(crate) fn split_or_rows(part: Part, limits: [u32; 3], rows: bool) -> SmallVec<[Part; 1]> {
    if rows { in_rows(part, limits) } else { split(part, limits) }
}

/// The key of the groups of a region.
pub(crate) fn region_key(common: &LaunchKey, region: &Region, guard: [bool; 3], max_groups: [u32; 3]) -> LaunchKey {
    let mut key = common.clone();
    (key.kernel.local_size, key.kernel.guard) = (region.local_size, guard);
    (key.binding.single_dispatch, key.binding.rows) = region.part.shape(max_groups);
    key
}

/// Cuts groups into dispatches of at most `limits`.
fn split(Part { base: first, groups }: Part, limits: [u32; 3]) -> SmallVec<[Part; 1]> {
    let mut parts = SmallVec::new();
    let steps = |dimension: usize| (0..groups[dimension]).step_by(limits[dimension].max(1) as usize);
    for z in steps(2) {
        for y in steps(1) {
            for x in steps(0) {
                let before = [x, y, z];
                let (mut base, mut size) = ([0; 3], [0; 3]);
                for d in 0..3 {
                    base[d] = first[d] + before[d];
                    size[d] = (groups[d] - before[d]).min(limits[d].max(1));
                }
                parts.push(Part { base, groups: size });
            }
        }
    }
    parts
}

/// Arranges the groups of one dimension in rows of at most `limits[0]`: one dispatch where they divide evenly, else two. Every dispatch more would wait for
/// the one before to drain, which takes an H100 11 us.
fn in_rows(Part { base, groups }: Part, limits: [u32; 3]) -> SmallVec<[Part; 1]> {
    let (count, longest) = (groups[0], limits[0].max(1));
    let fewest = count.div_ceil(longest);
    let even = (fewest..=limits[1].min(fewest.saturating_mul(4))).find(|rows| count.is_multiple_of(*rows));
    let (length, rows) = even.map_or((longest, (count / longest).min(limits[1])), |rows| (count / rows, rows));
    let covered = length * rows;
    let mut parts: SmallVec<[Part; 1]> = smallvec::smallvec![Part { base, groups: [length, rows, 1] }];
    if covered < count {
        let rest = Part { base: [base[0] + covered, base[1], base[2]], groups: [count - covered, 1, 1] };
        parts.extend(if rest.groups[0] > longest { in_rows(rest, limits) } else { smallvec::smallvec![rest] });
    }
    parts
}

/// The key of a launch, but for what tells its dispatches apart.
pub(crate) fn launch_key(launch: &Launch, kernel: &Kernel, gpu: &Gpu) -> BackendResult<LaunchKey> {
    if kernel.params().len() != launch.args.len() {
        return Err(BackendError::Other("a launch with the wrong number of arguments".to_owned()));
    }
    let mut key = LaunchKey::default();
    key.kernel.local_size = launch.local_size;
    key.kernel.enqueued_local_size = launch.local_size;
    key.kernel.zero_offset = launch.global_offset == [0; 3];
    key.binding.extra_buffers = u32::try_from(launch.extra.len()).unwrap_or(u32::MAX);
    for (index, (param, arg)) in (0..).zip(kernel.params().iter().zip(&launch.args)) {
        match arg {
            LaunchArg::Buffer(None) => key.kernel.null_args.push(index),
            LaunchArg::Buffer(Some(range)) if range.start != 0 => key.binding.started_args.push(index),
            _ => {}
        }
        match (param, arg) {
            (KernelParam::Local { .. }, LaunchArg::Local(bytes)) => key.kernel.local_args.push(*bytes),
            (KernelParam::Buffer { space: Space::Constant, .. }, LaunchArg::Buffer(range)) => {
                key.binding.constant_args.push(match range {
                    Some(range) => constant_binding(launch, kernel, gpu, range)?,
                    None => ConstantBinding::Uniform(256),
                });
            }
            (KernelParam::Image, LaunchArg::Image(_, image)) => key.kernel.images.push(image.format),
            (KernelParam::Sampler, LaunchArg::Value(value)) => key.kernel.samplers.push(sampler_word(value)?),
            (KernelParam::Buffer { .. }, LaunchArg::Buffer(_)) | (KernelParam::Value | KernelParam::Bytes { .. }, LaunchArg::Value(_)) => {}
            _ => return Err(BackendError::Other("an argument of the wrong kind".to_owned())),
        }
    }
    key.binding.pieces = pieces::find(launch, kernel.params(), &key.binding.constant_args, gpu)?;
    key.binding.folded = fold::folded(launch, kernel.params(), &key.binding.pieces, gpu);
    key.binding.distinct = key.binding.folded.is_empty() && key.binding.pieces.params.is_empty() && are_distinct(launch)?;
    if gpu.approach.texels {
        key.binding.texel_args = texel_args(launch, kernel, &key)?;
    }
    Ok(key)
}

/// Whether no bytes are bound twice.
fn are_distinct(launch: &Launch) -> BackendResult<bool> {
    let mut bound: SmallVec<[(u64, u64, u64); 8]> = SmallVec::new();
    for range in launch.args.iter().filter_map(fold::range).chain(&launch.extra) {
        bound.push((downcast(&range.memory)?.id, range.offset, range.offset.saturating_add(range.size)));
    }
    bound.sort_unstable();
    // Of two that meet, the first also meets the one behind it.
    Ok(bound.windows(2).all(|pair| matches!(pair, [(id, _, end), (other, begin, _)] if id != other || begin >= end)))
}

/// The parameters whose memory no other parameter writes, as far as their types say, and that may be bound as texels.
fn texel_args(launch: &Launch, kernel: &Kernel, key: &LaunchKey) -> BackendResult<Vec<u32>> {
    let constant = |index: usize| {
        matches!(
            kernel.params().get(index),
            Some(KernelParam::Buffer { read_only: true, .. } | KernelParam::Buffer { space: Space::Constant, .. })
        )
    };
    // Identities of what is bound; what pointers in memory lead to may be written.
    let mut bound: SmallVec<[(u64, bool); 8]> = SmallVec::new();
    for (index, arg) in launch.args.iter().enumerate() {
        if let Some(range) = fold::range(arg) {
            bound.push((downcast(&range.memory)?.id, constant(index)));
        }
    }
    for range in &launch.extra {
        bound.push((downcast(&range.memory)?.id, false));
    }
    bound.sort_unstable();
    let mut found = Vec::new();
    for (index, arg) in (0..).zip(&launch.args) {
        let Some(range) = fold::range(arg) else { continue };
        let id = downcast(&range.memory)?.id;
        // All that is bound of this memory.
        let parts = bound.partition_point(|(other, _)| *other < id)..bound.partition_point(|(other, _)| *other <= id);
        let alone = bound.get(parts).is_some_and(|parts| parts.len() == 1 || parts.iter().all(|(_, constant)| *constant));
        let fits = range.offset.is_multiple_of(VIEW) && range.size <= MOST_TEXELS - VIEW;
        let otherwise = key.binding.folded.contains(&index) || key.binding.pieces.params.iter().any(|(param, _)| *param == index);
        if alone && fits && !otherwise {
            found.push(index);
        }
    }
    Ok(found)
}

/// The value of a sampler.
fn sampler_word(bytes: &[u8]) -> BackendResult<u32> {
    bytes.try_into().map(u32::from_le_bytes).map_err(|_| BackendError::Other("a sampler that is no word".to_owned()))
}

/// A uniform binding if the buffer is small enough, has room for the power of two, and is not bound as storage in the same launch: wgpu
/// allows no buffer to be both.
fn constant_binding(launch: &Launch, kernel: &Kernel, gpu: &Gpu, range: &MemoryRange) -> BackendResult<ConstantBinding> {
    let memory = downcast(&range.memory)?;
    let size = range.size.max(1).next_power_of_two().max(256);
    let fits = size <= gpu.limits.max_uniform_buffer_binding_size.min(1 << 16)
        && size <= memory.allocated.saturating_sub(range.offset)
        && range.offset.is_multiple_of(u64::from(gpu.limits.min_uniform_buffer_offset_alignment));
    // Constant arguments on the same memory must agree too: all of them uniform, or all storage.
    let mut shared = false;
    for (param, arg) in kernel.params().iter().zip(&launch.args) {
        let LaunchArg::Buffer(Some(other)) = arg else { continue };
        let theirs = downcast(&other.memory)?;
        if theirs.id == memory.id {
            let constant = matches!(param, KernelParam::Buffer { space: Space::Constant, .. });
            shared |= !constant || other.offset != range.offset || other.size != range.size;
        }
    }
    for other in &launch.extra {
        shared |= downcast(&other.memory)?.id == memory.id;
    }
    Ok(if fits && !shared { ConstantBinding::Uniform(size as u32) } else { ConstantBinding::Storage })
}

/// The contents of the argument buffer.
fn argument_bytes(
    launch: &Launch,
    kernel: &Kernel,
    (layout, fold): (&ArgLayout, Option<&Fold>),
    groups: [u32; 3],
    base: [u32; 3],
) -> BackendResult<ArgumentBytes> {
    let mut bytes: ArgumentBytes = smallvec::smallvec![0; layout.size.max(ArgLayout::HEADER) as usize];
    let mut put = |at: u32, data: &[u8]| -> BackendResult<()> {
        let start = at as usize;
        bytes
            .get_mut(start..start + data.len())
            .ok_or_else(|| BackendError::Other("an argument beyond the argument buffer".to_owned()))?
            .copy_from_slice(data);
        Ok(())
    };
    for d in 0..3 {
        let word = 4 * d as u32;
        put(hidden::GLOBAL_OFFSET + word, &(launch.global_offset[d] as u32).to_le_bytes())?;
        put(hidden::GLOBAL_SIZE + word, &(launch.global_size[d] as u32).to_le_bytes())?;
        put(hidden::NUM_GROUPS + word, &groups[d].to_le_bytes())?;
        put(hidden::GROUP_BASE + word, &base[d].to_le_bytes())?;
    }
    put(hidden::WORK_DIM, &launch.work_dim.to_le_bytes())?;
    for ((place, arg), _) in layout.values.iter().zip(&launch.args).zip(kernel.params()) {
        if let (Some((at, size)), LaunchArg::Value(value)) = (place, arg) {
            let used = value.len().min(*size as usize);
            put(*at, &value[..used])?;
        }
    }
    if let Some(fold) = fold {
        for (index, place) in layout.folds.iter().enumerate() {
            if let Some(at) = place {
                put(*at, &fold.place(index).to_le_bytes())?;
            }
        }
    }
    for (place, arg) in layout.images.iter().zip(&launch.args) {
        if let (Some(at), LaunchArg::Image(_, image)) = (place, arg) {
            for (word, value) in (0..).zip(image.words()) {
                put(at + 4 * word, &value.to_le_bytes())?;
            }
        }
    }
    for (index, place) in (0..).zip(&layout.identities) {
        if let (Some(at), Some(range)) = (place, bound_range(launch, index)) {
            let narrow = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
            for (word, value) in (0..).zip([range.identity, narrow(range.offset), narrow(range.size), narrow(range.start)]) {
                put(at + 4 * word, &value.to_le_bytes())?;
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::sync::Arc;

    use wgcl_api::backend::{BackendResult, KernelUsage, Launch, LoadedProgram};

    use super::{Part, Region, group_counts, in_rows, regions, split};

    #[derive(Debug)]
    struct NoProgram;

    impl LoadedProgram for NoProgram {
        fn warm(&self, _: &str, _: [u32; 3]) {}

        fn kernel_usage(&self, _: &str) -> BackendResult<KernelUsage> {
            Ok(KernelUsage::default())
        }

        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    fn launch(global_size: [u64; 3], local_size: [u32; 3]) -> Launch {
        let program = Arc::new(NoProgram);
        Launch {
            program,
            kernel: "".into(),
            args: Vec::new(),
            extra: Vec::new(),
            work_dim: 3,
            global_offset: [0; 3],
            global_size,
            local_size,
        }
    }

    #[test]
    fn a_range_within_the_limits_is_one_dispatch() {
        let part = Part { base: [0; 3], groups: [5, 1, 1] };
        assert_eq!(split(part, [65535; 3]).as_slice(), [part]);
    }

    #[test]
    fn rows_hold_every_group_once() {
        for count in [70_000, 131_072, 65_536, 99_991, 10_000_019, 4_000_000_007] {
            let parts = in_rows(Part { base: [3, 0, 0], groups: [count, 1, 1] }, [65_535; 3]);
            let mut next = 3;
            for part in &parts {
                assert_eq!(part.base, [next, 0, 0]);
                assert!(part.groups.iter().all(|n| (1..=65_535).contains(n)));
                next += part.groups[0] * part.groups[1];
            }
            assert_eq!(next.wrapping_sub(3), count);
            assert!(parts.len() <= 3, "{count}: {parts:?}");
        }
    }

    #[test]
    fn a_larger_range_is_covered_once() {
        let mut seen = vec![0; 9 * 5 * 2];
        for part in split(Part { base: [2, 0, 0], groups: [7, 5, 2] }, [3, 2, 1]) {
            for z in 0..part.groups[2] {
                for y in 0..part.groups[1] {
                    for x in 0..part.groups[0] {
                        let [bx, by, bz] = part.base;
                        seen[((bz + z) * 45 + (by + y) * 9 + bx + x) as usize] += 1;
                    }
                }
            }
        }
        assert!(seen.iter().enumerate().all(|(index, count)| *count == i32::from(index % 9 >= 2)), "{seen:?}");
    }

    #[test]
    fn groups_at_the_edges_are_regions_of_their_own() {
        for (global, local, count) in [
            ([64, 1, 1], [16, 1, 1], 1),
            ([65, 1, 1], [16, 1, 1], 2),
            ([5, 1, 1], [16, 1, 1], 1),
            ([10, 7, 1], [4, 2, 1], 4),
            ([10, 7, 9], [4, 2, 5], 8),
            ([3, 7, 9], [4, 2, 5], 4),
        ] {
            let launch = launch(global, local);
            let groups = group_counts(&launch).unwrap_or_default();
            let (regions, guard) = regions(&launch, groups, false);
            assert_eq!((regions.len(), guard), (count, [false; 3]), "{global:?} {local:?}");
            let items = |region: &Region| (0..3).map(|d| u64::from(region.local_size[d] * region.part.groups[d])).product::<u64>();
            assert_eq!(regions.iter().map(items).sum::<u64>(), global.iter().product::<u64>());
            let (whole, guard) = super::regions(&launch, groups, true);
            assert_eq!((whole.len(), whole[0].part.groups), (1, groups));
            assert_eq!(guard, [0, 1, 2].map(|d| global[d] % u64::from(local[d]) != 0));
        }
    }
}
