//! An open device of wgpu, and how its errors become ours.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use ash::vk;
use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult, DeviceKind};
use wgcl_api::options::Options;
use wgcl_api::types::host_memory::HostRegion;
use wgcl_runtime::host::memory as host_memory;

use crate::adapter::capabilities::{Capabilities, NEAR, memory, wanted_features};
use crate::adapter::subgroups::required_subgroups;
use crate::buffer::Buffer;
use crate::host::copy_threads::CopyThreads;
use crate::vulkan::hal::{self, Mapping};
use crate::vulkan::queue::{SubgroupMode, VulkanQueue};

/// Bytes of an object of the host's memory from which on it is asked whether there is room.
const LARGE: u64 = 32 << 20;

/// What to wait for.
#[derive(Clone, Debug)]
pub(crate) enum Submission {
    Wgpu(wgpu::SubmissionIndex),
    /// A number of [`VulkanQueue`]'s.
    Vulkan(u64),
}

/// The smallest binding that `WGCL_BINDING_LIMIT` may ask for: several times what pieces share with each other.
const SMALLEST_BINDING: u64 = 512;

/// Bytes of the largest storage binding that a kernel's buffers get.
fn binding_limit(limits: &wgpu::Limits) -> u64 {
    let own = limits.max_storage_buffer_binding_size;
    let asked = Options::get().binding_limit.as_deref().and_then(|text| text.parse::<u64>().ok());
    asked.map_or(own, |asked| asked.max(SMALLEST_BINDING).min(own))
}

/// A buffer that may be freed once a batch is complete, and its bytes.
#[derive(Debug)]
struct DeferredFree {
    serial: u64,
    _buffer: wgpu::Buffer,
    /// The host's memory that it is made of.
    _region: Option<Arc<dyn HostRegion>>,
    bytes: u64,
}

/// An open device.
#[derive(Debug)]
pub(crate) struct Gpu {
    /// The way round wgpu, for commands, where there is one. Then nothing is ever submitted by wgpu.
    pub(crate) vulkan_queue: Option<Arc<VulkanQueue>>,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) features: wgpu::Features,
    pub(crate) limits: wgpu::Limits,
    pub(crate) capabilities: Capabilities,
    /// What the pipelines of shaders ask for.
    pub(crate) subgroups: SubgroupMode,
    /// Bytes that are bound for a kernel's parameter at most: more are bound in pieces.
    pub(crate) binding_limit: u64,
    /// Bytes of the largest buffer that shaders reach by its address.
    largest_buffer: u64,
    /// Whether kernels reach memory by addresses wherever the device can.
    pub(crate) prefers_addresses: bool,
    /// Why the device was lost, once it is.
    lost: Arc<Mutex<Option<String>>>,
    next_id: AtomicU64,
    /// Bytes of memory objects that may exist at a time.
    budget: u64,
    /// Bytes of memory objects that exist.
    used: AtomicU64,
    /// The last batch that is known to be complete.
    completed: AtomicU64,
    deferred_frees: Mutex<Vec<DeferredFree>>,
    has_deferred_frees: AtomicBool,
    pub(crate) copy_threads: CopyThreads,
}

impl Gpu {
    /// Opens a device with all of its adapter's limits and every feature that wgcl can use.
    pub(crate) fn open(adapter: &wgpu::Adapter, capabilities: Capabilities) -> BackendResult<Arc<Self>> {
        let features = adapter.features() & wanted_features();
        let limits = adapter.limits();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("wgcl"),
            required_features: features,
            required_limits: limits.clone(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let mut facts = hal::facts(adapter);
        if !capabilities.vulkan_queue {
            // wgpu's own commands name stages that only the first family is sure to have.
            facts.family = 0;
        }
        let begin = Instant::now();
        let (device, queue) = match hal::open(adapter, &descriptor, &facts) {
            Some(opened) => opened?,
            None => pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| BackendError::Other(error.to_string()))?,
        };
        let commands = if capabilities.vulkan_queue { "Vulkan's own commands" } else { "wgpu's commands" };
        let shaders = if capabilities.spirv { "SPIR-V as it is" } else { "shaders by wgpu" };
        tracing::debug!("{} opened in {:?}: {commands}, {shaders}", adapter.get_info().name, begin.elapsed());
        // A CPU's driver hands out more than there is, and the system then kills the process. GPUs' drivers know their limit.
        let is_cpu = adapter.get_info().device_type == wgpu::DeviceType::Cpu;
        let budget = if is_cpu { memory(DeviceKind::Cpu, &facts) } else { None };
        let lost = Arc::new(Mutex::new(None));
        // wgpu panics on errors that nobody catches, unless told otherwise.
        device.on_uncaptured_error(Arc::new(|error: wgpu::Error| tracing::error!("wgpu: {error}")));
        let place = Arc::clone(&lost);
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                tracing::error!("device lost: {message}");
                place.lock().get_or_insert(message);
            }
        });
        let vulkan_queue = if capabilities.vulkan_queue { hal::raw(&facts, &device, &queue, is_cpu).transpose()? } else { None };
        Ok(Arc::new(Self {
            vulkan_queue,
            device,
            queue,
            features,
            subgroups: match required_subgroups(&adapter.get_info(), &facts, capabilities) {
                Some(size) => SubgroupMode::Required(size),
                None if features.contains(wgpu::Features::SUBGROUP) => SubgroupMode::Varying,
                None => SubgroupMode::None,
            },
            binding_limit: binding_limit(&limits),
            largest_buffer: facts.largest.map_or(limits.max_buffer_size, |(buffer, _)| buffer),
            prefers_addresses: Options::get().addresses.as_deref() == Some("1"),
            limits,
            capabilities,
            lost,
            next_id: AtomicU64::new(1),
            budget: budget.unwrap_or(u64::MAX),
            used: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            deferred_frees: Mutex::default(),
            has_deferred_frees: AtomicBool::new(false),
            copy_threads: CopyThreads::default(),
        }))
    }

    /// Bytes of an object within which offsets take 32 bits.
    pub(crate) fn near_limit(&self) -> u64 {
        let asked = Options::get().binding_limit.is_some();
        if asked { self.binding_limit.min(NEAR) } else { NEAR }
    }

    /// The last batch that is known to be complete.
    pub(crate) fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// A batch, and all before it, are complete.
    pub(crate) fn set_completed(&self, serial: u64) {
        self.completed.fetch_max(serial, Ordering::AcqRel);
        if self.has_deferred_frees.load(Ordering::Acquire) {
            self.run_deferred_frees();
        }
    }

    /// Frees a memory object's buffer, of so many bytes, and gives up the host's memory that it is made of, once a batch is complete. wgpu waits for its own submissions by itself.
    pub(crate) fn free_after(&self, buffer: wgpu::Buffer, serial: u64, bytes: u64, region: Option<Arc<dyn HostRegion>>) {
        if self.vulkan_queue.is_none() || self.completed() >= serial {
            drop(buffer);
            self.release(bytes);
            return;
        }
        self.deferred_frees.lock().push(DeferredFree { serial, _buffer: buffer, _region: region, bytes });
        self.has_deferred_frees.store(true, Ordering::Release);
        // It may have become complete meanwhile, and nothing may come after it.
        self.run_deferred_frees();
    }

    fn run_deferred_frees(&self) {
        let completed = self.completed();
        let free: Vec<DeferredFree> = {
            let mut deferred_frees = self.deferred_frees.lock();
            let (free, kept): (Vec<_>, Vec<_>) = deferred_frees.drain(..).partition(|deferred_frees| deferred_frees.serial <= completed);
            self.has_deferred_frees.store(!kept.is_empty(), Ordering::Release);
            *deferred_frees = kept;
            free
        };
        for deferred_frees in free {
            self.release(deferred_frees.bytes);
        }
    }

    /// Whether pipelines say how many registers their invocations take.
    pub(crate) fn reports_registers(&self) -> bool {
        self.vulkan_queue.as_ref().is_some_and(|queue| queue.reports_registers())
    }

    /// A number that names one buffer or pipeline of this device.
    pub(crate) fn fresh_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Sets memory aside for an object, to be given back by [`Gpu::release`].
    pub(crate) fn reserve(&self, bytes: u64) -> BackendResult<()> {
        let fits = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.budget);
        // Others take memory too. Few bytes are not worth asking.
        if bytes >= LARGE && self.budget < u64::MAX && !host_memory::has_room_for(bytes, self.used.load(Ordering::Relaxed)) {
            return Err(BackendError::OutOfDeviceMemory);
        }
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => Ok(()),
            Err(_) => Err(BackendError::OutOfDeviceMemory),
        }
    }

    /// Gives back what was set aside.
    pub(crate) fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Fails once the device is lost.
    pub(crate) fn check_alive(&self) -> BackendResult<()> {
        match &*self.lost.lock() {
            Some(message) => Err(BackendError::DeviceLost(message.clone())),
            None => Ok(()),
        }
    }

    /// Notes that the device does not answer any more.
    pub(crate) fn set_lost(&self, message: String) {
        self.lost.lock().get_or_insert(message);
    }

    /// Runs `f` and turns the errors that wgpu reports meanwhile on this thread into a result.
    pub(crate) fn scoped<R>(&self, f: impl FnOnce() -> R) -> BackendResult<R> {
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let result = f();
        let memory = pollster::block_on(memory.pop());
        let internal = pollster::block_on(internal.pop());
        let validation = pollster::block_on(validation.pop());
        match memory.or(internal).or(validation) {
            None => Ok(result),
            Some(error) => Err(self.backend_error(&error)),
        }
    }

    fn backend_error(&self, error: &wgpu::Error) -> BackendError {
        if let Err(lost) = self.check_alive() {
            return lost;
        }
        match error {
            wgpu::Error::OutOfMemory { .. } => BackendError::OutOfDeviceMemory,
            wgpu::Error::Validation { description, .. } => BackendError::Other(format!("wgpu: {description}")),
            wgpu::Error::Internal { description, .. } => BackendError::Other(format!("driver: {description}")),
        }
    }

    /// A buffer; its contents are undefined. `mapped` asks for a host address where the device gives one.
    pub(crate) fn buffer(&self, size: u64, usage: wgpu::BufferUsages, mapped: bool) -> BackendResult<(Buffer, Option<Mapping>)> {
        self.check_alive()?;
        let by_address = self.capabilities.addresses && usage.contains(wgpu::BufferUsages::STORAGE);
        let most = if by_address { self.largest_buffer } else { self.limits.max_buffer_size };
        if size == 0 || size > most {
            return Err(BackendError::OutOfDeviceMemory);
        }
        if self.capabilities.vulkan_buffers
            && let Some(made) = self.raw_buffer(size, usage, mapped)
        {
            return made;
        }
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let wgpu = self.scoped(|| self.device.create_buffer(&descriptor))?;
        Ok((Buffer::new(wgpu, vk::Buffer::null(), 0), None))
    }

    fn raw_buffer(&self, size: u64, usage: wgpu::BufferUsages, mapped: bool) -> Option<BackendResult<(Buffer, Option<Mapping>)>> {
        if size >= crate::vulkan::dedicated_allocation::LARGE
            && !mapped
            && !self.capabilities.unified
            && usage.contains(wgpu::BufferUsages::STORAGE)
        {
            let made = hal::large_buffer(&self.device, size, usage);
            if made.is_some() {
                return made;
            }
        }
        hal::raw_buffer(&self.device, size, usage, mapped)
    }

    /// Waits until a submission is complete.
    pub(crate) fn wait(&self, submission: Submission) -> BackendResult<()> {
        let waited = match (submission, &self.vulkan_queue) {
            (Submission::Vulkan(number), Some(queue)) => queue.wait(number).map_err(|error| error.to_string()),
            (Submission::Vulkan(_), None) => Err("there is no such submission".to_owned()),
            (Submission::Wgpu(index), _) => self
                .device
                .poll(wgpu::PollType::Wait { submission_index: Some(index), timeout: None })
                .map(drop)
                .map_err(|error| error.to_string()),
        };
        if let Err(message) = waited {
            self.check_alive()?;
            self.set_lost(message);
        }
        self.check_alive()
    }
}
