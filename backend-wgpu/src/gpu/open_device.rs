//! An open wgpu device. It maps wgpu's errors to the backend's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use ash::vk;
use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult, DeviceKind};
use wgcl_api::options::Options;
use wgcl_api::types::host_memory::HostRegion;
use wgcl_compiler::launch::MAX_SMALL_IMAGE;
use wgcl_runtime::host::memory as host_memory;

use crate::adapter::capabilities::{Capabilities, NEAR, memory, wanted_features};
use crate::adapter::properties::pci_address;
use crate::adapter::subgroups::required_subgroup_size;
use crate::buffer::Buffer;
use crate::context_lock::{ContextLock, Guarded};
use crate::host::copy_threads::CopyThreads;
use crate::host::mapping::Mapping;
use crate::vendor::clock_boost::ClockBoost;
use crate::vulkan::dedicated_allocation;
use crate::vulkan::device::VulkanDevice;
use crate::vulkan::device_facts::DeviceFacts;
use crate::vulkan::queue::{SubgroupMode, VulkanQueue};

/// An allocation of at least this many bytes on a CPU device first checks the machine's free memory.
const MIN_CHECKED_ALLOCATION: u64 = 32 << 20;

/// A submission to wait for.
#[derive(Clone, Debug)]
pub(crate) enum Submission {
    Wgpu(wgpu::SubmissionIndex),
    /// The number of a submission to the [`VulkanQueue`].
    Vulkan(u64),
}

/// The smallest `WGCL_BINDING_LIMIT`. Split bindings overlap by 128 bytes or more
/// ([`SplitBindings::WIDEST`](wgcl_compiler::launch::SplitBindings::WIDEST)).
const SMALLEST_BINDING: u64 = 512;

/// Returns the maximum size in bytes of a storage binding: the device's limit, or a smaller `WGCL_BINDING_LIMIT`.
fn binding_limit(limits: &wgpu::Limits) -> u64 {
    let device_limit = limits.max_storage_buffer_binding_size;
    let requested = Options::get().binding_limit.as_deref().and_then(|text| text.parse::<u64>().ok());
    requested.map_or(device_limit, |requested| requested.max(SMALLEST_BINDING).min(device_limit))
}

/// A buffer to be freed once batch `serial` is complete.
#[derive(Debug)]
struct DeferredFree {
    serial: u64,
    _buffer: Guarded<wgpu::Buffer>,
    /// The imported host memory, if the buffer has any.
    _region: Option<Arc<dyn HostRegion>>,
    bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Gpu {
    /// The device below wgpu, for buffers. `None` unless [`Capabilities::vulkan_buffers`] is set.
    vulkan: Option<Box<dyn VulkanDevice>>,
    /// Submits commands without wgpu's encoders. `None` if the device does not support this. If it is set, wgpu submits
    /// nothing.
    pub(crate) vulkan_queue: Option<Arc<VulkanQueue>>,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    /// To be held during calls into wgpu that are not in [`Gpu::scoped`].
    pub(crate) context_lock: ContextLock,
    pub(crate) features: wgpu::Features,
    pub(crate) limits: wgpu::Limits,
    pub(crate) capabilities: Capabilities,
    /// The subgroup size that pipelines request.
    pub(crate) subgroups: SubgroupMode,
    /// Maximum size in bytes of a storage binding. Larger buffers are split across several bindings.
    pub(crate) binding_limit: u64,
    /// Maximum size in bytes of a buffer that shaders access by address.
    largest_buffer: u64,
    /// Whether kernels access all buffers by address if the device supports it (`WGCL_ADDRESSES=1`).
    pub(crate) prefers_addresses: bool,
    /// Why the device was lost. `None` if it is not lost.
    lost: Arc<Mutex<Option<String>>>,
    next_id: AtomicU64,
    /// Limit of `used`, in bytes.
    budget: u64,
    /// Bytes of all memory objects.
    used: AtomicU64,
    /// Serial number of the last batch that is known to be complete.
    completed: AtomicU64,
    deferred_frees: Mutex<Vec<DeferredFree>>,
    has_deferred_frees: AtomicBool,
    pub(crate) copy_threads: CopyThreads,
    clock_boost: Option<ClockBoost>,
}

/// Logs the errors that no error scope catches. Without a handler, wgpu panics on them.
pub(crate) fn log_uncaptured_errors(device: &wgpu::Device) {
    device.on_uncaptured_error(Arc::new(|error: wgpu::Error| tracing::error!("unexpected error of wgpu or the driver: {error}")));
}

impl Gpu {
    /// Opens a device with all of its adapter's limits and every feature that wgcl can use.
    pub(crate) fn open(adapter: &wgpu::Adapter, capabilities: Capabilities) -> BackendResult<Arc<Self>> {
        let info = adapter.get_info();
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
        let mut facts = DeviceFacts::of(adapter);
        if !capabilities.vulkan_queue {
            // wgpu's encoders use pipeline stages that only the first queue family supports for certain.
            facts.queue_family = 0;
        }
        let begin = Instant::now();
        let (device, queue) = open_device(adapter, &descriptor, &facts)?;
        let commands = if capabilities.vulkan_queue { "Vulkan command buffers" } else { "wgpu command encoders" };
        let shaders = if capabilities.spirv { "SPIR-V passthrough" } else { "naga shaders" };
        tracing::debug!("opened {} in {:?} ({commands}, {shaders})", info.name, begin.elapsed());
        // A driver that runs on the CPU allocates more memory than the machine has, and the system then kills the
        // process. GPU drivers need no budget, because they reject such allocations.
        let is_cpu = info.device_type == wgpu::DeviceType::Cpu;
        let budget = if is_cpu { memory(DeviceKind::Cpu, &facts) } else { None };
        let context_lock = ContextLock::of(info.backend);
        let lost = Arc::new(Mutex::new(None));
        log_uncaptured_errors(&device);
        let reason = Arc::clone(&lost);
        device.set_device_lost_callback(move |cause, message| {
            if cause != wgpu::DeviceLostReason::Destroyed {
                tracing::error!("device lost: {message}");
                reason.lock().get_or_insert(message);
            }
        });
        let vulkan = if capabilities.vulkan_buffers { vulkan_device(&device) } else { None };
        let vulkan_queue = match &vulkan {
            Some(vulkan) if capabilities.vulkan_queue => Some(vulkan.queue(&queue, &facts, is_cpu)?),
            _ => None,
        };
        let clock_boost = ClockBoost::new(info.vendor, pci_address(&info));
        let opened = Self {
            vulkan,
            vulkan_queue,
            device,
            queue,
            context_lock,
            features,
            subgroups: match required_subgroup_size(&info, &facts, capabilities) {
                Some(size) => SubgroupMode::Required(size),
                None if features.contains(wgpu::Features::SUBGROUP) => SubgroupMode::Varying,
                None => SubgroupMode::None,
            },
            binding_limit: binding_limit(&limits),
            largest_buffer: facts.size_limits.map_or(limits.max_buffer_size, |limits| limits.buffer),
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
            clock_boost,
        };
        // The clocks rise while the application builds its programs.
        opened.request_high_clocks();
        Ok(Arc::new(opened))
    }

    /// Requests high clocks for the next seconds, if the driver supports such requests. Called before each submission.
    pub(crate) fn request_high_clocks(&self) {
        if let Some(boost) = &self.clock_boost {
            boost.refresh();
        }
    }

    /// Returns the maximum size in bytes of an object within which shaders use 32-bit offsets.
    pub(crate) fn near_limit(&self) -> u64 {
        let is_requested = Options::get().binding_limit.is_some();
        if is_requested { self.binding_limit.min(NEAR) } else { NEAR }
    }

    /// Returns the maximum size in bytes of an image within which shaders use 32-bit offsets.
    pub(crate) fn small_image(&self) -> u64 {
        let is_requested = Options::get().binding_limit.is_some();
        if is_requested { self.near_limit() } else { MAX_SMALL_IMAGE }
    }

    /// Returns the serial number of the last batch that is known to be complete.
    pub(crate) fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Reports that batch `serial` and all batches before it are complete.
    pub(crate) fn set_completed(&self, serial: u64) {
        self.completed.fetch_max(serial, Ordering::AcqRel);
        if self.has_deferred_frees.load(Ordering::Acquire) {
            self.run_deferred_frees();
        }
    }

    /// Frees a memory object of `bytes` bytes once batch `serial` is complete, and then releases the imported host
    /// memory. Without a Vulkan queue, the buffer is dropped at once: wgpu frees it after its own submissions.
    pub(crate) fn free_after(&self, buffer: Guarded<wgpu::Buffer>, serial: u64, bytes: u64, region: Option<Arc<dyn HostRegion>>) {
        if self.vulkan_queue.is_none() || self.completed() >= serial {
            drop(buffer);
            self.release(bytes);
            return;
        }
        self.deferred_frees.lock().push(DeferredFree { serial, _buffer: buffer, _region: region, bytes });
        self.has_deferred_frees.store(true, Ordering::Release);
        // The batch may have completed meanwhile. If it was the last batch, no later call would free the buffer.
        self.run_deferred_frees();
    }

    fn run_deferred_frees(&self) {
        let completed = self.completed();
        let free: Vec<DeferredFree> = {
            let mut deferred_frees = self.deferred_frees.lock();
            let (free, rest): (Vec<_>, Vec<_>) = deferred_frees.drain(..).partition(|free| free.serial <= completed);
            self.has_deferred_frees.store(!rest.is_empty(), Ordering::Release);
            *deferred_frees = rest;
            free
        };
        for deferred in free {
            self.release(deferred.bytes);
        }
    }

    /// Whether pipelines report their register counts.
    pub(crate) fn reports_registers(&self) -> bool {
        self.vulkan_queue.as_ref().is_some_and(|queue| queue.reports_registers())
    }

    /// Returns a number that is unique among the memory objects, staging buffers and pipelines of this device.
    pub(crate) fn fresh_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Reserves memory for an object. [`Gpu::release`] frees the reservation. Fails if the budget, or the free memory
    /// of the machine of a CPU device, is exceeded.
    pub(crate) fn reserve(&self, bytes: u64) -> BackendResult<()> {
        let fits = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.budget);
        // The budget does not count the memory of other processes. The check of the free memory is too slow for small
        // objects.
        if bytes >= MIN_CHECKED_ALLOCATION && self.budget < u64::MAX && !host_memory::has_room_for(bytes, self.used.load(Ordering::Relaxed))
        {
            return Err(BackendError::OutOfDeviceMemory);
        }
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => Ok(()),
            Err(_) => Err(BackendError::OutOfDeviceMemory),
        }
    }

    /// Frees a reservation.
    pub(crate) fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Fails if the device is lost.
    pub(crate) fn check_alive(&self) -> BackendResult<()> {
        match &*self.lost.lock() {
            Some(message) => Err(BackendError::DeviceLost(message.clone())),
            None => Ok(()),
        }
    }

    /// Marks the device as lost.
    pub(crate) fn set_lost(&self, message: String) {
        self.lost.lock().get_or_insert(message);
    }

    /// Runs `f`. Fails if wgpu reports an error on this thread meanwhile.
    pub(crate) fn scoped<R>(&self, f: impl FnOnce() -> R) -> BackendResult<R> {
        let _context = self.context_lock.lock();
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

    /// Creates a buffer with undefined contents. `mapped` requests a host address, which not all devices provide.
    pub(crate) fn buffer(&self, size: u64, usage: wgpu::BufferUsages, mapped: bool) -> BackendResult<(Buffer, Option<Mapping>)> {
        self.check_alive()?;
        let by_address = self.capabilities.addresses && usage.contains(wgpu::BufferUsages::STORAGE);
        let max_size = if by_address { self.largest_buffer } else { self.limits.max_buffer_size };
        if size == 0 || size > max_size {
            return Err(BackendError::OutOfDeviceMemory);
        }
        if let Some(vulkan) = &self.vulkan {
            return self.vulkan_buffer(&**vulkan, size, usage, mapped);
        }
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let wgpu = self.scoped(|| self.device.create_buffer(&descriptor))?;
        Ok((Buffer::new(self.context_lock.guard(wgpu), vk::Buffer::null(), 0), None))
    }

    fn vulkan_buffer(
        &self,
        vulkan: &dyn VulkanDevice,
        size: u64,
        usage: wgpu::BufferUsages,
        mapped: bool,
    ) -> BackendResult<(Buffer, Option<Mapping>)> {
        let is_dedicated = size >= dedicated_allocation::MIN_SIZE && !mapped && !self.capabilities.unified;
        if is_dedicated
            && usage.contains(wgpu::BufferUsages::STORAGE)
            && let Some(buffer) = vulkan.dedicated_buffer(size, usage)?
        {
            return Ok((buffer, None));
        }
        vulkan.buffer(size, usage, mapped)
    }

    /// Returns the Vulkan device below wgpu, for imported memory. Fails if the device has no Vulkan device.
    pub(crate) fn vulkan(&self) -> BackendResult<&dyn VulkanDevice> {
        let unsupported = || BackendError::Other("memory can be imported only on devices with a Vulkan driver".to_owned());
        self.vulkan.as_deref().ok_or_else(unsupported)
    }

    /// Waits until a submission is complete.
    pub(crate) fn wait(&self, submission: Submission) -> BackendResult<()> {
        let _context = self.context_lock.lock();
        let waited = match (submission, &self.vulkan_queue) {
            (Submission::Vulkan(number), Some(queue)) => queue.wait(number).map_err(|error| error.to_string()),
            (Submission::Vulkan(_), None) => Err("internal error: a Vulkan submission on a device without a Vulkan queue".to_owned()),
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

fn open_device(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
    #[cfg_attr(target_vendor = "apple", expect(unused_variables, reason = "there is no Vulkan"))] facts: &DeviceFacts,
) -> BackendResult<(wgpu::Device, wgpu::Queue)> {
    #[cfg(not(target_vendor = "apple"))]
    if let Some(opened) = crate::vulkan::hal_adapter::open(adapter, descriptor, facts) {
        return opened;
    }
    pollster::block_on(adapter.request_device(descriptor)).map_err(|error| BackendError::Other(error.to_string()))
}

#[cfg(not(target_vendor = "apple"))]
fn vulkan_device(device: &wgpu::Device) -> Option<Box<dyn VulkanDevice>> {
    crate::vulkan::hal_device::HalDevice::open(device)
}

#[cfg(target_vendor = "apple")]
fn vulkan_device(_: &wgpu::Device) -> Option<Box<dyn VulkanDevice>> {
    None
}
