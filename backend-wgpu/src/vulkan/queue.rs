//! Pipelines, descriptor sets, queries and waits on a Vulkan queue. They replace wgpu's encoders: wgpu tracks the
//! state of every buffer, which takes longer than the execution of many kernels.
//!
//! wgpu still finds and opens devices, and owns the memory of buffers. The
//! [*recorder*](crate::vulkan::command_buffer) fills command buffers. Each submission signals its number on a
//! timeline semaphore, so that any thread can wait for it. wgpu submits nothing on a device that has a [`VulkanQueue`],
//! so the recorder has exclusive access to the queue.
//!
//! # Order
//! Commands see the effects of earlier commands. The recorder tracks which buffers were read and written since its last
//! barrier. It records a barrier before a command that depends on one of these accesses. Independent commands may
//! overlap.
//!
//! # Soundness
//! Owners destroy their handles in `Drop`. The recorder retains the objects of a command buffer until its submission
//! is complete. [`crate::memory::device_memory`] and [`crate::memory::ring`] retain buffers for the same time. All
//! objects hold a reference to the [`VulkanQueue`], which holds one to wgpu's device.

use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use parking_lot::Mutex;
use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult};

use crate::vulkan::error::{backend_error, missing_handle};
use crate::vulkan::pipeline_statistics::{self, Statistics};

/// Descriptor sets per pool.
const SETS_PER_POOL: u32 = 16;
/// Number of queries per reset.
pub(crate) const QUERIES_PER_RESET: u32 = 64;

/// A thread that waits for a GPU spins this long before it sleeps. Waking a thread takes 40 us, which matters less
/// after a long wait. With a spin time of only 0.2 ms, the thread slept in each launch of BabelStream's triad on an
/// H100. A launch took 0.31 ms, 0.27 ms of them on the device.
pub(crate) const SPIN_TIME: Duration = Duration::from_millis(2);

/// Functions of optional extensions that the driver has.
pub(crate) struct ExtensionFunctions {
    pub(crate) clock: Option<ash::ext::calibrated_timestamps::Device>,
    pub(crate) pipeline_statistics: Option<ash::khr::pipeline_executable_properties::Device>,
    pub(crate) semaphores: Option<ash::khr::external_semaphore_fd::Device>,
}

pub(crate) struct VulkanQueue {
    pub(crate) device: ash::Device,
    pub(crate) handle: vk::Queue,
    /// The queue family.
    pub(crate) family: u32,
    /// Whether the host resets queries. `vkCmdResetQueryPool` delays later commands by 2 us on an H100.
    pub(crate) query_reset: bool,
    pub(crate) timeline: vk::Semaphore,
    functions: ExtensionFunctions,
    /// How long a wait spins before it sleeps.
    spin_time: Duration,
    /// Keeps the device alive.
    _owner: wgpu::Device,
}

impl std::fmt::Debug for VulkanQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VulkanQueue").field("handle", &self.handle).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BindingType {
    /// A uniform buffer with a dynamic offset.
    Arguments,
    Uniform,
    Storage,
}

/// The subgroup size that a pipeline requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubgroupMode {
    /// The device has no subgroups.
    None,
    /// Any size that the device offers, as in wgpu.
    Varying,
    Required(u32),
}

impl SubgroupMode {
    /// Returns the mode for a kernel that requires `size`, which the device must support. Returns `self` if the kernel
    /// requires none, or if pipelines of the device cannot request a size.
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
    /// `device` must be the Vulkan device of `owner`, which must not submit commands. `handle` must be a queue of the
    /// device, of family `family`. The device must have timeline semaphores. `functions` must belong to the device, and
    /// their features must be enabled. If `query_reset` is true, the feature hostQueryReset must be enabled.
    pub(crate) unsafe fn new(
        owner: wgpu::Device,
        device: ash::Device,
        (handle, family): (vk::Queue, u32),
        functions: ExtensionFunctions,
        spin_time: Duration,
        query_reset: bool,
    ) -> BackendResult<Arc<Self>> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the caller ensures that the device has timeline semaphores.
        let timeline = unsafe { device.create_semaphore(&info, None) }.map_err(backend_error)?;
        Ok(Arc::new(Self { device, handle, family, query_reset, timeline, functions, spin_time, _owner: owner }))
    }

    /// Returns the number of the last complete submission.
    pub(crate) fn completed(&self) -> BackendResult<u64> {
        // SAFETY: the semaphore lives as long as `self`.
        unsafe { self.device.get_semaphore_counter_value(self.timeline) }.map_err(backend_error)
    }

    /// Waits until a submission is complete.
    pub(crate) fn wait(&self, number: u64) -> BackendResult<()> {
        if self.completed()? >= number {
            return Ok(());
        }
        if !self.spin_time.is_zero() {
            let begin = Instant::now();
            while begin.elapsed() < self.spin_time {
                // This is a pause instruction, which takes 140 cycles on some processors.
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
                Err(result) => return Err(backend_error(result)),
            }
        }
    }

    /// Whether pipelines report their register counts.
    pub(crate) const fn reports_registers(&self) -> bool {
        self.functions.pipeline_statistics.is_some()
    }

    /// Returns the functions for external semaphores, or `None` if the extension is not enabled.
    pub(crate) const fn semaphore_fds(&self) -> Option<&ash::khr::external_semaphore_fd::Device> {
        self.functions.semaphores.as_ref()
    }

    /// Returns simultaneous readings of the device clock in ticks and of CLOCK_MONOTONIC in nanoseconds. Returns `None`
    /// if the driver does not support this.
    pub(crate) fn calibrated_timestamps(&self) -> Option<(u64, u64)> {
        let domains = [vk::TimeDomainKHR::DEVICE, vk::TimeDomainKHR::CLOCK_MONOTONIC];
        let infos = domains.map(|domain| vk::CalibratedTimestampInfoKHR::default().time_domain(domain));
        // SAFETY: `clock` is set only if the extension is enabled and both domains exist.
        let (values, _) = unsafe { self.functions.clock.as_ref()?.get_calibrated_timestamps(&infos) }.ok()?;
        Some((*values.first()?, *values.get(1)?))
    }
}

impl Drop for VulkanQueue {
    fn drop(&mut self) {
        // SAFETY: no submission is pending: the recorder held a reference to this queue until its last submission
        // completed.
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
    /// The number of free sets in the pool, and the pool.
    sets: Mutex<(u32, Option<Arc<DescriptorPool>>)>,
}

impl Pipeline {
    pub(crate) const fn handle(&self) -> vk::Pipeline {
        self.pipeline
    }

    /// Returns the register count and the stack size of the compiled shader.
    pub(crate) const fn statistics(&self) -> Statistics {
        self.statistics
    }

    pub(crate) const fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    /// Creates the pipeline of a SPIR-V module. The driver compiles it, which may take seconds.
    ///
    /// # Safety
    /// The module must be valid for the device and have that entry point. Its bindings of set 0 must be `bindings`. The
    /// device must support the subgroup size and the number of subgroups per group.
    pub(crate) unsafe fn new(
        queue: &Arc<VulkanQueue>,
        words: &[u32],
        entry_point: &str,
        bindings: &[(u32, BindingType)],
        subgroups: SubgroupMode,
    ) -> BackendResult<Self> {
        let device = &queue.device;
        let mut created = Self {
            queue: Arc::clone(queue),
            bindings: bindings.to_vec(),
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
            statistics: Statistics::default(),
            sets: Mutex::default(),
        };
        let entry_point = CString::new(entry_point).map_err(|error| BackendError::Other(error.to_string()))?;
        let set_bindings: Vec<_> = bindings
            .iter()
            .map(|(binding, kind)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(*binding)
                    .descriptor_type(kind.descriptor())
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&set_bindings);
        // SAFETY: the binding numbers differ. Dropping `created` destroys the handle, here and below.
        created.set_layout = unsafe { device.create_descriptor_set_layout(&info, None) }.map_err(backend_error)?;
        let set_layouts = [created.set_layout];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        // SAFETY: the set layout was just created.
        created.layout = unsafe { device.create_pipeline_layout(&info, None) }.map_err(backend_error)?;
        // SAFETY: the caller ensures that the module is valid.
        let module =
            unsafe { device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(words), None) }.map_err(backend_error)?;
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
        let info = vk::ComputePipelineCreateInfo::default().flags(flags).layout(created.layout).stage(stage);
        // SAFETY: every handle in `info` was created above.
        let pipelines = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        // SAFETY: a pipeline needs its module only during creation.
        unsafe { device.destroy_shader_module(module, None) };
        match pipelines {
            Ok(pipelines) => created.pipeline = pipelines.first().copied().ok_or_else(missing_handle)?,
            Err((_, result)) => return Err(backend_error(result)),
        }
        if let Some(functions) = functions {
            // SAFETY: the pipeline was just created with statistics on this device.
            created.statistics = unsafe { pipeline_statistics::statistics(functions, created.pipeline) }?;
        }
        Ok(created)
    }

    /// Creates a descriptor set that binds these buffers, offsets and sizes, in the order of the bindings.
    ///
    /// # Safety
    /// The ranges must be inside the buffers. The buffers must exist while the set is in use.
    pub(crate) unsafe fn create_descriptor_set(&self, bound: &[(vk::Buffer, u64, u64)]) -> BackendResult<DescriptorSet> {
        let pool = {
            let mut sets = self.sets.lock();
            match &mut *sets {
                (left, Some(pool)) if *left > 0 => {
                    *left -= 1;
                    Arc::clone(pool)
                }
                _ => {
                    let pool = Arc::new(DescriptorPool::new(&self.queue, &self.bindings)?);
                    *sets = (SETS_PER_POOL - 1, Some(Arc::clone(&pool)));
                    pool
                }
            }
        };
        let layouts = [self.set_layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool.pool).set_layouts(&layouts);
        let allocated = {
            let _one_at_a_time = pool.allocating.lock();
            // SAFETY: the pool has a free set, and the lock excludes other allocations.
            unsafe { self.queue.device.allocate_descriptor_sets(&info) }.map_err(backend_error)?
        };
        let set = allocated.first().copied().ok_or_else(missing_handle)?;
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
        // SAFETY: the set is new and has this layout.
        unsafe { self.queue.device.update_descriptor_sets(&writes, &[]) };
        drop(writes);
        Ok(DescriptorSet { set, _pool: pool })
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: no submission uses the pipeline, because recorders retain the pipelines of their submissions. Vulkan
        // ignores null handles.
        unsafe {
            self.queue.device.destroy_pipeline(self.pipeline, None);
            self.queue.device.destroy_pipeline_layout(self.layout, None);
            self.queue.device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// A descriptor pool for sets of one layout.
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
                Some(size) => size.descriptor_count += SETS_PER_POOL,
                None => sizes.push(vk::DescriptorPoolSize { ty, descriptor_count: SETS_PER_POOL }),
            }
        }
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(SETS_PER_POOL).pool_sizes(&sizes);
        // SAFETY: the device lives as long as `queue`.
        let pool = unsafe { queue.device.create_descriptor_pool(&info, None) }.map_err(backend_error)?;
        Ok(Self { queue: Arc::clone(queue), pool, allocating: Mutex::default() })
    }
}

impl Drop for DescriptorPool {
    fn drop(&mut self) {
        // SAFETY: no `DescriptorSet` of the pool exists, because each holds a reference to the pool.
        unsafe { self.queue.device.destroy_descriptor_pool(self.pool, None) };
    }
}

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

#[derive(Debug)]
pub(crate) struct TimestampQueries {
    queue: Arc<VulkanQueue>,
    pub(crate) pool: vk::QueryPool,
    /// Unique. (Vulkan may reuse the handle after the pool is destroyed.)
    pub(crate) id: u64,
}

impl TimestampQueries {
    pub(crate) fn new(queue: &Arc<VulkanQueue>, count: u32) -> BackendResult<Self> {
        let info =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count.next_multiple_of(QUERIES_PER_RESET));
        // SAFETY: the device lives as long as `queue`.
        let pool = unsafe { queue.device.create_query_pool(&info, None) }.map_err(backend_error)?;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Ok(Self { queue: Arc::clone(queue), pool, id: NEXT.fetch_add(1, Ordering::Relaxed) })
    }

    /// Returns the first `count` values. The submission that wrote them must be complete.
    pub(crate) fn values(&self, count: u32) -> BackendResult<Vec<u64>> {
        let mut values = vec![0_u64; count as usize];
        if count > 0 {
            // SAFETY: the pool has that many queries, and the driver writes 64 bits per query.
            unsafe { self.queue.device.get_query_pool_results(self.pool, 0, &mut values, vk::QueryResultFlags::TYPE_64) }
                .map_err(backend_error)?;
        }
        Ok(values)
    }
}

impl Drop for TimestampQueries {
    fn drop(&mut self) {
        // SAFETY: every submission that writes a query retains the pool until it completes.
        unsafe { self.queue.device.destroy_query_pool(self.pool, None) };
    }
}
