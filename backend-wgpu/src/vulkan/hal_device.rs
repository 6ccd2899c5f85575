//! The Vulkan device below wgpu: buffers that stay mapped and are never cleared, imported memory, and the queue.

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use wgcl_api::backend::{BackendError, BackendResult, ExternalMemory};
use wgpu::hal::{self, Device as _, api::Vulkan};

use crate::buffer::Buffer;
use crate::context_lock::ContextLock;
use crate::host::mapping::Mapping;
use crate::vulkan::dedicated_allocation;
use crate::vulkan::device::VulkanDevice;
use crate::vulkan::device_facts::DeviceFacts;
use crate::vulkan::error::backend_error;
use crate::vulkan::extensions::{BUFFER_ADDRESSES, CALIBRATED_TIMESTAMPS, PIPELINE_EXECUTABLES, SEMAPHORE_FD};
use crate::vulkan::external_memory::{self, Exportable, ExportedMemory};
use crate::vulkan::hal_adapter::hal_error;
use crate::vulkan::host_memory_import;
use crate::vulkan::queue::{ExtensionFunctions, SPIN_TIME, VulkanQueue};

/// A wgpu device that is a Vulkan device.
pub(crate) struct HalDevice(wgpu::Device);

impl fmt::Debug for HalDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HalDevice")
    }
}

impl HalDevice {
    /// Returns the Vulkan device below a wgpu device, or `None` if it is not a Vulkan device.
    pub(crate) fn open(device: &wgpu::Device) -> Option<Box<dyn VulkanDevice>> {
        // SAFETY: the handle is not used.
        let is_vulkan = unsafe { device.as_hal::<Vulkan>() }.is_some();
        is_vulkan.then(|| Box::new(Self(device.clone())) as Box<dyn VulkanDevice>)
    }

    /// Returns the device below wgpu. Callers may use it only for calls that need no external synchronisation, such as
    /// creating buffers and memory.
    fn hal(&self) -> BackendResult<impl Deref<Target = hal::vulkan::Device>> {
        // SAFETY: callers create buffers, memory and queues with it and destroy nothing that wgpu owns.
        unsafe { self.0.as_hal::<Vulkan>() }
            .ok_or_else(|| BackendError::Other("internal error: the device is not a Vulkan device".to_owned()))
    }

    /// Creates wgpu's buffer for a Vulkan buffer and its memory, which have `size` bytes and support `usage`. wgpu
    /// destroys both.
    fn wrap(
        &self,
        hal_device: impl Deref<Target = hal::vulkan::Device>,
        (buffer, memory): (vk::Buffer, vk::DeviceMemory),
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Buffer {
        let address = if has_addresses(&hal_device) { device_address(&hal_device, buffer) } else { 0 };
        // SAFETY: the buffer and the memory were just created for each other. wgpu destroys both.
        let hal_buffer = unsafe { hal::vulkan::Buffer::from_raw_managed(buffer, memory, 0, size) };
        drop(hal_device);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        // SAFETY: the buffer is this device's and supports all of `usage`. Its contents are undefined, as those of a
        // new OpenCL buffer are.
        let wgpu = unsafe { self.0.create_buffer_from_hal::<Vulkan>(hal_buffer, &descriptor) };
        Buffer::new(ContextLock::NONE.guard(wgpu), buffer, address)
    }
}

fn has_addresses(device: &hal::vulkan::Device) -> bool {
    device.enabled_device_extensions().contains(&BUFFER_ADDRESSES)
}

fn memory_properties(device: &hal::vulkan::Device) -> vk::PhysicalDeviceMemoryProperties {
    // SAFETY: the physical device is this instance's.
    unsafe { device.shared_instance().raw_instance().get_physical_device_memory_properties(device.raw_physical_device()) }
}

/// Returns the address of a buffer that was created with the usage for an address.
fn device_address(device: &hal::vulkan::Device, buffer: vk::Buffer) -> u64 {
    // SAFETY: the feature is enabled, Vulkan 1.2 has the function, and the buffer has the usage and memory for it.
    unsafe { device.raw_device().get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer)) }
}

impl VulkanDevice for HalDevice {
    fn buffer(&self, size: u64, usage: wgpu::BufferUsages, mapped: bool) -> BackendResult<(Buffer, Option<Mapping>)> {
        let hal_device = self.hal()?;
        let mut uses = hal_usage(usage);
        // gpu-allocator chooses the memory by the usage, and MAP_READ selects memory that the CPU caches. A buffer that
        // the host only writes gets MAP_WRITE, and thus memory that the CPU does not cache.
        if mapped && !uses.contains(wgpu::wgt::BufferUses::MAP_READ) {
            uses |= wgpu::wgt::BufferUses::MAP_WRITE;
        }
        let has_address = has_addresses(&hal_device) && usage.contains(wgpu::BufferUsages::STORAGE);
        if has_address {
            // With this flag, wgpu-hal creates the storage buffer with an address.
            uses |= wgpu::wgt::BufferUses::ACCELERATION_STRUCTURE_SCRATCH;
        }
        let descriptor = hal::BufferDescriptor { label: None, size, usage: uses, memory_flags: hal::MemoryFlags::PREFER_COHERENT };
        // SAFETY: the size is not zero and within the device's limit, as the callers ensure.
        let buffer = unsafe { hal_device.create_buffer(&descriptor) }.map_err(|error| hal_error(&error))?;
        let mut mapping = None;
        if mapped {
            // SAFETY: the buffer was created for mapping, and the range is its own. Destroying the buffer unmaps it.
            match unsafe { hal_device.map_buffer(&buffer, 0..size) } {
                Ok(found) if found.is_coherent => mapping = Some(Mapping(found.ptr)),
                Ok(_) | Err(_) => {
                    // SAFETY: nothing has used the buffer yet.
                    unsafe { hal_device.destroy_buffer(buffer) };
                    let message = format!("the memory of a buffer of {size} bytes cannot be mapped, or is not host-coherent");
                    return Err(BackendError::Other(message));
                }
            }
        }
        // SAFETY: users of the handle do not destroy it.
        let handle = unsafe { buffer.raw_handle() };
        let address = if has_address { device_address(&hal_device, handle) } else { 0 };
        drop(hal_device);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        // SAFETY: the buffer is this device's and was created with these usages. Its contents are undefined, as
        // those of a new OpenCL buffer are.
        let wgpu = unsafe { self.0.create_buffer_from_hal::<Vulkan>(buffer, &descriptor) };
        Ok((Buffer::new(ContextLock::NONE.guard(wgpu), handle, address), mapping))
    }

    fn dedicated_buffer(&self, size: u64, usage: wgpu::BufferUsages) -> BackendResult<Option<Buffer>> {
        let hal_device = self.hal()?;
        let properties = memory_properties(&hal_device);
        // SAFETY: the size is not zero and within the device's limit, as the callers ensure.
        match unsafe { dedicated_allocation::create(hal_device.raw_device(), &properties, size, has_addresses(&hal_device)) } {
            Ok(created) => Ok(Some(self.wrap(hal_device, created, size, usage))),
            Err(vk::Result::ERROR_FEATURE_NOT_PRESENT) => Ok(None),
            Err(result) => Err(backend_error(result)),
        }
    }

    fn import_fd(&self, kind: ExternalMemory, fd: i32, size: u64, usage: wgpu::BufferUsages) -> BackendResult<Buffer> {
        let hal_device = self.hal()?;
        // SAFETY: the physical device is this instance's.
        let closes_rejected =
            unsafe { external_memory::closes_rejected(hal_device.shared_instance().raw_instance(), hal_device.raw_physical_device()) };
        let handle_type = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
        let mut exported = ExportedMemory { handle_type, fd, closes_rejected, memory_types: u32::MAX };
        if kind == ExternalMemory::DmaBuf {
            exported.handle_type = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
            let instance = hal_device.shared_instance().raw_instance();
            let functions = ash::khr::external_memory_fd::Device::new(instance, hal_device.raw_device());
            let mut properties = vk::MemoryFdPropertiesKHR::default();
            // SAFETY: the callers ensure that the extension is enabled. For a file descriptor of another kind, the
            // driver returns an error.
            unsafe { functions.get_memory_fd_properties(exported.handle_type, fd, &mut properties) }.map_err(backend_error)?;
            exported.memory_types = properties.memory_type_bits;
        }
        let properties = memory_properties(&hal_device);
        let (device, addressed) = (hal_device.raw_device(), has_addresses(&hal_device));
        // SAFETY: the size is not zero and within the device's limit, as the callers ensure, and the handle type can
        // be imported.
        let (buffer, memory, size) =
            unsafe { external_memory::import(device, &properties, &exported, size, addressed) }.map_err(backend_error)?;
        Ok(self.wrap(hal_device, (buffer, memory), size, usage))
    }

    fn exportable_buffer(&self, size: u64, usage: wgpu::BufferUsages) -> BackendResult<(Buffer, i32, u64)> {
        let hal_device = self.hal()?;
        let properties = memory_properties(&hal_device);
        let (device, addressed) = (hal_device.raw_device(), has_addresses(&hal_device));
        let functions = ash::khr::external_memory_fd::Device::new(hal_device.shared_instance().raw_instance(), device);
        // SAFETY: the size is not zero and within the device's limit, as the callers ensure. They also ensure that the
        // device exports opaque file descriptors.
        let created = unsafe { external_memory::create_exportable(device, &functions, &properties, size, addressed) };
        let Exportable { buffer, memory, allocated, fd } = created.map_err(backend_error)?;
        Ok((self.wrap(hal_device, (buffer, memory), size, usage), fd, allocated))
    }

    unsafe fn import_host(&self, start: NonNull<u8>, size: u64, usage: wgpu::BufferUsages) -> BackendResult<Buffer> {
        let hal_device = self.hal()?;
        let instance = hal_device.shared_instance().raw_instance();
        let properties = memory_properties(&hal_device);
        let (device, addressed) = (hal_device.raw_device(), has_addresses(&hal_device));
        // SAFETY: the caller ensures the requirements.
        let created =
            unsafe { host_memory_import::create(instance, device, &properties, (start, size), addressed) }.map_err(backend_error)?;
        Ok(self.wrap(hal_device, created, size, usage))
    }

    fn queue(&self, queue: &wgpu::Queue, facts: &DeviceFacts, is_cpu: bool) -> BackendResult<Arc<VulkanQueue>> {
        let hal_device = self.hal()?;
        // SAFETY: the handle is used while the device lives, which the result holds.
        let hal_queue = unsafe { queue.as_hal::<Vulkan>() }
            .ok_or_else(|| BackendError::Other("internal error: the queue is not a Vulkan queue".to_owned()))?;
        let (device, handle, family) = (hal_device.raw_device().clone(), hal_queue.as_raw(), hal_device.queue_family_index());
        let enabled = hal_device.enabled_device_extensions();
        let instance = hal_device.shared_instance().raw_instance();
        let functions = ExtensionFunctions {
            clock: enabled.contains(&CALIBRATED_TIMESTAMPS).then(|| ash::ext::calibrated_timestamps::Device::new(instance, &device)),
            pipeline_statistics: enabled
                .contains(&PIPELINE_EXECUTABLES)
                .then(|| ash::khr::pipeline_executable_properties::Device::new(instance, &device)),
            semaphores: enabled.contains(&SEMAPHORE_FD).then(|| ash::khr::external_semaphore_fd::Device::new(instance, &device)),
        };
        drop((hal_device, hal_queue));
        // On a CPU device, a thread that spins would take a core from the kernels.
        let spin_time = if is_cpu { Duration::ZERO } else { SPIN_TIME };
        // SAFETY: the handles belong to the device, which has timeline semaphores. wgpu never submits work.
        unsafe { VulkanQueue::new(self.0.clone(), device, (handle, family), functions, spin_time, facts.host_query_reset) }
    }
}

fn hal_usage(usage: wgpu::BufferUsages) -> wgpu::wgt::BufferUses {
    use wgpu::BufferUsages as From;
    use wgpu::wgt::BufferUses as To;
    let pairs = [
        (From::MAP_READ, To::MAP_READ),
        (From::MAP_WRITE, To::MAP_WRITE),
        (From::COPY_SRC, To::COPY_SRC),
        (From::COPY_DST, To::COPY_DST),
        (From::UNIFORM, To::UNIFORM),
        (From::STORAGE, To::STORAGE_READ_WRITE | To::STORAGE_READ_ONLY),
        (From::QUERY_RESOLVE, To::QUERY_RESOLVE),
    ];
    pairs.into_iter().filter(|(from, _)| usage.contains(*from)).fold(To::empty(), |all, (_, to)| all | to)
}
