//! Records and submits Vulkan command buffers.
//!
//! The first commands of a batch are stored as [`Step`]s and not recorded immediately. If a small batch has the same
//! steps as the previous one, its command buffer is kept. Later batches with these steps submit that command buffer
//! again. Programs often launch the same kernels repeatedly, and on an H100, recording a command buffer takes longer
//! than submitting it. Larger batches are recorded step by step.

use std::collections::VecDeque;
use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;
use wgcl_api::backend::BackendResult;

use crate::buffer::{Buffer, Use};
use crate::vulkan::error::{backend_error, missing_handle};
use crate::vulkan::queue::{DescriptorSet, Pipeline, QUERIES_PER_RESET, TimestampQueries, VulkanQueue};
use crate::vulkan::semaphores::Semaphore;

/// Maximum number of tracked buffers between two barriers.
const MAX_TRACKED_BUFFERS: usize = 24;
/// Maximum number of deferred steps, enough for several launches.
const MAX_DEFERRED_STEPS: usize = 24;
/// Maximum number of command buffers that can be submitted again.
const MAX_TEMPLATES: usize = 4;

/// The pipeline stages of all recorded commands.
const STAGES: vk::PipelineStageFlags =
    vk::PipelineStageFlags::from_raw(vk::PipelineStageFlags::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags::TRANSFER.as_raw());
/// Write accesses of all commands.
const WRITES: vk::AccessFlags =
    vk::AccessFlags::from_raw(vk::AccessFlags::SHADER_WRITE.as_raw() | vk::AccessFlags::TRANSFER_WRITE.as_raw());
/// Read accesses of all commands.
const READS: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::SHADER_READ.as_raw() | vk::AccessFlags::TRANSFER_READ.as_raw() | vk::AccessFlags::UNIFORM_READ.as_raw(),
);

/// Objects that a command buffer refers to.
#[derive(Default)]
struct RetainedObjects {
    pipelines: Vec<Arc<Pipeline>>,
    sets: Vec<Arc<DescriptorSet>>,
}

impl RetainedObjects {
    fn clear(&mut self) {
        self.pipelines.clear();
        self.sets.clear();
    }
}

/// An offset in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    buffer: vk::Buffer,
    /// Unique. (Vulkan may reuse the handle of a destroyed buffer.)
    id: u64,
    offset: u64,
    host_visible: bool,
}

impl Location {
    pub(crate) fn new(buffer: &Buffer, offset: u64) -> Self {
        Self { buffer: buffer.handle, id: buffer.id, offset, host_visible: buffer.visibility.has_barriers() }
    }

    const fn used(&self, writes: bool) -> Use {
        Use { buffer: self.buffer, writes, host_visible: self.host_visible }
    }
}

/// A Vulkan command. Equal steps have equal effects, because a handle in them always denotes the same object: templates
/// retain pipelines and descriptor sets, and buffers and query pools have unique IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Makes `wrote` accesses of the `from` stages visible to `reads` accesses of the `to` stages.
    Barrier {
        from: vk::PipelineStageFlags,
        wrote: vk::AccessFlags,
        to: vk::PipelineStageFlags,
        reads: vk::AccessFlags,
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
    /// Resets [`QUERIES_PER_RESET`] queries.
    Reset {
        pool: vk::QueryPool,
        id: u64,
        query: u32,
    },
    Timestamp {
        pool: vk::QueryPool,
        id: u64,
        query: u32,
    },
}

/// Reads the device clock with a separate submission, and returns it in ticks. Nothing else may be submitted meanwhile.
pub(crate) fn probe(queue: &Arc<VulkanQueue>) -> BackendResult<u64> {
    let mut recorder = CommandRecorder::new(queue)?;
    let queries = TimestampQueries::new(queue, 1)?;
    recorder.timestamp(&queries, 0)?;
    recorder.submit_and_wait()?;
    Ok(queries.values(1)?.first().copied().unwrap_or(0))
}

/// A command buffer that can be submitted again.
struct Template {
    steps: Vec<Step>,
    buffer: vk::CommandBuffer,
    /// Retains the pipelines and sets in `steps`, so that their handles are not reused.
    retained: RetainedObjects,
    /// The number of the last submission of the command buffer.
    number: u64,
}

/// The state of the open batch.
enum State {
    Empty,
    /// The batch has steps that are stored but not yet recorded.
    Deferred,
    /// The steps of the batch are recorded in this command buffer.
    Open(vk::CommandBuffer),
}

/// Records and submits command buffers.
pub(crate) struct CommandRecorder {
    queue: Arc<VulkanQueue>,
    pool: vk::CommandPool,
    free: Vec<vk::CommandBuffer>,
    /// Command buffers of submissions in flight, in the order of their submission numbers.
    in_flight: VecDeque<(u64, vk::CommandBuffer, RetainedObjects)>,
    /// The template that was submitted last is at the end.
    templates: VecDeque<Template>,
    state: State,
    deferred: Vec<Step>,
    /// The steps of the last recorded batch with at most [`MAX_DEFERRED_STEPS`] steps.
    last: Vec<Step>,
    retained: RetainedObjects,
    /// Empty lists for reuse.
    spare: Vec<RetainedObjects>,
    /// Semaphores of submissions, by submission number.
    semaphores: Vec<(u64, Vec<Arc<Semaphore>>)>,
    pipeline: vk::Pipeline,
    bound: (vk::DescriptorSet, Option<u32>),
    /// Buffers used since the last barrier, and whether they were written.
    used_since_barrier: SmallVec<[Use; MAX_TRACKED_BUFFERS]>,
    /// Whether the batch writes a buffer that the host, or another API, reads in place.
    writes_host_visible: bool,
}

// SAFETY: any thread may use Vulkan handles, one thread at a time, which `&mut` ensures.
unsafe impl Send for CommandRecorder {}

impl CommandRecorder {
    pub(crate) fn new(queue: &Arc<VulkanQueue>) -> BackendResult<Self> {
        let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER | vk::CommandPoolCreateFlags::TRANSIENT;
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(queue.family).flags(flags);
        // SAFETY: the device lives as long as `queue`.
        let pool = unsafe { queue.device.create_command_pool(&info, None) }.map_err(backend_error)?;
        Ok(Self {
            queue: Arc::clone(queue),
            pool,
            free: Vec::new(),
            in_flight: VecDeque::new(),
            templates: VecDeque::new(),
            state: State::Empty,
            deferred: Vec::new(),
            last: Vec::new(),
            retained: RetainedObjects::default(),
            spare: Vec::new(),
            semaphores: Vec::new(),
            pipeline: vk::Pipeline::null(),
            bound: (vk::DescriptorSet::null(), None),
            used_since_barrier: SmallVec::new(),
            writes_host_visible: false,
        })
    }

    pub(crate) const fn is_empty(&self) -> bool {
        matches!(self.state, State::Empty)
    }

    /// Begins a batch unless one has begun.
    fn begin(&mut self) -> BackendResult<()> {
        if !self.is_empty() {
            return Ok(());
        }
        let completed = self.queue.completed()?;
        while self.in_flight.front().is_some_and(|(number, ..)| *number <= completed) {
            if let Some((_, buffer, retained)) = self.in_flight.pop_front() {
                self.free.push(buffer);
                self.recycle(retained);
            }
        }
        self.state = State::Deferred;
        self.pipeline = vk::Pipeline::null();
        self.bound = (vk::DescriptorSet::null(), None);
        if self.in_flight.is_empty() && self.templates.iter().all(|template| template.number <= completed) {
            // Earlier submissions are complete, so their writes are available. A barrier that waits for no stage is
            // enough to make them visible.
            self.used_since_barrier.clear();
            let from = vk::PipelineStageFlags::TOP_OF_PIPE;
            self.push_step(Step::Barrier { from, wrote: vk::AccessFlags::empty(), to: STAGES, reads: READS | WRITES })
        } else {
            self.barrier()
        }
    }

    fn recycle(&mut self, mut retained: RetainedObjects) {
        retained.clear();
        if self.spare.len() < MAX_TEMPLATES {
            self.spare.push(retained);
        }
    }

    /// Stores or records a step of the open batch.
    fn push_step(&mut self, step: Step) -> BackendResult<()> {
        if let State::Deferred = self.state {
            if self.deferred.len() < MAX_DEFERRED_STEPS {
                self.deferred.push(step);
                return Ok(());
            }
            let buffer = self.open(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
            self.record_deferred(buffer);
            self.deferred.clear();
            self.state = State::Open(buffer);
        }
        if let State::Open(buffer) = self.state {
            self.record_step(buffer, &step);
        }
        Ok(())
    }

    /// Begins a command buffer.
    fn open(&mut self, flags: vk::CommandBufferUsageFlags) -> BackendResult<vk::CommandBuffer> {
        let buffer = match self.free.pop() {
            Some(free) => free,
            None => {
                let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
                // SAFETY: only this recorder uses its pool.
                let allocated = unsafe { self.queue.device.allocate_command_buffers(&info) }.map_err(backend_error)?;
                allocated.first().copied().ok_or_else(missing_handle)?
            }
        };
        // SAFETY: the buffer is new, or its submission is complete.
        if let Err(result) = unsafe { self.queue.device.begin_command_buffer(buffer, &vk::CommandBufferBeginInfo::default().flags(flags)) }
        {
            self.free.push(buffer);
            return Err(backend_error(result));
        }
        Ok(buffer)
    }

    fn record_deferred(&self, buffer: vk::CommandBuffer) {
        self.deferred.iter().for_each(|step| self.record_step(buffer, step));
    }

    /// Records a step. The caller that created the step ensures that its objects exist and fit.
    fn record_step(&self, buffer: vk::CommandBuffer, step: &Step) {
        let device = &self.queue.device;
        // SAFETY: the buffer is being recorded. The batch retains pipelines and sets. Callers ensure valid ranges,
        // offsets and queries.
        unsafe {
            match *step {
                Step::Barrier { from, wrote, to, reads } => {
                    let barrier = vk::MemoryBarrier::default().src_access_mask(wrote).dst_access_mask(reads);
                    device.cmd_pipeline_barrier(buffer, from, to, vk::DependencyFlags::empty(), &[barrier], &[], &[]);
                }
                Step::Pipeline(pipeline) => device.cmd_bind_pipeline(buffer, vk::PipelineBindPoint::COMPUTE, pipeline),
                Step::Set { layout, set, offset } => {
                    device.cmd_bind_descriptor_sets(buffer, vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], offset.as_slice());
                }
                Step::Dispatch([x, y, z]) => device.cmd_dispatch(buffer, x, y, z),
                Step::Copy { from, to, size } => {
                    let region = vk::BufferCopy { src_offset: from.offset, dst_offset: to.offset, size };
                    device.cmd_copy_buffer(buffer, from.buffer, to.buffer, &[region]);
                }
                Step::Fill { to, size, word } => device.cmd_fill_buffer(buffer, to.buffer, to.offset, size, word),
                Step::Reset { pool, query, .. } => device.cmd_reset_query_pool(buffer, pool, query, QUERIES_PER_RESET),
                Step::Timestamp { pool, query, .. } => {
                    device.cmd_write_timestamp(buffer, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, query);
                }
            }
        }
    }

    /// Makes all earlier writes visible to later commands.
    fn barrier(&mut self) -> BackendResult<()> {
        self.used_since_barrier.clear();
        self.push_step(Step::Barrier { from: STAGES, wrote: WRITES, to: STAGES, reads: READS | WRITES })
    }

    /// Records a barrier if a command with these uses depends on commands since the last barrier, or if too many
    /// buffers are tracked. Then tracks the uses.
    fn order(&mut self, uses: &[Use]) -> BackendResult<()> {
        let meets = |used: &Use| self.used_since_barrier.iter().any(|other| other.buffer == used.buffer && (used.writes || other.writes));
        if self.used_since_barrier.len() + uses.len() > MAX_TRACKED_BUFFERS || uses.iter().any(meets) {
            self.barrier()?;
        }
        self.used_since_barrier.extend_from_slice(uses);
        self.writes_host_visible |= uses.iter().any(|used| used.writes && used.host_visible);
        Ok(())
    }

    /// Records a barrier between all earlier and all later commands.
    pub(crate) fn separate_commands(&mut self) -> BackendResult<()> {
        self.begin()?;
        if self.used_since_barrier.is_empty() { Ok(()) } else { self.barrier() }
    }

    /// Dispatches a pipeline. `uses` lists the buffers that it uses.
    ///
    /// # Safety
    /// The set must have been created for the pipeline. If the pipeline has arguments, `offset` must be present and lie
    /// inside their buffer.
    pub(crate) unsafe fn dispatch(
        &mut self,
        pipeline: &Arc<Pipeline>,
        set: &Arc<DescriptorSet>,
        offset: Option<u32>,
        uses: &[Use],
        groups: [u32; 3],
    ) -> BackendResult<()> {
        let (handle, layout, set_handle) = (pipeline.handle(), pipeline.layout(), set.handle());
        self.begin()?;
        self.order(uses)?;
        if self.pipeline != handle {
            self.retained.pipelines.push(Arc::clone(pipeline));
            (self.pipeline, self.bound) = (handle, (vk::DescriptorSet::null(), None));
            self.push_step(Step::Pipeline(handle))?;
        }
        if self.bound != (set_handle, offset) {
            if self.bound.0 != set_handle {
                self.retained.sets.push(Arc::clone(set));
            }
            self.bound = (set_handle, offset);
            self.push_step(Step::Set { layout, set: set_handle, offset })?;
        }
        self.push_step(Step::Dispatch(groups))
    }

    /// Copies bytes between two ranges that do not overlap.
    ///
    /// # Safety
    /// The ranges must be inside the buffers.
    pub(crate) unsafe fn copy(&mut self, from: Location, to: Location, size: u64) -> BackendResult<()> {
        self.begin()?;
        self.order(&[from.used(false), to.used(true)])?;
        self.push_step(Step::Copy { from, to, size })
    }

    /// Fills a range with a word. Offset and `size` must be multiples of 4.
    ///
    /// # Safety
    /// The range must lie inside the buffer.
    pub(crate) unsafe fn fill(&mut self, to: Location, size: u64, word: u32) -> BackendResult<()> {
        self.begin()?;
        self.order(&[to.used(true)])?;
        self.push_step(Step::Fill { to, size, word })
    }

    /// Writes a timestamp when all earlier commands are complete. The caller must use the queries of a pool in order.
    pub(crate) fn timestamp(&mut self, queries: &TimestampQueries, query: u32) -> BackendResult<()> {
        self.begin()?;
        if query.is_multiple_of(QUERIES_PER_RESET) {
            if self.queue.query_reset {
                // SAFETY: the size of the pool is a multiple of QUERIES_PER_RESET, and no other submission uses these
                // queries.
                unsafe { self.queue.device.reset_query_pool(queries.pool, query, QUERIES_PER_RESET) };
            } else {
                self.push_step(Step::Reset { pool: queries.pool, id: queries.id, query })?;
            }
        }
        self.push_step(Step::Timestamp { pool: queries.pool, id: queries.id, query })
    }

    /// Ends the batch. Returns its command buffer, or `None` if it is empty.
    fn end(&mut self) -> BackendResult<Option<(vk::CommandBuffer, EndedBuffer)>> {
        let buffer = match std::mem::replace(&mut self.state, State::Empty) {
            State::Empty => return Ok(None),
            State::Open(buffer) => (buffer, EndedBuffer::OneTime),
            State::Deferred => {
                let found = self.templates.iter().position(|template| template.steps == self.deferred);
                let free = |template: &Template| self.queue.completed().map(|completed| template.number <= completed);
                if let Some(template) = found.and_then(|index| self.templates.remove(index)) {
                    if free(&template)? {
                        self.deferred.clear();
                        return Ok(Some((template.buffer, EndedBuffer::Reusable(template))));
                    }
                    self.templates.push_back(template);
                }
                let is_reusable = found.is_none() && self.deferred == self.last;
                let flags = if is_reusable { vk::CommandBufferUsageFlags::empty() } else { vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT };
                let buffer = self.open(flags)?;
                self.record_deferred(buffer);
                std::mem::swap(&mut self.last, &mut self.deferred);
                self.deferred.clear();
                if is_reusable {
                    let template = Template { steps: self.last.clone(), buffer, retained: std::mem::take(&mut self.retained), number: 0 };
                    (buffer, EndedBuffer::Reusable(template))
                } else {
                    (buffer, EndedBuffer::OneTime)
                }
            }
        };
        // SAFETY: the buffer is being recorded.
        unsafe { self.queue.device.end_command_buffer(buffer.0) }.map_err(backend_error)?;
        Ok(Some(buffer))
    }

    /// Submits the batch. `number` must be larger than that of each earlier submission. Returns `false` if it is empty.
    pub(crate) fn submit(&mut self, number: u64) -> BackendResult<bool> {
        if self.is_empty() {
            return Ok(false);
        }
        // Makes writes visible to the host. The barrier is omitted if the batch writes no host-visible buffer: on an
        // H100 it would take 2 of the 19 us of a launch with a wait.
        if std::mem::take(&mut self.writes_host_visible) {
            self.push_step(Step::Barrier {
                from: STAGES,
                wrote: WRITES,
                to: vk::PipelineStageFlags::HOST,
                reads: vk::AccessFlags::HOST_READ,
            })?;
        }
        let Some((buffer, ended)) = self.end()? else { return Ok(false) };
        let (buffers, signals, values) = ([buffer], [self.queue.timeline], [number]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info = vk::SubmitInfo::default().command_buffers(&buffers).signal_semaphores(&signals).push_next(&mut timeline);
        // SAFETY: the buffer was recorded here, and no other submission uses it. Nothing else submits to the queue.
        // The buffer of a failed submission is not reused, and freed with the pool.
        unsafe { self.queue.device.queue_submit(self.queue.handle, &[info], vk::Fence::null()) }.map_err(backend_error)?;
        let retained = std::mem::replace(&mut self.retained, self.spare.pop().unwrap_or_default());
        match ended {
            EndedBuffer::OneTime => self.in_flight.push_back((number, buffer, retained)),
            EndedBuffer::Reusable(template) => {
                self.recycle(retained);
                self.templates.push_back(Template { number, ..template });
                self.evict_templates(number);
            }
        }
        Ok(true)
    }

    /// Submits an empty batch that waits for and signals semaphores.
    pub(crate) fn submit_semaphores(&mut self, number: u64, waits: &[Arc<Semaphore>], signals: &[Arc<Semaphore>]) -> BackendResult<()> {
        let completed = self.queue.completed()?;
        self.semaphores.retain(|(other, _)| *other > completed);
        let waited: Vec<_> = waits.iter().map(|semaphore| semaphore.handle()).collect();
        let signalled: Vec<_> = [self.queue.timeline].into_iter().chain(signals.iter().map(|semaphore| semaphore.handle())).collect();
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waited.len()];
        // The values of binary semaphores are ignored.
        let (wait_values, mut signal_values) = (vec![0; waited.len()], vec![0; signalled.len()]);
        signal_values[0] = number;
        let mut timeline =
            vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&wait_values).signal_semaphore_values(&signal_values);
        let info = vk::SubmitInfo::default()
            .wait_semaphores(&waited)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signalled)
            .push_next(&mut timeline);
        // SAFETY: the semaphores are this device's, and live until the submission is complete. Nothing else submits
        // to the queue. The application ensures that waits and signals are paired.
        unsafe { self.queue.device.queue_submit(self.queue.handle, &[info], vk::Fence::null()) }.map_err(backend_error)?;
        signals.iter().for_each(|semaphore| semaphore.signal_submitted());
        self.semaphores.push((number, waits.iter().chain(signals).cloned().collect()));
        Ok(())
    }

    /// Evicts the oldest templates above the limit. Their command buffers are reused once their last submission is
    /// complete.
    fn evict_templates(&mut self, last: u64) {
        while self.templates.len() > MAX_TEMPLATES {
            let Some(Template { buffer, retained, number, .. }) = self.templates.pop_front() else { return };
            let at = self.in_flight.partition_point(|(other, ..)| *other < number.min(last));
            self.in_flight.insert(at, (number, buffer, retained));
        }
    }

    /// Submits the batch without a number, and waits for it.
    pub(crate) fn submit_and_wait(&mut self) -> BackendResult<()> {
        let Some((buffer, _)) = self.end()? else { return Ok(()) };
        let (device, buffers) = (&self.queue.device, [buffer]);
        let info = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: the reasons of `submit` hold. The fence outlives its submission, unless the device is lost.
        unsafe {
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).map_err(backend_error)?;
            let result =
                device.queue_submit(self.queue.handle, &[info], fence).and_then(|()| device.wait_for_fences(&[fence], true, u64::MAX));
            device.destroy_fence(fence, None);
            result.map_err(backend_error)
        }
    }

    /// Waits until the queue is idle, including work of the driver.
    pub(crate) fn idle(&self) {
        // SAFETY: nothing else uses the queue.
        if let Err(result) = unsafe { self.queue.device.queue_wait_idle(self.queue.handle) } {
            tracing::debug!("waiting for the queue to be idle failed: {result}");
        }
    }

    /// Discards the batch.
    pub(crate) fn discard(&mut self) {
        if let State::Open(buffer) = std::mem::replace(&mut self.state, State::Empty) {
            // SAFETY: the buffer was never submitted. If the reset fails, it is freed with the pool.
            if unsafe { self.queue.device.reset_command_buffer(buffer, vk::CommandBufferResetFlags::empty()) }.is_ok() {
                self.free.push(buffer);
            }
        }
        self.deferred.clear();
        self.retained.clear();
        self.writes_host_visible = false;
    }
}

/// Whether a command buffer can be submitted again.
enum EndedBuffer {
    OneTime,
    Reusable(Template),
}

impl Drop for CommandRecorder {
    fn drop(&mut self) {
        self.idle();
        // SAFETY: no submission uses the pool's buffers any more, or the device is lost.
        unsafe { self.queue.device.destroy_command_pool(self.pool, None) };
    }
}
