//! Vulkan's own way to run commands: what the device's hot path uses in place of wgpu's encoders, whose tracking of every buffer takes longer than many a
//! kernel runs.
//!
//! wgpu still finds and opens devices and owns the memory of buffers. Here are pipelines, descriptor sets, command buffers and submissions: made once, used
//! again and again. A [*recorder*](crate::vulkan::command_buffer) fills one command buffer after the other; each submission signals its number on one timeline semaphore, for which any
//! thread may wait. wgpu submits nothing on a device that has a [`VulkanQueue`], so that the queue is the recorder's alone.
//!
//! # Order
//! Commands see the effects of those before them. The recorder knows which buffers were read and written since its last barrier, and records one before
//! a command that touches them again; commands that share nothing may overlap.
//!
//! # Soundness
//! Handles are destroyed by their owners' `Drop`. The recorder keeps what a command buffer refers to until its submission is complete; buffers are kept by
//! [`crate::memory::device_memory`] and [`crate::memory::staging_ring`] as long. Everything holds a reference to [`VulkanQueue`], and that one to wgpu's device.

use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use parking_lot::Mutex;
use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult};

use crate::vulkan::pipeline_statistics::{self, Statistics};

/// Descriptor sets that are allocated at a time.
const SETS: u32 = 16;
/// TimestampQueries that are reset at a time.
pub(crate) const RESET: u32 = 64;

/// How long a thread that waits for a GPU keeps looking before it sleeps: being woken takes some 40 us, which is then little beside what it waited for. (With 0.2 ms
/// BabelStream's triad of 0.27 ms, each waited for, took 0.31 on an H100.)
pub(crate) const PATIENCE: Duration = Duration::from_millis(2);

/// Functions of extensions by which a driver tells of itself and shares semaphores, where it has them.
pub(crate) struct ExtensionFunctions {
    pub(crate) clock: Option<ash::ext::calibrated_timestamps::Device>,
    pub(crate) pipeline_statistics: Option<ash::khr::pipeline_executable_properties::Device>,
    pub(crate) semaphores: Option<ash::khr::external_semaphore_fd::Device>,
}

/// An open device.
pub(crate) struct VulkanQueue {
    pub(crate) device: ash::Device,
    pub(crate) handle: vk::Queue,
    /// The family of the queue.
    pub(crate) family: u32,
    /// TimestampQueries are reset by the host: a command for it delays what follows by 2 us on an H100.
    pub(crate) query_reset: bool,
    pub(crate) timeline: vk::Semaphore,
    functions: ExtensionFunctions,
    /// How long a wait looks again and again before it sleeps.
    patience: Duration,
    /// Keeps the device.
    _owner: wgpu::Device,
}

impl std::fmt::Debug for VulkanQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VulkanQueue").field("handle", &self.handle).finish_non_exhaustive()
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
pub(crate) enum BindingType {
    /// A uniform buffer whose place is given with each dispatch.
    Arguments,
    /// A uniform buffer.
    Uniform,
    /// A storage buffer.
    Storage,
}

/// The subgroups that a pipeline asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubgroupMode {
    /// It has none.
    None,
    /// Of any size that the device offers, as wgpu has it.
    Varying,
    /// Of that size.
    Required(u32),
}

impl SubgroupMode {
    /// What a kernel's pipeline asks for that requires a size, if it does: the device has it, and may be functions so if it is not the only one.
    pub(crate) fn required(self, size: Option<u32>) -> Self {
        match (self, size) {
            (Self::Required(_), Some(size)) => Self::Required(size),
            _ => self,
        }
    }
}

impl BindingType {
    const fn descriptor(self) -> vk::DescriptorType {
        match self {
            Self::Arguments => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
            Self::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
            Self::Storage => vk::DescriptorType::STORAGE_BUFFER,
        }
    }
}

impl VulkanQueue {
    /// # Safety
    /// `device` is that of `owner`, which submits nothing itself, and `queue` one of its queues, of that family. The device has timeline semaphores;
    /// `functions` are its functions, and their features are on; with `query_reset` the host may reset queries.
    pub(crate) unsafe fn new(
        owner: wgpu::Device,
        device: ash::Device,
        (handle, family): (vk::Queue, u32),
        functions: ExtensionFunctions,
        patience: Duration,
        query_reset: bool,
    ) -> BackendResult<Arc<Self>> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device has timeline semaphores, says the caller.
        let timeline = unsafe { device.create_semaphore(&info, None) }.map_err(error)?;
        Ok(Arc::new(Self { device, handle, family, query_reset, timeline, functions, patience, _owner: owner }))
    }

    /// The last submission that is complete.
    pub(crate) fn completed(&self) -> BackendResult<u64> {
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
                // One takes 140 cycles of some processors.
                std::hint::spin_loop();
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

    /// Whether pipelines say how many registers their invocations take.
    pub(crate) const fn reports_registers(&self) -> bool {
        self.functions.pipeline_statistics.is_some()
    }

    /// The functions by which semaphores are shared.
    pub(crate) const fn semaphore_fds(&self) -> Option<&ash::khr::external_semaphore_fd::Device> {
        self.functions.semaphores.as_ref()
    }

    /// The device's ticks and the host's monotonic clock in nanoseconds at one calibrated_timestamps, if the driver tells.
    pub(crate) fn calibrated_timestamps(&self) -> Option<(u64, u64)> {
        let domains = [vk::TimeDomainKHR::DEVICE, vk::TimeDomainKHR::CLOCK_MONOTONIC];
        let infos = domains.map(|domain| vk::CalibratedTimestampInfoKHR::default().time_domain(domain));
        // SAFETY: the extension is on and both domains exist, or there is no clock.
        let (values, _) = unsafe { self.functions.clock.as_ref()?.get_calibrated_timestamps(&infos) }.ok()?;
        Some((*values.first()?, *values.get(1)?))
    }
}

impl Drop for VulkanQueue {
    fn drop(&mut self) {
        // SAFETY: the last submission is complete: its recorder has waited for it, and held a reference.
        unsafe { self.device.destroy_semaphore(self.timeline, None) };
    }
}

/// A compute pipeline with its layout.
#[derive(Debug)]
pub(crate) struct Pipeline {
    queue: Arc<VulkanQueue>,
    bindings: Vec<(u32, BindingType)>,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    statistics: Statistics,
    /// Where descriptor sets come from, and how many more do.
    sets: Mutex<(u32, Option<Arc<DescriptorPool>>)>,
}

impl Pipeline {
    pub(crate) const fn handle(&self) -> vk::Pipeline {
        self.pipeline
    }

    /// What the driver's compiler made of the shader.
    pub(crate) const fn statistics(&self) -> Statistics {
        self.statistics
    }

    pub(crate) const fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    /// Of a SPIR-V module. Takes long: the driver compiles.
    ///
    /// # Safety
    /// The module is valid for the device, has that entry point, and uses the bindings of set 0 as they are given. The device has such subgroups, and its
    /// groups may have as many of them as they need.
    pub(crate) unsafe fn new(
        queue: &Arc<VulkanQueue>,
        words: &[u32],
        entry_point: &str,
        bindings: &[(u32, BindingType)],
        subgroups: SubgroupMode,
    ) -> BackendResult<Self> {
        let device = &queue.device;
        let mut made = Self {
            queue: Arc::clone(queue),
            bindings: bindings.to_vec(),
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
            statistics: Statistics::default(),
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
        let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE).module(module).name(&entry_point);
        match subgroups {
            SubgroupMode::Required(size) => {
                required = required.required_subgroup_size(size);
                stage = stage.push_next(&mut required);
            }
            SubgroupMode::Varying => stage = stage.flags(vk::PipelineShaderStageCreateFlags::ALLOW_VARYING_SUBGROUP_SIZE),
            SubgroupMode::None => {}
        }
        let functions = &queue.functions.pipeline_statistics;
        let flags = if functions.is_some() { vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR } else { vk::PipelineCreateFlags::empty() };
        let info = vk::ComputePipelineCreateInfo::default().flags(flags).layout(made.layout).stage(stage);
        // SAFETY: all of it was made above, for each other.
        let pipelines = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        // SAFETY: pipelines need their modules only to be made.
        unsafe { device.destroy_shader_module(module, None) };
        match pipelines {
            Ok(pipelines) => made.pipeline = pipelines.first().copied().unwrap_or_default(),
            Err((_, result)) => return Err(error(result)),
        }
        if let Some(functions) = functions {
            // SAFETY: just made, with statistics, on this device.
            made.statistics = unsafe { pipeline_statistics::statistics(functions, made.pipeline) }?;
        }
        Ok(made)
    }

    /// A descriptor set that binds these buffers, offsets and sizes, one a binding.
    ///
    /// # Safety
    /// The ranges lie inside the buffers, which live as long as the set is used.
    pub(crate) unsafe fn set(&self, bound: &[(vk::Buffer, u64, u64)]) -> BackendResult<DescriptorSet> {
        let pool = {
            let mut sets = self.sets.lock();
            match &mut *sets {
                (left, Some(pool)) if *left > 0 => {
                    *left -= 1;
                    Arc::clone(pool)
                }
                _ => {
                    let pool = Arc::new(DescriptorPool::new(&self.queue, &self.bindings)?);
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
            unsafe { self.queue.device.allocate_descriptor_sets(&info) }.map_err(error)?
        };
        let set = made.first().copied().unwrap_or_default();
        let infos: SmallVec<[vk::DescriptorBufferInfo; 8]> = bound
            .iter()
            .map(|(buffer, offset, range)| vk::DescriptorBufferInfo { buffer: *buffer, offset: *offset, range: *range })
            .collect();
        let writes: SmallVec<[vk::WriteDescriptorSet<'_>; 8]> = self
            .bindings
            .iter()
            .zip(infos.chunks(1))
            .map(|((binding, kind), info)| {
                vk::WriteDescriptorSet::default().dst_set(set).dst_binding(*binding).descriptor_type(kind.descriptor()).buffer_info(info)
            })
            .collect();
        // SAFETY: the set is new, and of that layout.
        unsafe { self.queue.device.update_descriptor_sets(&writes, &[]) };
        drop(writes);
        Ok(DescriptorSet { set, _pool: pool })
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: no submission uses it: recorders keep what theirs use. Null handles are ignored.
        unsafe {
            self.queue.device.destroy_pipeline(self.pipeline, None);
            self.queue.device.destroy_pipeline_layout(self.layout, None);
            self.queue.device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// Memory of some descriptor sets of one layout.
#[derive(Debug)]
struct DescriptorPool {
    queue: Arc<VulkanQueue>,
    pool: vk::DescriptorPool,
    allocating: Mutex<()>,
}

impl DescriptorPool {
    fn new(queue: &Arc<VulkanQueue>, bindings: &[(u32, BindingType)]) -> BackendResult<Self> {
        let mut sizes: SmallVec<[vk::DescriptorPoolSize; 4]> = SmallVec::new();
        for ty in bindings.iter().map(|(_, kind)| kind.descriptor()) {
            match sizes.iter_mut().find(|size| size.ty == ty) {
                Some(size) => size.descriptor_count += SETS,
                None => sizes.push(vk::DescriptorPoolSize { ty, descriptor_count: SETS }),
            }
        }
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(SETS).pool_sizes(&sizes);
        // SAFETY: the device lives as long as `queue`.
        let pool = unsafe { queue.device.create_descriptor_pool(&info, None) }.map_err(error)?;
        Ok(Self { queue: Arc::clone(queue), pool, allocating: Mutex::default() })
    }
}

impl Drop for DescriptorPool {
    fn drop(&mut self) {
        // SAFETY: all of its sets are gone, for they hold it.
        unsafe { self.queue.device.destroy_descriptor_pool(self.pool, None) };
    }
}

/// A descriptor set.
#[derive(Debug)]
pub(crate) struct DescriptorSet {
    set: vk::DescriptorSet,
    _pool: Arc<DescriptorPool>,
}

impl DescriptorSet {
    pub(crate) const fn handle(&self) -> vk::DescriptorSet {
        self.set
    }
}

/// Timestamp queries.
#[derive(Debug)]
pub(crate) struct TimestampQueries {
    queue: Arc<VulkanQueue>,
    pub(crate) pool: vk::QueryPool,
    /// Tells them from those that were made before.
    pub(crate) id: u64,
}

impl TimestampQueries {
    pub(crate) fn new(queue: &Arc<VulkanQueue>, count: u32) -> BackendResult<Self> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count.next_multiple_of(RESET));
        // SAFETY: the device lives as long as `queue`.
        let pool = unsafe { queue.device.create_query_pool(&info, None) }.map_err(error)?;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Ok(Self { queue: Arc::clone(queue), pool, id: NEXT.fetch_add(1, Ordering::Relaxed) })
    }

    /// The first ones, which a complete submission wrote.
    pub(crate) fn values(&self, count: u32) -> BackendResult<Vec<u64>> {
        let mut values = vec![0_u64; count as usize];
        if count > 0 {
            // SAFETY: there are as many, and the driver writes as many words.
            unsafe { self.queue.device.get_query_pool_results(self.pool, 0, &mut values, vk::QueryResultFlags::TYPE_64) }.map_err(error)?;
        }
        Ok(values)
    }
}

impl Drop for TimestampQueries {
    fn drop(&mut self) {
        // SAFETY: who holds a query of a submission holds all of them.
        unsafe { self.queue.device.destroy_query_pool(self.pool, None) };
    }
}
