//! Fills command buffers of Vulkan's and submits them.
//!
//! What a batch begins with is not recorded at once but noted as [`Step`]s. A batch that stays small and is made of the same steps as one before it is that
//! batch's command buffer, submitted once more: programs launch the same kernel again and again, and recording takes an H100's driver longer than
//! submitting. Other batches are recorded step by step.

use std::collections::VecDeque;
use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult};

use crate::buffer::{Buffer, Use};
use crate::launch::pipeline::{Compute, Group};
use crate::vulkan::queue::{Queries, RESET, Raw, error};
use crate::vulkan::semaphores::Semaphore;

/// Buffers remembered between two barriers.
const REMEMBERED: usize = 24;
/// Steps that are noted before any is recorded: some launches.
const NOTED: usize = 24;
/// Command buffers that may be submitted once more.
const TEMPLATES: usize = 4;

/// Where commands work, ...
const STAGES: vk::PipelineStageFlags =
    vk::PipelineStageFlags::from_raw(vk::PipelineStageFlags::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags::TRANSFER.as_raw());
/// ... and how they write ...
const WRITES: vk::AccessFlags =
    vk::AccessFlags::from_raw(vk::AccessFlags::SHADER_WRITE.as_raw() | vk::AccessFlags::TRANSFER_WRITE.as_raw());
/// ... and read.
const READS: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::SHADER_READ.as_raw() | vk::AccessFlags::TRANSFER_READ.as_raw() | vk::AccessFlags::UNIFORM_READ.as_raw(),
);

/// What a command buffer refers to.
#[derive(Default)]
struct Kept {
    computes: Vec<Arc<Compute>>,
    groups: Vec<Arc<Group>>,
}

impl Kept {
    fn clear(&mut self) {
        self.computes.clear();
        self.groups.clear();
    }
}

/// A byte of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    buffer: vk::Buffer,
    /// Tells the buffer from those that had its handle before.
    id: u64,
    at: u64,
    seen: bool,
}

impl Location {
    pub(crate) const fn new(buffer: &Buffer, at: u64) -> Self {
        Self { buffer: buffer.raw, id: buffer.id, at, seen: buffer.seen }
    }

    const fn used(&self, writes: bool) -> Use {
        Use { buffer: self.buffer, writes, seen: self.seen }
    }
}

/// A command of Vulkan's. Equal ones do the same: what their handles stand for is kept with a command buffer, or there is a number with the handle that nothing
/// else ever has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// What commands of these stages wrote in these ways is seen by those of the others.
    Barrier {
        from: vk::PipelineStageFlags,
        wrote: vk::AccessFlags,
        to: vk::PipelineStageFlags,
        sees: vk::AccessFlags,
    },
    Pipeline(vk::Pipeline),
    Set {
        layout: vk::PipelineLayout,
        set: vk::DescriptorSet,
        offset: Option<u32>,
    },
    Dispatch([u32; 3]),
    Copy {
        from: Location,
        to: Location,
        size: u64,
    },
    Fill {
        to: Location,
        size: u64,
        word: u32,
    },
    /// The first of the queries that are made free.
    Reset {
        pool: vk::QueryPool,
        id: u64,
        query: u32,
    },
    Stamp {
        pool: vk::QueryPool,
        id: u64,
        query: u32,
    },
}

/// The device's ticks now, as a submission of its own sees them. Only while nothing else is submitted.
pub(crate) fn probe(raw: &Arc<Raw>) -> BackendResult<u64> {
    let mut recorder = Recorder::new(raw)?;
    let queries = Queries::new(raw, 1)?;
    recorder.stamp(&queries, 0)?;
    recorder.submit_apart()?;
    Ok(queries.values(1)?.first().copied().unwrap_or(0))
}

/// A command buffer that may be submitted once more.
struct Template {
    steps: Vec<Step>,
    buffer: vk::CommandBuffer,
    /// Holds the pipelines and sets in `steps`, so that no others have their handles.
    kept: Kept,
    /// The last submission.
    number: u64,
}

/// The batch that is being made.
enum State {
    Empty,
    /// Its steps are noted.
    Noted,
    /// It is recorded.
    Open(vk::CommandBuffer),
}

/// Fills command buffers and submits them.
pub(crate) struct Recorder {
    raw: Arc<Raw>,
    pool: vk::CommandPool,
    free: Vec<vk::CommandBuffer>,
    /// Submitted, by number.
    flying: VecDeque<(u64, vk::CommandBuffer, Kept)>,
    /// The one submitted last at the end.
    templates: VecDeque<Template>,
    state: State,
    noted: Vec<Step>,
    /// The steps of the last batch that was noted to its end.
    last: Vec<Step>,
    kept: Kept,
    /// Without contents, to be filled again.
    spare: Vec<Kept>,
    /// What submissions wait for and signal, by their numbers.
    semaphores: Vec<(u64, Vec<Arc<Semaphore>>)>,
    pipeline: vk::Pipeline,
    bound: (vk::DescriptorSet, Option<u32>),
    /// Buffers used since the last barrier, and whether they were written.
    touched: SmallVec<[Use; REMEMBERED]>,
    /// Whether the batch writes what the host sees.
    shows: bool,
}

// SAFETY: Vulkan's handles may be used by any thread; one at a time does so, with `&mut`.
unsafe impl Send for Recorder {}

impl Recorder {
    pub(crate) fn new(raw: &Arc<Raw>) -> BackendResult<Self> {
        let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER | vk::CommandPoolCreateFlags::TRANSIENT;
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(raw.family).flags(flags);
        // SAFETY: the device lives as long as `raw`.
        let pool = unsafe { raw.device.create_command_pool(&info, None) }.map_err(error)?;
        Ok(Self {
            raw: Arc::clone(raw),
            pool,
            free: Vec::new(),
            flying: VecDeque::new(),
            templates: VecDeque::new(),
            state: State::Empty,
            noted: Vec::new(),
            last: Vec::new(),
            kept: Kept::default(),
            spare: Vec::new(),
            semaphores: Vec::new(),
            pipeline: vk::Pipeline::null(),
            bound: (vk::DescriptorSet::null(), None),
            touched: SmallVec::new(),
            shows: false,
        })
    }

    /// Whether nothing was recorded.
    pub(crate) const fn is_empty(&self) -> bool {
        matches!(self.state, State::Empty)
    }

    /// Begins a batch if none has begun.
    fn begin(&mut self) -> BackendResult<()> {
        if !self.is_empty() {
            return Ok(());
        }
        let completed = self.raw.completed()?;
        while self.flying.front().is_some_and(|(number, ..)| *number <= completed) {
            if let Some((_, buffer, kept)) = self.flying.pop_front() {
                self.free.push(buffer);
                self.recycle(kept);
            }
        }
        self.state = State::Noted;
        self.pipeline = vk::Pipeline::null();
        self.bound = (vk::DescriptorSet::null(), None);
        if self.flying.is_empty() && self.templates.iter().all(|template| template.number <= completed) {
            // What earlier submissions wrote is available, for they are complete. It has still to be made visible, without waiting for anything.
            self.touched.clear();
            let from = vk::PipelineStageFlags::TOP_OF_PIPE;
            self.put(Step::Barrier { from, wrote: vk::AccessFlags::empty(), to: STAGES, sees: READS | WRITES })
        } else {
            self.barrier()
        }
    }

    fn recycle(&mut self, mut kept: Kept) {
        kept.clear();
        if self.spare.len() < TEMPLATES {
            self.spare.push(kept);
        }
    }

    /// Notes or records a step of a batch that has begun.
    fn put(&mut self, step: Step) -> BackendResult<()> {
        if let State::Noted = self.state {
            if self.noted.len() < NOTED {
                self.noted.push(step);
                return Ok(());
            }
            let buffer = self.open(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
            self.play_noted(buffer);
            self.noted.clear();
            self.state = State::Open(buffer);
        }
        if let State::Open(buffer) = self.state {
            self.play(buffer, &step);
        }
        Ok(())
    }

    /// A command buffer that is being recorded.
    fn open(&mut self, flags: vk::CommandBufferUsageFlags) -> BackendResult<vk::CommandBuffer> {
        let buffer = match self.free.pop() {
            Some(free) => free,
            None => {
                let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
                // SAFETY: only this recorder uses its pool.
                let made = unsafe { self.raw.device.allocate_command_buffers(&info) }.map_err(error)?;
                made.first().copied().unwrap_or_default()
            }
        };
        // SAFETY: the buffer is new, or its submission is complete.
        if let Err(result) = unsafe { self.raw.device.begin_command_buffer(buffer, &vk::CommandBufferBeginInfo::default().flags(flags)) } {
            self.free.push(buffer);
            return Err(error(result));
        }
        Ok(buffer)
    }

    fn play_noted(&self, buffer: vk::CommandBuffer) {
        self.noted.iter().for_each(|step| self.play(buffer, step));
    }

    /// Records a step. Who puts one sees to it that what it refers to is there and fits.
    fn play(&self, buffer: vk::CommandBuffer, step: &Step) {
        let device = &self.raw.device;
        // SAFETY: the buffer is being recorded; the batch keeps pipelines and sets, and callers vouch for ranges, offsets and queries.
        unsafe {
            match *step {
                Step::Barrier { from, wrote, to, sees } => {
                    let barrier = vk::MemoryBarrier::default().src_access_mask(wrote).dst_access_mask(sees);
                    device.cmd_pipeline_barrier(buffer, from, to, vk::DependencyFlags::empty(), &[barrier], &[], &[]);
                }
                Step::Pipeline(pipeline) => device.cmd_bind_pipeline(buffer, vk::PipelineBindPoint::COMPUTE, pipeline),
                Step::Set { layout, set, offset } => {
                    device.cmd_bind_descriptor_sets(buffer, vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], offset.as_slice());
                }
                Step::Dispatch([x, y, z]) => device.cmd_dispatch(buffer, x, y, z),
                Step::Copy { from, to, size } => {
                    let region = vk::BufferCopy { src_offset: from.at, dst_offset: to.at, size };
                    device.cmd_copy_buffer(buffer, from.buffer, to.buffer, &[region]);
                }
                Step::Fill { to, size, word } => device.cmd_fill_buffer(buffer, to.buffer, to.at, size, word),
                Step::Reset { pool, query, .. } => device.cmd_reset_query_pool(buffer, pool, query, RESET),
                Step::Stamp { pool, query, .. } => {
                    device.cmd_write_timestamp(buffer, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, query);
                }
            }
        }
    }

    /// What comes before is seen by what comes after.
    fn barrier(&mut self) -> BackendResult<()> {
        self.touched.clear();
        self.put(Step::Barrier { from: STAGES, wrote: WRITES, to: STAGES, sees: READS | WRITES })
    }

    /// Separates a command that uses these buffers (and writes them or not) from those before it, if it must be.
    fn order(&mut self, uses: &[Use]) -> BackendResult<()> {
        let meets = |used: &Use| self.touched.iter().any(|other| other.buffer == used.buffer && (used.writes || other.writes));
        if self.touched.len() + uses.len() > REMEMBERED || uses.iter().any(meets) {
            self.barrier()?;
        }
        self.touched.extend_from_slice(uses);
        self.shows |= uses.iter().any(|used| used.writes && used.seen);
        Ok(())
    }

    /// Separates all commands so far from all that follow.
    pub(crate) fn separate(&mut self) -> BackendResult<()> {
        self.begin()?;
        if self.touched.is_empty() { Ok(()) } else { self.barrier() }
    }

    /// Runs a pipeline. `uses` are the buffers that it uses.
    ///
    /// # Safety
    /// The set is of the pipeline; `offset` is there if it has arguments, and lies inside their buffer.
    pub(crate) unsafe fn dispatch(
        &mut self,
        compute: &Arc<Compute>,
        group: &Arc<Group>,
        offset: Option<u32>,
        uses: &[Use],
        groups: [u32; 3],
    ) -> BackendResult<()> {
        let (Compute::Raw(pipeline), Group::Raw(set)) = (&**compute, &**group) else {
            return Err(BackendError::Other("a pipeline of wgpu's".to_owned()));
        };
        let (pipeline, layout, set) = (pipeline.handle(), pipeline.layout(), set.handle());
        self.begin()?;
        self.order(uses)?;
        if self.pipeline != pipeline {
            self.kept.computes.push(Arc::clone(compute));
            (self.pipeline, self.bound) = (pipeline, (vk::DescriptorSet::null(), None));
            self.put(Step::Pipeline(pipeline))?;
        }
        if self.bound != (set, offset) {
            if self.bound.0 != set {
                self.kept.groups.push(Arc::clone(group));
            }
            self.bound = (set, offset);
            self.put(Step::Set { layout, set, offset })?;
        }
        self.put(Step::Dispatch(groups))
    }

    /// Copies bytes between two places that do not overlap.
    ///
    /// # Safety
    /// The ranges lie inside the buffers.
    pub(crate) unsafe fn copy(&mut self, from: Location, to: Location, size: u64) -> BackendResult<()> {
        self.begin()?;
        self.order(&[from.used(false), to.used(true)])?;
        self.put(Step::Copy { from, to, size })
    }

    /// Repeats a word. The place and `size` are multiples of 4.
    ///
    /// # Safety
    /// The range lies inside the buffer.
    pub(crate) unsafe fn fill(&mut self, to: Location, size: u64, word: u32) -> BackendResult<()> {
        self.begin()?;
        self.order(&[to.used(true)])?;
        self.put(Step::Fill { to, size, word })
    }

    /// Writes a timestamp when all commands so far are done. A submission writes the queries of a set in their order.
    pub(crate) fn stamp(&mut self, queries: &Queries, query: u32) -> BackendResult<()> {
        self.begin()?;
        if query.is_multiple_of(RESET) {
            if self.raw.query_reset {
                // SAFETY: the pool has a multiple of that many queries, none of them in use by another submission.
                unsafe { self.raw.device.reset_query_pool(queries.pool, query, RESET) };
            } else {
                self.put(Step::Reset { pool: queries.pool, id: queries.id, query })?;
            }
        }
        self.put(Step::Stamp { pool: queries.pool, id: queries.id, query })
    }

    /// Ends the batch: a command buffer with its steps, and what it refers to. `None` where there was none.
    fn end(&mut self) -> BackendResult<Option<(vk::CommandBuffer, Ended)>> {
        let buffer = match std::mem::replace(&mut self.state, State::Empty) {
            State::Empty => return Ok(None),
            State::Open(buffer) => (buffer, Ended::Once),
            State::Noted => {
                let found = self.templates.iter().position(|template| template.steps == self.noted);
                let free = |template: &Template| self.raw.completed().map(|completed| template.number <= completed);
                if let Some(template) = found.and_then(|index| self.templates.remove(index)) {
                    if free(&template)? {
                        self.noted.clear();
                        return Ok(Some((template.buffer, Ended::Again(template))));
                    }
                    self.templates.push_back(template);
                }
                let again = found.is_none() && self.noted == self.last;
                let flags = if again { vk::CommandBufferUsageFlags::empty() } else { vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT };
                let buffer = self.open(flags)?;
                self.play_noted(buffer);
                std::mem::swap(&mut self.last, &mut self.noted);
                self.noted.clear();
                if again {
                    let template = Template { steps: self.last.clone(), buffer, kept: std::mem::take(&mut self.kept), number: 0 };
                    (buffer, Ended::Again(template))
                } else {
                    (buffer, Ended::Once)
                }
            }
        };
        // SAFETY: the buffer is being recorded.
        unsafe { self.raw.device.end_command_buffer(buffer.0) }.map_err(error)?;
        Ok(Some(buffer))
    }

    /// Submits what was recorded under a number, larger than those before; `false` where there was nothing.
    pub(crate) fn submit(&mut self, number: u64) -> BackendResult<bool> {
        if self.is_empty() {
            return Ok(false);
        }
        // The host sees what was written. (Where it does not look, the barrier would take an H100 2 us of the 19 that a launch takes that is waited for.)
        if std::mem::take(&mut self.shows) {
            self.put(Step::Barrier { from: STAGES, wrote: WRITES, to: vk::PipelineStageFlags::HOST, sees: vk::AccessFlags::HOST_READ })?;
        }
        let Some((buffer, ended)) = self.end()? else { return Ok(false) };
        let (buffers, signals, values) = ([buffer], [self.raw.timeline], [number]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info = vk::SubmitInfo::default().command_buffers(&buffers).signal_semaphores(&signals).push_next(&mut timeline);
        // SAFETY: the buffer was recorded here and is in use by no other submission. Nobody else submits to the queue.
        // What a failed submission leaves is used again by nobody, and freed with the pool.
        unsafe { self.raw.device.queue_submit(self.raw.queue, &[info], vk::Fence::null()) }.map_err(error)?;
        let kept = std::mem::replace(&mut self.kept, self.spare.pop().unwrap_or_default());
        match ended {
            Ended::Once => self.flying.push_back((number, buffer, kept)),
            Ended::Again(template) => {
                self.recycle(kept);
                self.templates.push_back(Template { number, ..template });
                self.forget_templates(number);
            }
        }
        Ok(true)
    }

    /// Submits nothing but waits for semaphores and signals of some under a number, larger than those before.
    pub(crate) fn take_turns(&mut self, number: u64, waits: &[Arc<Semaphore>], signals: &[Arc<Semaphore>]) -> BackendResult<()> {
        let completed = self.raw.completed()?;
        self.semaphores.retain(|(other, _)| *other > completed);
        let waited: Vec<_> = waits.iter().map(|semaphore| semaphore.handle()).collect();
        let signalled: Vec<_> = [self.raw.timeline].into_iter().chain(signals.iter().map(|semaphore| semaphore.handle())).collect();
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waited.len()];
        // Those of binary semaphores mean nothing.
        let (before, mut after) = (vec![0; waited.len()], vec![0; signalled.len()]);
        after[0] = number;
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&before).signal_semaphore_values(&after);
        let info = vk::SubmitInfo::default()
            .wait_semaphores(&waited)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signalled)
            .push_next(&mut timeline);
        // SAFETY: the semaphores are this device's, and live until the submission is complete. Nobody else submits to the queue. That each wait has its signal, and each signal its
        // wait, is the application's matter.
        unsafe { self.raw.device.queue_submit(self.raw.queue, &[info], vk::Fence::null()) }.map_err(error)?;
        signals.iter().for_each(|semaphore| semaphore.was_signalled());
        self.semaphores.push((number, waits.iter().chain(signals).cloned().collect()));
        Ok(())
    }

    /// Keeps no more templates than a few. One that still runs goes the way of all submissions.
    fn forget_templates(&mut self, last: u64) {
        while self.templates.len() > TEMPLATES {
            let Some(Template { buffer, kept, number, .. }) = self.templates.pop_front() else { return };
            let at = self.flying.partition_point(|(other, ..)| *other < number.min(last));
            self.flying.insert(at, (number, buffer, kept));
        }
    }

    /// Submits what was recorded, outside of the numbers, and waits for it.
    pub(crate) fn submit_apart(&mut self) -> BackendResult<()> {
        let Some((buffer, _)) = self.end()? else { return Ok(()) };
        let (device, buffers) = (&self.raw.device, [buffer]);
        let info = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: as in `submit`; the fence outlives its submission, unless the device is lost.
        unsafe {
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).map_err(error)?;
            let result =
                device.queue_submit(self.raw.queue, &[info], fence).and_then(|()| device.wait_for_fences(&[fence], true, u64::MAX));
            device.destroy_fence(fence, None);
            result.map_err(error)
        }
    }

    /// Waits until the queue has done everything, to the last thing that its driver has to do.
    pub(crate) fn idle(&self) {
        // SAFETY: nobody else uses the queue.
        if let Err(result) = unsafe { self.raw.device.queue_wait_idle(self.raw.queue) } {
            tracing::debug!("at the end: {result}");
        }
    }

    /// Forgets what was recorded.
    pub(crate) fn discard(&mut self) {
        if let State::Open(buffer) = std::mem::replace(&mut self.state, State::Empty) {
            // SAFETY: it was never submitted. One that cannot be reset is freed with the pool.
            if unsafe { self.raw.device.reset_command_buffer(buffer, vk::CommandBufferResetFlags::empty()) }.is_ok() {
                self.free.push(buffer);
            }
        }
        self.noted.clear();
        self.kept.clear();
        self.shows = false;
    }
}

/// What becomes of a command buffer once it is submitted.
enum Ended {
    Once,
    Again(Template),
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.idle();
        // SAFETY: no submission uses the pool's buffers any more, or the device is lost.
        unsafe { self.raw.device.destroy_command_pool(self.pool, None) };
    }
}
