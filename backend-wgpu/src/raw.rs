//! Vulkan's own way to run commands: what the device's hot path uses in place of wgpu's encoders, whose tracking of every buffer takes longer than many a
//! kernel runs.
//!
//! wgpu still finds and opens devices and owns the memory of buffers. Here are pipelines, descriptor sets, command buffers and submissions: made once, used
//! again and again. A *recorder* fills one command buffer after the other; each submission signals its number on one timeline semaphore, for which any
//! thread may wait. wgpu submits nothing on a device that has a [`Raw`], so that the queue is the recorder's alone.
//!
//! # Order
//! Commands see the effects of those before them. The recorder knows which buffers were read and written since its last barrier, and records one before
//! a command that touches them again; commands that share nothing may overlap.
//!
//! # Soundness
//! Handles are destroyed by their owners' `Drop`. The recorder keeps what a command buffer refers to until its submission is complete; buffers are kept by
//! [`crate::memory`] and [`crate::ring`] as long. Everything holds a reference to [`Raw`], and that one to wgpu's device.

use std::collections::VecDeque;
use std::ffi::CString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use parking_lot::Mutex;
use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_compiler::launch::TexelFormat;

use crate::pipeline::Compute;

/// Descriptor sets that are allocated at a time.
const SETS: u32 = 16;
/// Buffers remembered between two barriers.
const REMEMBERED: usize = 24;
/// Queries that are reset at a time.
const RESET: u32 = 64;

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

/// An open device.
pub(crate) struct Raw {
    device: ash::Device,
    queue: vk::Queue,
    /// The family of the queue.
    family: u32,
    /// Queries are reset by the host: a command for it delays what follows by 2 us on an H100.
    query_reset: bool,
    timeline: vk::Semaphore,
    clock: Option<ash::ext::calibrated_timestamps::Device>,
    /// How long a wait looks again and again before it sleeps.
    patience: Duration,
    /// Keeps the device.
    _owner: wgpu::Device,
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raw").field("queue", &self.queue).finish_non_exhaustive()
    }
}

/// What a failing call means.
pub(crate) fn error(result: vk::Result) -> BackendError {
    match result {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => BackendError::OutOfHostMemory,
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_POOL_MEMORY => BackendError::OutOfDeviceMemory,
        vk::Result::ERROR_DEVICE_LOST => BackendError::DeviceLost("the driver says so".to_owned()),
        other => BackendError::Other(format!("driver: {other}")),
    }
}

/// What a binding of a pipeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A uniform buffer whose place is given with each dispatch.
    Arguments,
    /// A uniform buffer.
    Uniform,
    /// A storage buffer.
    Storage,
    /// A uniform texel buffer.
    Texels(TexelFormat),
}

impl Kind {
    const fn descriptor(self) -> vk::DescriptorType {
        match self {
            Self::Arguments => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
            Self::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
            Self::Storage => vk::DescriptorType::STORAGE_BUFFER,
            Self::Texels(_) => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        }
    }
}

impl Raw {
    /// # Safety
    /// `device` is that of `owner`, which submits nothing itself, and `queue` one of its queues, of that family. The device has timeline semaphores;
    /// `clock` is of it; with `query_reset` the host may reset queries.
    pub(crate) unsafe fn new(
        owner: wgpu::Device,
        device: ash::Device,
        (queue, family): (vk::Queue, u32),
        clock: Option<ash::ext::calibrated_timestamps::Device>,
        patience: Duration,
        query_reset: bool,
    ) -> BackendResult<Arc<Self>> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device has timeline semaphores, says the caller.
        let timeline = unsafe { device.create_semaphore(&info, None) }.map_err(error)?;
        Ok(Arc::new(Self { device, queue, family, query_reset, timeline, clock, patience, _owner: owner }))
    }

    /// The last submission that is complete.
    fn completed(&self) -> BackendResult<u64> {
        // SAFETY: the semaphore lives as long as `self`.
        unsafe { self.device.get_semaphore_counter_value(self.timeline) }.map_err(error)
    }

    /// Waits until a submission is complete.
    pub(crate) fn wait(&self, number: u64) -> BackendResult<()> {
        if self.completed()? >= number {
            return Ok(());
        }
        if !self.patience.is_zero() {
            let begin = Instant::now();
            while begin.elapsed() < self.patience {
                for _ in 0..16 {
                    std::hint::spin_loop();
                }
                if self.completed()? >= number {
                    return Ok(());
                }
            }
        }
        let (semaphores, values) = ([self.timeline], [number]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        loop {
            // SAFETY: the semaphore lives as long as `self`.
            match unsafe { self.device.wait_semaphores(&info, u64::MAX) } {
                Ok(()) => return Ok(()),
                Err(vk::Result::TIMEOUT) => {}
                Err(result) => return Err(error(result)),
            }
        }
    }

    /// The device's ticks and the host's monotonic clock in nanoseconds at one moment, if the driver tells.
    pub(crate) fn moment(&self) -> Option<(u64, u64)> {
        let domains = [vk::TimeDomainKHR::DEVICE, vk::TimeDomainKHR::CLOCK_MONOTONIC];
        let infos = domains.map(|domain| vk::CalibratedTimestampInfoKHR::default().time_domain(domain));
        // SAFETY: the extension is on and both domains exist, or there is no `clock`.
        let (values, _) = unsafe { self.clock.as_ref()?.get_calibrated_timestamps(&infos) }.ok()?;
        Some((*values.first()?, *values.get(1)?))
    }

    /// The device's ticks now, as a submission of its own sees them. Only while nothing else is submitted.
    pub(crate) fn probe(self: &Arc<Self>) -> BackendResult<u64> {
        let mut recorder = Recorder::new(self)?;
        let queries = Queries::new(self, 1)?;
        recorder.stamp(&queries, 0)?;
        recorder.submit_apart()?;
        Ok(queries.values(1)?.first().copied().unwrap_or(0))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: the last submission is complete: its recorder has waited for it, and held a reference.
        unsafe { self.device.destroy_semaphore(self.timeline, None) };
    }
}

/// A compute pipeline with its layout.
#[derive(Debug)]
pub(crate) struct Pipeline {
    raw: Arc<Raw>,
    bindings: Vec<(u32, Kind)>,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    /// Where descriptor sets come from, and how many more do.
    sets: Mutex<(u32, Option<Arc<SetPool>>)>,
}

impl Pipeline {
    /// Of a SPIR-V module. Takes long: the driver compiles.
    ///
    /// # Safety
    /// The module is valid for the device, has that entry point, and uses the bindings of set 0 as they are given.
    pub(crate) unsafe fn new(
        raw: &Arc<Raw>,
        words: &[u32],
        entry_point: &str,
        bindings: &[(u32, Kind)],
        flags: vk::PipelineShaderStageCreateFlags,
    ) -> BackendResult<Self> {
        let device = &raw.device;
        let mut made = Self {
            raw: Arc::clone(raw),
            bindings: bindings.to_vec(),
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
            sets: Mutex::default(),
        };
        let entry_point = CString::new(entry_point).map_err(|error| BackendError::Other(error.to_string()))?;
        let places: Vec<_> = bindings
            .iter()
            .map(|(binding, kind)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(*binding)
                    .descriptor_type(kind.descriptor())
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&places);
        // SAFETY: the bindings' numbers differ. What was made is destroyed with `made`, here and below.
        made.set_layout = unsafe { device.create_descriptor_set_layout(&info, None) }.map_err(error)?;
        let set_layouts = [made.set_layout];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        // SAFETY: the set layout was just made.
        made.layout = unsafe { device.create_pipeline_layout(&info, None) }.map_err(error)?;
        // SAFETY: the module is valid, says the caller.
        let module = unsafe { device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(words), None) }.map_err(error)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .flags(flags)
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(&entry_point);
        let info = vk::ComputePipelineCreateInfo::default().layout(made.layout).stage(stage);
        // SAFETY: all of it was made above, for each other.
        let pipelines = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        // SAFETY: pipelines need their modules only to be made.
        unsafe { device.destroy_shader_module(module, None) };
        match pipelines {
            Ok(pipelines) => made.pipeline = pipelines.first().copied().unwrap_or_default(),
            Err((_, result)) => return Err(error(result)),
        }
        Ok(made)
    }

    /// A descriptor set that binds these buffers, offsets and sizes, one a binding.
    ///
    /// # Safety
    /// The ranges lie inside the buffers, which live as long as the set is used.
    pub(crate) unsafe fn set(&self, bound: &[(vk::Buffer, u64, u64)]) -> BackendResult<Set> {
        let pool = {
            let mut sets = self.sets.lock();
            match &mut *sets {
                (left, Some(pool)) if *left > 0 => {
                    *left -= 1;
                    Arc::clone(pool)
                }
                _ => {
                    let pool = Arc::new(SetPool::new(&self.raw, &self.bindings)?);
                    *sets = (SETS - 1, Some(Arc::clone(&pool)));
                    pool
                }
            }
        };
        let layouts = [self.set_layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool.pool).set_layouts(&layouts);
        let made = {
            let _one_at_a_time = pool.allocating.lock();
            // SAFETY: the pool has room, and nobody else allocates from it now.
            unsafe { self.raw.device.allocate_descriptor_sets(&info) }.map_err(error)?
        };
        let set = made.first().copied().unwrap_or_default();
        let views = self.views(bound)?;
        let infos: SmallVec<[vk::DescriptorBufferInfo; 8]> = bound
            .iter()
            .map(|(buffer, offset, range)| vk::DescriptorBufferInfo { buffer: *buffer, offset: *offset, range: *range })
            .collect();
        let writes: SmallVec<[vk::WriteDescriptorSet<'_>; 8]> = self
            .bindings
            .iter()
            .zip(infos.chunks(1).zip(views.handles.chunks(1)))
            .map(|((binding, kind), (info, view))| {
                let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(*binding).descriptor_type(kind.descriptor());
                if matches!(kind, Kind::Texels(_)) { write.texel_buffer_view(view) } else { write.buffer_info(info) }
            })
            .collect();
        // SAFETY: the set is new, and of that layout.
        unsafe { self.raw.device.update_descriptor_sets(&writes, &[]) };
        drop(writes);
        Ok(Set { set, _views: views, _pool: pool })
    }

    /// The views of those bindings that are texels; null for the others.
    fn views(&self, bound: &[(vk::Buffer, u64, u64)]) -> BackendResult<Views> {
        let mut views = Views { raw: Arc::clone(&self.raw), handles: SmallVec::new() };
        for ((_, kind), (buffer, offset, range)) in self.bindings.iter().zip(bound) {
            let mut view = vk::BufferView::null();
            if let Kind::Texels(format) = kind {
                let info = vk::BufferViewCreateInfo::default().buffer(*buffer).format(texel_format(*format)).offset(*offset).range(*range);
                // SAFETY: the range lies inside the buffer, says the caller; it is a multiple of 16 bytes at such a place, and not too long.
                view = unsafe { self.raw.device.create_buffer_view(&info, None) }.map_err(error)?;
            }
            views.handles.push(view);
        }
        Ok(views)
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: no submission uses it: recorders keep what theirs use. Null handles are ignored.
        unsafe {
            self.raw.device.destroy_pipeline(self.pipeline, None);
            self.raw.device.destroy_pipeline_layout(self.layout, None);
            self.raw.device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// Memory of some descriptor sets of one layout.
#[derive(Debug)]
struct SetPool {
    raw: Arc<Raw>,
    pool: vk::DescriptorPool,
    allocating: Mutex<()>,
}

impl SetPool {
    fn new(raw: &Arc<Raw>, bindings: &[(u32, Kind)]) -> BackendResult<Self> {
        let mut sizes: SmallVec<[vk::DescriptorPoolSize; 4]> = SmallVec::new();
        for ty in bindings.iter().map(|(_, kind)| kind.descriptor()) {
            match sizes.iter_mut().find(|size| size.ty == ty) {
                Some(size) => size.descriptor_count += SETS,
                None => sizes.push(vk::DescriptorPoolSize { ty, descriptor_count: SETS }),
            }
        }
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(SETS).pool_sizes(&sizes);
        // SAFETY: the device lives as long as `raw`.
        let pool = unsafe { raw.device.create_descriptor_pool(&info, None) }.map_err(error)?;
        Ok(Self { raw: Arc::clone(raw), pool, allocating: Mutex::default() })
    }
}

impl Drop for SetPool {
    fn drop(&mut self) {
        // SAFETY: all of its sets are gone, for they hold it.
        unsafe { self.raw.device.destroy_descriptor_pool(self.pool, None) };
    }
}

const fn texel_format(format: TexelFormat) -> vk::Format {
    match format {
        TexelFormat::R8 => vk::Format::R8_UINT,
        TexelFormat::R16 => vk::Format::R16_UINT,
        TexelFormat::Rg16 => vk::Format::R16G16_UINT,
        TexelFormat::Rgba16 => vk::Format::R16G16B16A16_UINT,
        TexelFormat::R32 => vk::Format::R32_UINT,
        TexelFormat::Rg32 => vk::Format::R32G32_UINT,
        TexelFormat::Rgba32 => vk::Format::R32G32B32A32_UINT,
    }
}

/// Views of buffers as texels, one for each binding of a set.
#[derive(Debug)]
struct Views {
    raw: Arc<Raw>,
    handles: SmallVec<[vk::BufferView; 8]>,
}

impl Drop for Views {
    fn drop(&mut self) {
        for &view in &self.handles {
            // SAFETY: no submission uses it: recorders keep the sets that theirs use. Null handles are ignored.
            unsafe { self.raw.device.destroy_buffer_view(view, None) };
        }
    }
}

/// A descriptor set.
#[derive(Debug)]
pub(crate) struct Set {
    set: vk::DescriptorSet,
    _views: Views,
    _pool: Arc<SetPool>,
}

/// Timestamp queries.
#[derive(Debug)]
pub(crate) struct Queries {
    raw: Arc<Raw>,
    pool: vk::QueryPool,
}

impl Queries {
    pub(crate) fn new(raw: &Arc<Raw>, count: u32) -> BackendResult<Self> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count.next_multiple_of(RESET));
        // SAFETY: the device lives as long as `raw`.
        let pool = unsafe { raw.device.create_query_pool(&info, None) }.map_err(error)?;
        Ok(Self { raw: Arc::clone(raw), pool })
    }

    /// The first ones, which a complete submission wrote.
    pub(crate) fn values(&self, count: u32) -> BackendResult<Vec<u64>> {
        let mut values = vec![0_u64; count as usize];
        if count > 0 {
            // SAFETY: there are as many, and the driver writes as many words.
            unsafe { self.raw.device.get_query_pool_results(self.pool, 0, &mut values, vk::QueryResultFlags::TYPE_64) }.map_err(error)?;
        }
        Ok(values)
    }
}

impl Drop for Queries {
    fn drop(&mut self) {
        // SAFETY: who holds a query of a submission holds all of them.
        unsafe { self.raw.device.destroy_query_pool(self.pool, None) };
    }
}

/// What a command buffer refers to.
#[derive(Default)]
struct Kept {
    computes: Vec<Arc<Compute>>,
    groups: Vec<Arc<crate::pipeline::Group>>,
}

impl Kept {
    fn clear(&mut self) {
        self.computes.clear();
        self.groups.clear();
    }
}

/// Fills command buffers and submits them.
pub(crate) struct Recorder {
    raw: Arc<Raw>,
    pool: vk::CommandPool,
    free: Vec<(vk::CommandBuffer, Kept)>,
    /// Submitted, by number.
    flying: VecDeque<(u64, vk::CommandBuffer, Kept)>,
    current: Option<(vk::CommandBuffer, Kept)>,
    pipeline: vk::Pipeline,
    bound: (vk::DescriptorSet, Option<u32>),
    /// Buffers used since the last barrier, and whether they were written.
    touched: SmallVec<[(vk::Buffer, bool); REMEMBERED]>,
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
            current: None,
            pipeline: vk::Pipeline::null(),
            bound: (vk::DescriptorSet::null(), None),
            touched: SmallVec::new(),
        })
    }

    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.current.is_none()
    }

    /// The open command buffer.
    fn buffer(&mut self) -> BackendResult<vk::CommandBuffer> {
        if let Some((buffer, _)) = &self.current {
            return Ok(*buffer);
        }
        let completed = self.raw.completed()?;
        while self.flying.front().is_some_and(|(number, ..)| *number <= completed) {
            if let Some((_, buffer, mut kept)) = self.flying.pop_front() {
                kept.clear();
                self.free.push((buffer, kept));
            }
        }
        let (buffer, kept) = match self.free.pop() {
            Some(free) => free,
            None => {
                let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
                // SAFETY: only this recorder uses its pool.
                let made = unsafe { self.raw.device.allocate_command_buffers(&info) }.map_err(error)?;
                (made.first().copied().unwrap_or_default(), Kept::default())
            }
        };
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the buffer is new, or its submission is complete.
        if let Err(result) = unsafe { self.raw.device.begin_command_buffer(buffer, &info) } {
            self.free.push((buffer, kept));
            return Err(error(result));
        }
        self.current = Some((buffer, kept));
        self.pipeline = vk::Pipeline::null();
        self.bound = (vk::DescriptorSet::null(), None);
        if self.flying.is_empty() {
            // What earlier submissions wrote is available, for they are complete. It has still to be made visible, without waiting for anything.
            self.touched.clear();
            let barrier = vk::MemoryBarrier::default().dst_access_mask(READS | WRITES);
            let (from, to) = (vk::PipelineStageFlags::TOP_OF_PIPE, STAGES);
            // SAFETY: the buffer is being recorded.
            unsafe { self.raw.device.cmd_pipeline_barrier(buffer, from, to, vk::DependencyFlags::empty(), &[barrier], &[], &[]) };
        } else {
            self.barrier(buffer, vk::PipelineStageFlags::empty(), vk::AccessFlags::empty());
        }
        Ok(buffer)
    }

    /// What comes before is seen by what comes after, and by the host where `stage` and `access` say so.
    fn barrier(&mut self, buffer: vk::CommandBuffer, stage: vk::PipelineStageFlags, access: vk::AccessFlags) {
        self.touched.clear();
        let (targets, accesses) = if stage.is_empty() { (STAGES, READS | WRITES) } else { (stage, access) };
        let barrier = vk::MemoryBarrier::default().src_access_mask(WRITES).dst_access_mask(accesses);
        // SAFETY: the buffer is being recorded.
        unsafe { self.raw.device.cmd_pipeline_barrier(buffer, STAGES, targets, vk::DependencyFlags::empty(), &[barrier], &[], &[]) };
    }

    /// Separates a command that uses these buffers (and writes them or not) from those before it, if it must be.
    fn order(&mut self, buffer: vk::CommandBuffer, uses: &[(vk::Buffer, bool)]) {
        let meets = |(used, writes): &(vk::Buffer, bool)| self.touched.iter().any(|(other, wrote)| other == used && (*writes || *wrote));
        if self.touched.len() + uses.len() > REMEMBERED || uses.iter().any(meets) {
            self.barrier(buffer, vk::PipelineStageFlags::empty(), vk::AccessFlags::empty());
        }
        self.touched.extend_from_slice(uses);
    }

    /// Separates all commands so far from all that follow.
    pub(crate) fn separate(&mut self) -> BackendResult<()> {
        let buffer = self.buffer()?;
        if !self.touched.is_empty() {
            self.barrier(buffer, vk::PipelineStageFlags::empty(), vk::AccessFlags::empty());
        }
        Ok(())
    }

    /// Runs a pipeline. `uses` are the buffers that it uses, and whether it writes them.
    ///
    /// # Safety
    /// The set is of the pipeline; `offset` is there if it has arguments, and lies inside their buffer.
    pub(crate) unsafe fn dispatch(
        &mut self,
        compute: &Arc<Compute>,
        group: &Arc<crate::pipeline::Group>,
        offset: Option<u32>,
        uses: &[(vk::Buffer, bool)],
        [x, y, z]: [u32; 3],
    ) -> BackendResult<()> {
        let (Compute::Raw(pipeline), crate::pipeline::Group::Raw(set)) = (&**compute, &**group) else {
            return Err(BackendError::Other("a pipeline of wgpu's".to_owned()));
        };
        let buffer = self.buffer()?;
        self.order(buffer, uses);
        let device = &self.raw.device;
        if self.pipeline != pipeline.pipeline {
            self.pipeline = pipeline.pipeline;
            self.bound = (vk::DescriptorSet::null(), None);
            if let Some((_, kept)) = &mut self.current {
                kept.computes.push(Arc::clone(compute));
            }
            // SAFETY: the buffer is being recorded, and keeps the pipeline.
            unsafe { device.cmd_bind_pipeline(buffer, vk::PipelineBindPoint::COMPUTE, pipeline.pipeline) };
        }
        if self.bound != (set.set, offset) {
            if self.bound.0 != set.set
                && let Some((_, kept)) = &mut self.current
            {
                kept.groups.push(Arc::clone(group));
            }
            self.bound = (set.set, offset);
            // SAFETY: as above; the set is of that layout, and the offset one of its own, as the caller says.
            unsafe {
                device.cmd_bind_descriptor_sets(buffer, vk::PipelineBindPoint::COMPUTE, pipeline.layout, 0, &[set.set], offset.as_slice());
            }
        }
        // SAFETY: everything that the pipeline needs is bound.
        unsafe { device.cmd_dispatch(buffer, x, y, z) };
        Ok(())
    }

    /// Copies bytes between two places that do not overlap.
    ///
    /// # Safety
    /// The ranges lie inside the buffers.
    pub(crate) unsafe fn copy(&mut self, (from, at): (vk::Buffer, u64), (to, place): (vk::Buffer, u64), size: u64) -> BackendResult<()> {
        let buffer = self.buffer()?;
        self.order(buffer, &[(from, false), (to, true)]);
        let region = vk::BufferCopy { src_offset: at, dst_offset: place, size };
        // SAFETY: the buffer is being recorded, the rest is the caller's.
        unsafe { self.raw.device.cmd_copy_buffer(buffer, from, to, &[region]) };
        Ok(())
    }

    /// Repeats a word. `at` and `size` are multiples of 4.
    ///
    /// # Safety
    /// The range lies inside the buffer.
    pub(crate) unsafe fn fill(&mut self, target: vk::Buffer, at: u64, size: u64, word: u32) -> BackendResult<()> {
        let buffer = self.buffer()?;
        self.order(buffer, &[(target, true)]);
        // SAFETY: the buffer is being recorded, the rest is the caller's.
        unsafe { self.raw.device.cmd_fill_buffer(buffer, target, at, size, word) };
        Ok(())
    }

    /// Writes a timestamp when all commands so far are done. A submission writes the queries of a set in their order.
    pub(crate) fn stamp(&mut self, queries: &Queries, query: u32) -> BackendResult<()> {
        let buffer = self.buffer()?;
        // SAFETY: the buffer is being recorded; the pool has a multiple of that many queries, none of them in use by another submission.
        unsafe {
            match query.is_multiple_of(RESET) {
                true if self.raw.query_reset => self.raw.device.reset_query_pool(queries.pool, query, RESET),
                true => self.raw.device.cmd_reset_query_pool(buffer, queries.pool, query, RESET),
                false => {}
            }
            self.raw.device.cmd_write_timestamp(buffer, vk::PipelineStageFlags::BOTTOM_OF_PIPE, queries.pool, query);
        }
        Ok(())
    }

    /// Submits what was recorded under a number, larger than those before; `false` where there was nothing.
    pub(crate) fn submit(&mut self, number: u64) -> BackendResult<bool> {
        let Some((buffer, kept)) = self.current.take() else { return Ok(false) };
        self.barrier(buffer, vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
        let (buffers, signals, values) = ([buffer], [self.raw.timeline], [number]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info = vk::SubmitInfo::default().command_buffers(&buffers).signal_semaphores(&signals).push_next(&mut timeline);
        // SAFETY: the buffer was recorded here and is used once. Nobody else submits to the queue.
        let result = unsafe {
            self.raw
                .device
                .end_command_buffer(buffer)
                .and_then(|()| self.raw.device.queue_submit(self.raw.queue, &[info], vk::Fence::null()))
        };
        match result {
            Ok(()) => self.flying.push_back((number, buffer, kept)),
            // What a failed submission leaves is used again by nobody, and freed with the pool.
            Err(result) => return Err(error(result)),
        }
        Ok(true)
    }

    /// Submits what was recorded, outside of the numbers, and waits for it.
    fn submit_apart(&mut self) -> BackendResult<()> {
        let Some((buffer, _)) = self.current.take() else { return Ok(()) };
        let (device, buffers) = (&self.raw.device, [buffer]);
        let info = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: as in `submit`; the fence outlives its submission, unless the device is lost.
        unsafe {
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).map_err(error)?;
            let result = device
                .end_command_buffer(buffer)
                .and_then(|()| device.queue_submit(self.raw.queue, &[info], fence))
                .and_then(|()| device.wait_for_fences(&[fence], true, u64::MAX));
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
        if let Some((buffer, mut kept)) = self.current.take() {
            kept.clear();
            // SAFETY: it was never submitted. One that cannot be reset is freed with the pool.
            if unsafe { self.raw.device.reset_command_buffer(buffer, vk::CommandBufferResetFlags::empty()) }.is_ok() {
                self.free.push((buffer, kept));
            }
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.idle();
        // SAFETY: no submission uses the pool's buffers any more, or the device is lost.
        unsafe { self.raw.device.destroy_command_pool(self.pool, None) };
    }
}
