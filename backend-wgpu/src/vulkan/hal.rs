//! What lies below wgpu on Vulkan: facts that wgpu does not tell, and buffers that stay mapped and are never cleared.
//!
//! On platforms without Vulkan everything here says that there is nothing.

use std::ptr::NonNull;

use wgcl_compiler::target::FloatControls;

/// TransferFacts about an adapter; `None` where unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeviceFacts {
    /// Bytes of the device's own memory (of all memory on devices that share the host's).
    pub(crate) memory: Option<u64>,
    /// The device's and the driver's UUID.
    pub(crate) uuid: Option<([u8; 16], [u8; 16])>,
    /// NVIDIA's streaming multiprocessors.
    pub(crate) multiprocessors: Option<u32>,
    /// What can be asked of floating point.
    pub(crate) float_controls: FloatControls,
    /// Nanoseconds of one tick.
    pub(crate) timestamp_period: Option<f32>,
    /// Bytes in storage buffers.
    pub(crate) bytes: bool,
    /// Semaphores that count.
    pub(crate) timelines: bool,
    /// The device's clock can be compared with the host's.
    pub(crate) clocks: bool,
    /// The host can write all of the device's own memory.
    pub(crate) window: bool,
    /// The queues to use: of a family that does nothing but compute, where there is one.
    pub(crate) family: u32,
    /// Queries can be reset by the host.
    pub(crate) query_reset: bool,
    /// Shaders can reach buffers by addresses.
    pub(crate) addresses: bool,
    /// The driver tells what its compiler made of a shader.
    pub(crate) pipeline_statistics: bool,
    /// Shaders can read the device's clock.
    pub(crate) device_clock: bool,
    /// Shaders can read a subgroup's clock.
    pub(crate) subgroup_clock: bool,
    /// Memory can be had by a file descriptor of the driver's.
    pub(crate) opaque_memory: bool,
    /// Memory can be had by a file descriptor of a dma_buf.
    pub(crate) dma_buf: bool,
    /// The host's own memory can be the device's, in pieces that begin at multiples of this and have a multiple of it in bytes.
    pub(crate) host_memory: Option<u64>,
    /// Semaphores can be shared by file descriptors of the driver's.
    pub(crate) opaque_semaphores: bool,
    /// Bytes of the largest buffer, and of the largest piece of memory.
    pub(crate) largest: Option<(u64, u64)>,
    /// Groups of a dispatch in each dimension: wgpu knows one number for all three.
    pub(crate) max_groups: Option<[u32; 3]>,
    /// The sizes of subgroups of which a pipeline may require one, where it may.
    pub(crate) subgroups: Option<SubgroupSizes>,
}

/// The sizes that subgroups may be required to have: the powers of two between two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubgroupSizes {
    pub(crate) least: u32,
    pub(crate) most: u32,
    /// SubgroupMode of a work-group at most.
    pub(crate) in_a_group: u32,
}

/// Where the host sees a buffer, for as long as the buffer lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping(pub(crate) NonNull<u8>);

// SAFETY: an address; every access through it is made by `host`, which says why it is sound.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

#[cfg(not(target_vendor = "apple"))]
mod imp {
    use ash::vk;
    use wgcl_api::backend::{BackendError, BackendResult};
    use wgpu::hal::{self, Device as _, api::Vulkan};

    use std::ptr::NonNull;
    use std::sync::Arc;
    use std::time::Duration;

    use super::{DeviceFacts, FloatControls, Mapping, SubgroupSizes};
    use crate::adapter::properties::NVIDIA;
    use crate::buffer::Buffer;
    use crate::vulkan::dedicated_allocation;
    use crate::vulkan::external_memory::{self, Handle};
    use crate::vulkan::host_memory_import;
    use crate::vulkan::queue::{ExtensionFunctions, PATIENCE, VulkanQueue};

    pub(crate) fn facts(adapter: &wgpu::Adapter) -> DeviceFacts {
        let has_subgroups = adapter.features().contains(wgpu::Features::SUBGROUP);
        // SAFETY: the handle is only asked for properties and destroyed by nobody.
        let Some(adapter) = (unsafe { adapter.as_hal::<Vulkan>() }) else { return DeviceFacts::default() };
        let capabilities = adapter.physical_device_capabilities();
        let instance = adapter.shared_instance().raw_instance();
        let physical = adapter.raw_physical_device();
        let version = capabilities.properties().api_version;
        let mut found = DeviceFacts { timestamp_period: Some(capabilities.properties().limits.timestamp_period), ..DeviceFacts::default() };

        // SAFETY: the physical device belongs to this instance, which the adapter keeps alive.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        found.memory = memory
            .memory_heaps_as_slice()
            .iter()
            .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
            .map(|heap| heap.size)
            .max();
        found.window = memory.memory_types_as_slice().iter().any(|kind| {
            let size = memory.memory_heaps.get(kind.heap_index as usize).map(|heap| heap.size);
            kind.property_flags.contains(WINDOW) && size == found.memory
        });
        found.max_groups = Some(capabilities.properties().limits.max_compute_work_group_count);
        found.family = compute_family(instance, physical);

        if version >= vk::API_VERSION_1_2 {
            let multiprocessors = capabilities.supports_extension(ash::nv::shader_sm_builtins::NAME);
            let mut ids = vk::PhysicalDeviceIDProperties::default();
            let mut controls = vk::PhysicalDeviceFloatControlsProperties::default();
            let mut processors = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
            let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut ids).push_next(&mut controls);
            if multiprocessors {
                properties = properties.push_next(&mut processors);
            }
            // SAFETY: the physical device is the instance's, and has the extension.
            let adopts = capabilities.supports_extension(HOST_MEMORY) && unsafe { host_memory_import::is_possible(instance, physical) };
            let mut adopted = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
            if adopts {
                properties = properties.push_next(&mut adopted);
            }
            let mut buffers = vk::PhysicalDeviceMaintenance4Properties::default();
            let mut pieces = vk::PhysicalDeviceMaintenance3Properties::default();
            properties = properties.push_next(&mut pieces);
            if capabilities.supports_extension(ash::khr::maintenance4::NAME) {
                properties = properties.push_next(&mut buffers);
            }
            // SAFETY: Vulkan 1.2 has the function and its own structures; the others are chained only where their extensions exist.
            unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
            // Where the driver does not say, memory is the limit.
            let largest_buffer = if buffers.max_buffer_size == 0 { u64::MAX } else { buffers.max_buffer_size };
            found.largest = Some((largest_buffer, pieces.max_memory_allocation_size));
            found.uuid = Some((ids.device_uuid, ids.driver_uuid));
            found.host_memory = Some(adopted.min_imported_host_pointer_alignment).filter(|align| adopts && *align > 0);
            found.float_controls = float_controls(&controls);
            (found.bytes, found.timelines, found.query_reset, found.addresses) = features(instance, physical);
            found.addresses &= capabilities.supports_extension(ADDRESSES);
            found.pipeline_statistics = capabilities.properties().vendor_id == NVIDIA
                && capabilities.supports_extension(PIPELINE_EXECUTABLES)
                && reports_statistics(instance, physical);
            if capabilities.supports_extension(MEMORY_FD) {
                found.opaque_memory = is_importable(instance, physical, vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
                found.dma_buf = capabilities.supports_extension(DMA_BUF)
                    && is_importable(instance, physical, vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT);
            }
            let can_control = version >= vk::API_VERSION_1_3 || capabilities.supports_extension(ash::ext::subgroup_size_control::NAME);
            if has_subgroups && can_control {
                found.subgroups = subgroup_sizes(instance, physical);
            }
            if capabilities.supports_extension(SEMAPHORE_FD) {
                found.opaque_semaphores = is_shareable(instance, physical, vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD);
            }
            if capabilities.supports_extension(SHADER_CLOCK) {
                (found.device_clock, found.subgroup_clock) = shader_clocks(instance, physical);
            }
            found.clocks = has_clocks(adapter.shared_instance(), physical, &capabilities.supports_extension(CLOCKS));
            found.multiprocessors = multiprocessors.then_some(processors.shader_sm_count).filter(|count| *count > 0);
        }
        found
    }

    /// Memory of the device's that the host writes.
    const WINDOW: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
        vk::MemoryPropertyFlags::DEVICE_LOCAL.as_raw()
            | vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw()
            | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
    );

    /// The first family of queues that compute and do not draw, if its timestamps are whole; else the first of all, which is wgpu's. A command reaches
    /// an H100 2 to 4 us earlier through such a queue.
    fn compute_family(instance: &ash::Instance, physical: vk::PhysicalDevice) -> u32 {
        // SAFETY: the physical device belongs to this instance.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let is_wanted = |family: &vk::QueueFamilyProperties| {
            family.queue_flags.contains(vk::QueueFlags::COMPUTE)
                && !family.queue_flags.contains(vk::QueueFlags::GRAPHICS)
                && family.timestamp_valid_bits == u64::BITS
        };
        families.iter().position(is_wanted).and_then(|index| u32::try_from(index).ok()).unwrap_or(0)
    }

    /// The extension by which clocks are compared.
    const CLOCKS: &std::ffi::CStr = ash::ext::calibrated_timestamps::NAME;

    /// Whether the device's clock can be compared with the host's monotonic one.
    fn has_clocks(instance: &hal::vulkan::InstanceShared, physical: vk::PhysicalDevice, extension: &bool) -> bool {
        let functions = ash::ext::calibrated_timestamps::Instance::new(instance.entry(), instance.raw_instance());
        // SAFETY: the physical device has the extension, whose function this is.
        let domains = || unsafe { functions.get_physical_device_calibrateable_time_domains(physical) }.unwrap_or_default();
        *extension && {
            let domains = domains();
            [vk::TimeDomainKHR::DEVICE, vk::TimeDomainKHR::CLOCK_MONOTONIC].iter().all(|domain| domains.contains(domain))
        }
    }

    /// The extensions by which memory of others comes.
    const MEMORY_FD: &std::ffi::CStr = ash::khr::external_memory_fd::NAME;
    const DMA_BUF: &std::ffi::CStr = ash::ext::external_memory_dma_buf::NAME;

    /// The extension by which the host's memory is the device's too.
    const HOST_MEMORY: &std::ffi::CStr = ash::ext::external_memory_host::NAME;

    /// The extension by which semaphores are shared.
    const SEMAPHORE_FD: &std::ffi::CStr = ash::khr::external_semaphore_fd::NAME;

    /// Whether semaphores can be imported and exported so.
    fn is_shareable(instance: &ash::Instance, physical: vk::PhysicalDevice, kind: vk::ExternalSemaphoreHandleTypeFlags) -> bool {
        let info = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(kind);
        let mut found = vk::ExternalSemaphoreProperties::default();
        // SAFETY: the caller has seen that this is Vulkan 1.2, which has the function.
        unsafe { instance.get_physical_device_external_semaphore_properties(physical, &info, &mut found) };
        let both = vk::ExternalSemaphoreFeatureFlags::IMPORTABLE | vk::ExternalSemaphoreFeatureFlags::EXPORTABLE;
        found.external_semaphore_features.contains(both)
    }

    /// Whether storage buffers can be made of memory of others, of that kind.
    fn is_importable(instance: &ash::Instance, physical: vk::PhysicalDevice, kind: vk::ExternalMemoryHandleTypeFlags) -> bool {
        let info = vk::PhysicalDeviceExternalBufferInfo::default().usage(vk::BufferUsageFlags::STORAGE_BUFFER).handle_type(kind);
        let mut found = vk::ExternalBufferProperties::default();
        // SAFETY: the caller has seen that this is Vulkan 1.2, which has the function.
        unsafe { instance.get_physical_device_external_buffer_properties(physical, &info, &mut found) };
        let features = found.external_memory_properties.external_memory_features;
        // Memory that must be made for one buffer would need to be that of the exporter's.
        features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE) && !features.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY)
    }

    pub(crate) fn imported_buffer(
        device: &wgpu::Device,
        dma_buf: bool,
        fd: i32,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Option<BackendResult<Buffer>> {
        let (hal_device, properties, addressed) = below(device)?;
        let instance = hal_device.shared_instance().raw_instance();
        let raw = hal_device.raw_device();
        let mut handle = Handle { kind: vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD, fd, types: u32::MAX };
        if dma_buf {
            handle.kind = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
            let functions = ash::khr::external_memory_fd::Device::new(instance, raw);
            let mut told = vk::MemoryFdPropertiesKHR::default();
            // SAFETY: the extension is on, as the caller sees to; a descriptor of something else is an error.
            if let Err(result) = unsafe { functions.get_memory_fd_properties(handle.kind, fd, &mut told) } {
                return Some(Err(crate::vulkan::queue::error(result)));
            }
            handle.types = told.memory_type_bits;
        }
        // SAFETY: the size is not zero and within the device's limit, as the callers see to, and the kind can be imported.
        let (buffer, memory, size) = match unsafe { external_memory::make(raw, &properties, &handle, size, addressed) } {
            Ok(made) => made,
            Err(result) => return Some(Err(crate::vulkan::queue::error(result))),
        };
        Some(Ok(of_raw(device, hal_device, (buffer, memory, size), usage)))
    }

    pub(crate) unsafe fn adopted_buffer(
        device: &wgpu::Device,
        memory: (NonNull<u8>, u64),
        usage: wgpu::BufferUsages,
    ) -> Option<BackendResult<Buffer>> {
        let (hal_device, properties, addressed) = below(device)?;
        let instance = hal_device.shared_instance().raw_instance();
        // SAFETY: as the caller promises.
        let (buffer, imported) =
            match unsafe { host_memory_import::make(instance, hal_device.raw_device(), &properties, memory, addressed) } {
                Ok(made) => made,
                Err(result) => return Some(Err(crate::vulkan::queue::error(result))),
            };
        Some(Ok(of_raw(device, hal_device, (buffer, imported, memory.1), usage)))
    }

    /// The device below wgpu's, what memory it has, and whether its buffers have addresses. It is only to be used for what Vulkan needs no synchronisation for.
    fn below(
        device: &wgpu::Device,
    ) -> Option<(impl std::ops::Deref<Target = hal::vulkan::Device>, vk::PhysicalDeviceMemoryProperties, bool)> {
        // SAFETY: what is made by it are buffers and memory for them, as said above.
        let hal_device = unsafe { device.as_hal::<Vulkan>() }?;
        let instance = hal_device.shared_instance().raw_instance();
        // SAFETY: the physical device is this instance's.
        let properties = unsafe { instance.get_physical_device_memory_properties(hal_device.raw_physical_device()) };
        let addressed = hal_device.enabled_device_extensions().contains(&ADDRESSES);
        Some((hal_device, properties, addressed))
    }

    /// wgpu's own of a buffer that has that memory, and so many bytes, for all of these usages.
    fn of_raw(
        device: &wgpu::Device,
        hal_device: impl std::ops::Deref<Target = hal::vulkan::Device>,
        (buffer, memory, size): (vk::Buffer, vk::DeviceMemory, u64),
        usage: wgpu::BufferUsages,
    ) -> Buffer {
        let addressed = hal_device.enabled_device_extensions().contains(&ADDRESSES);
        let place = if addressed { device_address(&hal_device, buffer) } else { 0 };
        // SAFETY: both were just made, for each other; wgpu destroys them.
        let hal_buffer = unsafe { hal::vulkan::Buffer::from_raw_managed(buffer, memory, 0, size) };
        drop(hal_device);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        // SAFETY: as in `raw_buffer`; the buffer has all of these usages.
        let wgpu = unsafe { device.create_buffer_from_hal::<Vulkan>(hal_buffer, &descriptor) };
        Buffer::new(wgpu, buffer, place)
    }

    /// The sizes of which a compute pipeline may require one, if it may: the feature, which wgpu's layer switches on with subgroups, and the stage.
    fn subgroup_sizes(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Option<SubgroupSizes> {
        let mut control = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut control);
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut sizes);
        // SAFETY: the caller has seen that this is Vulkan 1.2, which has the functions, and the extension with the structures.
        unsafe {
            instance.get_physical_device_features2(physical, &mut features);
            instance.get_physical_device_properties2(physical, &mut properties);
        }
        let may = control.subgroup_size_control == vk::TRUE && sizes.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
        may.then_some(SubgroupSizes {
            least: sizes.min_subgroup_size,
            most: sizes.max_subgroup_size,
            in_a_group: sizes.max_compute_workgroup_subgroups,
        })
    }

    /// The extension by which shaders read clocks.
    const SHADER_CLOCK: &std::ffi::CStr = ash::khr::shader_clock::NAME;

    /// Whether shaders may read the device's clock and a subgroup's.
    fn shader_clocks(instance: &ash::Instance, physical: vk::PhysicalDevice) -> (bool, bool) {
        let mut clocks = vk::PhysicalDeviceShaderClockFeaturesKHR::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut clocks);
        // SAFETY: the caller has seen that this is Vulkan 1.2, which has the function, and the extension with the structure.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        (clocks.shader_device_clock == vk::TRUE, clocks.shader_subgroup_clock == vk::TRUE)
    }

    /// The extension by which shaders reach buffers by addresses. wgpu's layer switches it on, and allocates memory for it, where it is among the extensions.
    const ADDRESSES: &std::ffi::CStr = ash::khr::buffer_device_address::NAME;

    /// The extension by which the driver tells what its compiler made of a shader.
    const PIPELINE_EXECUTABLES: &std::ffi::CStr = ash::khr::pipeline_executable_properties::NAME;

    /// Whether the feature of [`PIPELINE_EXECUTABLES`] is there.
    fn reports_statistics(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
        let mut pipeline_statistics = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut pipeline_statistics);
        // SAFETY: the caller has seen that this is Vulkan 1.2, which has the function, and the extension, which has the structure.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        pipeline_statistics.pipeline_executable_info == vk::TRUE
    }

    /// Whether shaders may use bytes, and storage buffers may hold them; whether there are timeline semaphores; whether the host may reset queries; whether
    /// buffers have addresses. Structures of Vulkan 1.2.
    fn features(instance: &ash::Instance, physical: vk::PhysicalDevice) -> (bool, bool, bool, bool) {
        let mut storage = vk::PhysicalDevice8BitStorageFeatures::default();
        let mut arithmetic = vk::PhysicalDeviceShaderFloat16Int8Features::default();
        let mut timelines = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut resets = vk::PhysicalDeviceHostQueryResetFeatures::default();
        let mut addresses = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut storage)
            .push_next(&mut arithmetic)
            .push_next(&mut timelines)
            .push_next(&mut resets)
            .push_next(&mut addresses);
        // SAFETY: the caller has seen that this is Vulkan 1.2, which has the function and the structures.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        let bytes = storage.storage_buffer8_bit_access == vk::TRUE && arithmetic.shader_int8 == vk::TRUE;
        let is_on = |feature: vk::Bool32| feature == vk::TRUE;
        (bytes, is_on(timelines.timeline_semaphore), is_on(resets.host_query_reset), is_on(addresses.buffer_device_address))
    }

    /// Opens a device with what wgpu knows nothing of: storage buffers that hold bytes (it has shaders' bytes switched on by itself), a clock that can
    /// be compared with the host's, queries that the host resets, and a queue that only computes in place of one that draws as well: one queue is all that is
    /// used, and another would be made for nothing.
    pub(crate) fn open(
        adapter: &wgpu::Adapter,
        descriptor: &wgpu::DeviceDescriptor<'_>,
        facts: &DeviceFacts,
    ) -> Option<BackendResult<(wgpu::Device, wgpu::Queue)>> {
        // SAFETY: the adapter is used to open a device, as wgpu does it.
        let hal_adapter = unsafe { adapter.as_hal::<Vulkan>() }?;
        let opened = match open_hal(&hal_adapter, descriptor, facts) {
            Ok(opened) => opened,
            Err(error) => return Some(Err(error)),
        };
        drop(hal_adapter);
        // SAFETY: the device was just opened on this adapter, with the features and limits of the descriptor.
        let made = unsafe { adapter.create_device_from_hal::<Vulkan>(opened, descriptor) };
        Some(made.map_err(|error| BackendError::Other(error.to_string())))
    }

    fn open_hal(
        adapter: &hal::vulkan::Adapter,
        descriptor: &wgpu::DeviceDescriptor<'_>,
        facts: &DeviceFacts,
    ) -> BackendResult<hal::OpenDevice<Vulkan>> {
        let DeviceFacts { bytes: has_bytes, clocks, family, query_reset, addresses, pipeline_statistics, .. } = *facts;
        let features = descriptor.required_features;
        let mut extensions = adapter.required_device_extensions(features);
        if clocks && !extensions.contains(&CLOCKS) {
            extensions.push(CLOCKS);
        }
        if addresses && !extensions.contains(&ADDRESSES) {
            extensions.push(ADDRESSES);
        }
        if pipeline_statistics {
            extensions.push(PIPELINE_EXECUTABLES);
        }
        if facts.device_clock || facts.subgroup_clock {
            extensions.push(SHADER_CLOCK);
        }
        let semaphores = facts.opaque_semaphores;
        for (wanted, name) in [
            (facts.opaque_memory || facts.dma_buf, MEMORY_FD),
            (facts.dma_buf, DMA_BUF),
            (semaphores, SEMAPHORE_FD),
            (facts.host_memory.is_some(), HOST_MEMORY),
        ] {
            if wanted && !extensions.contains(&name) {
                extensions.push(name);
            }
        }
        let mut known = adapter.physical_device_features(&extensions, features);
        let mut bytes = vk::PhysicalDevice8BitStorageFeatures::default().storage_buffer8_bit_access(true);
        let mut resets = vk::PhysicalDeviceHostQueryResetFeatures::default().host_query_reset(true);
        let mut told = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
        let mut shader_clock = vk::PhysicalDeviceShaderClockFeaturesKHR::default()
            .shader_device_clock(facts.device_clock)
            .shader_subgroup_clock(facts.subgroup_clock);
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        if has_bytes {
            info = info.push_next(&mut bytes);
        }
        if query_reset {
            info = info.push_next(&mut resets);
        }
        if pipeline_statistics {
            info = info.push_next(&mut told);
        }
        if facts.device_clock || facts.subgroup_clock {
            info = info.push_next(&mut shader_clock);
        }
        let info = known.add_to_device_create(info);
        let instance = adapter.shared_instance().raw_instance();
        // SAFETY: the physical device is the instance's, and has the extensions, the features and the family of queues.
        let device = unsafe { instance.create_device(adapter.raw_physical_device(), &info, None) }.map_err(crate::vulkan::queue::error)?;
        let (limits, hints) = (&descriptor.required_limits, &descriptor.memory_hints);
        // SAFETY: just made, for that family, with wgpu's extensions and features and what is named above; wgpu destroys it.
        unsafe { adapter.device_from_raw(device, None, &extensions, features, limits, hints, family, 0) }
            .map_err(|error| device_error(&error))
    }

    /// The modes that may be set for any subset of the widths that a shader uses: where widths depend on each other, only those that all of
    /// the dependent ones have.
    fn float_controls(properties: &vk::PhysicalDeviceFloatControlsProperties<'_>) -> FloatControls {
        let together = |[half, single, double]: [vk::Bool32; 3], independence: vk::ShaderFloatControlsIndependence| {
            let bits = [half, single, double].map(|has| has == vk::TRUE);
            let others = bits[0] && bits[2];
            let kept = match independence {
                vk::ShaderFloatControlsIndependence::ALL => bits,
                vk::ShaderFloatControlsIndependence::TYPE_32_ONLY => [others, bits[1], others],
                _ => [others && bits[1]; 3],
            };
            kept.iter().enumerate().fold(0, |set, (k, has)| set | (u8::from(*has) << k))
        };
        FloatControls {
            signed_zero_inf_nan_preserve: together(
                [
                    properties.shader_signed_zero_inf_nan_preserve_float16,
                    properties.shader_signed_zero_inf_nan_preserve_float32,
                    properties.shader_signed_zero_inf_nan_preserve_float64,
                ],
                vk::ShaderFloatControlsIndependence::ALL,
            ),
            denorm_preserve: together(
                [
                    properties.shader_denorm_preserve_float16,
                    properties.shader_denorm_preserve_float32,
                    properties.shader_denorm_preserve_float64,
                ],
                properties.denorm_behavior_independence,
            ),
            rounding_mode_rte: together(
                [
                    properties.shader_rounding_mode_rte_float16,
                    properties.shader_rounding_mode_rte_float32,
                    properties.shader_rounding_mode_rte_float64,
                ],
                properties.rounding_mode_independence,
            ),
        }
    }

    /// Extensions of windows: an instance with them connects to the display server, which may not be there.
    const WINDOWS: [&std::ffi::CStr; 3] = [ash::khr::xlib_surface::NAME, ash::khr::xcb_surface::NAME, ash::khr::wayland_surface::NAME];

    pub(crate) fn instance(descriptor: &wgpu::InstanceDescriptor) -> Option<wgpu::Instance> {
        let hal_descriptor = hal::InstanceDescriptor {
            name: "wgcl",
            flags: descriptor.flags,
            memory_budget_thresholds: descriptor.memory_budget_thresholds,
            backend_options: descriptor.backend_options.clone(),
            telemetry: None,
            display: None,
        };
        // SAFETY: the instance is as wgpu makes it on a machine whose Vulkan has no windows: it looks for these extensions in the list
        // before it uses them.
        let instance = unsafe {
            hal::vulkan::Instance::init_with_callback(
                &hal_descriptor,
                Some(Box::new(|arguments| arguments.extensions.retain(|name| !WINDOWS.contains(name)))),
            )
        };
        match instance {
            // SAFETY: just made, and given away.
            Ok(instance) => Some(unsafe { wgpu::Instance::from_hal::<Vulkan>(instance) }),
            Err(error) => {
                tracing::info!("no Vulkan: {error}");
                None
            }
        }
    }

    /// Largest size of a buffer, and of what is bound of one: wgpu counts in 32 bits in places.
    const LARGEST: u64 = u32::MAX as u64 & !255;

    pub(crate) fn adapters(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
        // SAFETY: the instance is only asked for its adapters.
        let Some(hal_instance) = (unsafe { instance.as_hal::<Vulkan>() }) else { return Vec::new() };
        // SAFETY: as above; there is no surface.
        let found = unsafe { hal::Instance::enumerate_adapters(hal_instance, None) };
        let exposed = found.into_iter().filter(|exposed| {
            let limits = &exposed.capabilities.limits;
            limits.min_uniform_buffer_offset_alignment.is_power_of_two() && limits.min_storage_buffer_offset_alignment.is_power_of_two()
        });
        exposed
            .map(|mut exposed| {
                let hal::Capabilities { limits, downlevel, .. } = &mut exposed.capabilities;
                // For a device that can do it, wgpu makes pipelines that check the arguments of indirect dispatches and draws, of which we have none.
                downlevel.flags.remove(wgpu::DownlevelFlags::INDIRECT_EXECUTION);
                limits.max_buffer_size = limits.max_buffer_size.min(LARGEST);
                limits.max_storage_buffer_binding_size = limits.max_storage_buffer_binding_size.min(LARGEST);
                limits.max_uniform_buffer_binding_size = limits.max_uniform_buffer_binding_size.min(LARGEST);
                // SAFETY: the adapter is this instance's, and nothing was added to what it can do.
                unsafe { instance.create_adapter_from_hal::<Vulkan>(exposed) }
            })
            .collect()
    }

    pub(crate) fn raw_buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages, mapped: bool) -> Option<super::RawBuffer> {
        // SAFETY: the device is only used to create and map a buffer, both of which it synchronises by itself.
        let hal_device = unsafe { device.as_hal::<Vulkan>() }?;
        let mut uses = hal_usage(usage);
        // Memory that is only read by the host is better cached: gpu-allocator tells by the flags.
        if mapped && !uses.contains(wgpu::wgt::BufferUses::MAP_READ) {
            uses |= wgpu::wgt::BufferUses::MAP_WRITE;
        }
        let has_address = hal_device.enabled_device_extensions().contains(&ADDRESSES) && usage.contains(wgpu::BufferUsages::STORAGE);
        if has_address {
            // wgpu's name for a storage buffer that has an address.
            uses |= wgpu::wgt::BufferUses::ACCELERATION_STRUCTURE_SCRATCH;
        }
        let descriptor = hal::BufferDescriptor { label: None, size, usage: uses, memory_flags: hal::MemoryFlags::PREFER_COHERENT };
        // SAFETY: the size is not zero and within the device's limit, as the callers see to.
        let buffer = match unsafe { hal_device.create_buffer(&descriptor) } {
            Ok(buffer) => buffer,
            Err(error) => return Some(Err(device_error(&error))),
        };
        let mut address = None;
        if mapped {
            // SAFETY: the buffer was made for mapping, and the range is its own. It is unmapped by being destroyed.
            match unsafe { hal_device.map_buffer(&buffer, 0..size) } {
                Ok(mapping) if mapping.is_coherent => address = Some(Mapping(mapping.ptr)),
                Ok(_) | Err(_) => {
                    // SAFETY: nothing has used it yet.
                    unsafe { hal_device.destroy_buffer(buffer) };
                    return Some(Err(BackendError::Other("the driver offers no coherent mapping".to_owned())));
                }
            }
        }
        // SAFETY: who gets the handle destroys nothing.
        let raw = unsafe { buffer.raw_handle() };
        let place = if has_address { device_address(&hal_device, raw) } else { 0 };
        drop(hal_device);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        // SAFETY: the buffer comes from this device, was made with these usages, and its contents may be anything: everything that is read
        // of it was written by the application, or is undefined in OpenCL as well.
        let wgpu = unsafe { device.create_buffer_from_hal::<Vulkan>(buffer, &descriptor) };
        Some(Ok((Buffer::new(wgpu, raw, place), address)))
    }

    /// The address of a buffer that was made to have one.
    fn device_address(device: &hal::vulkan::Device, buffer: vk::Buffer) -> u64 {
        // SAFETY: the feature is on, Vulkan 1.2 has the function, and the buffer has the usage and memory for it.
        unsafe { device.raw_device().get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer)) }
    }

    pub(crate) fn large_buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> Option<super::RawBuffer> {
        let (hal_device, memory, addressed) = below(device)?;
        // SAFETY: the size is not zero and within the device's limit, as the callers see to.
        let (buffer, memory) = match unsafe { dedicated_allocation::make(hal_device.raw_device(), &memory, size, addressed) } {
            Ok(made) => made,
            // There is no such memory: any other does.
            Err(vk::Result::ERROR_FEATURE_NOT_PRESENT) => return None,
            Err(result) => return Some(Err(crate::vulkan::queue::error(result))),
        };
        Some(Ok((of_raw(device, hal_device, (buffer, memory, size), usage), None)))
    }

    pub(crate) fn raw(
        facts: &DeviceFacts,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        is_cpu: bool,
    ) -> Option<BackendResult<Arc<VulkanQueue>>> {
        // SAFETY: the handles are used as long as the device lives, which the result holds.
        let (hal_device, hal_queue) = unsafe { (device.as_hal::<Vulkan>()?, queue.as_hal::<Vulkan>()?) };
        let (raw_device, raw_queue, family) = (hal_device.raw_device().clone(), hal_queue.as_raw(), hal_device.queue_family_index());
        let has_clocks = hal_device.enabled_device_extensions().contains(&CLOCKS);
        let clock =
            has_clocks.then(|| ash::ext::calibrated_timestamps::Device::new(hal_device.shared_instance().raw_instance(), &raw_device));
        let pipeline_statistics = hal_device
            .enabled_device_extensions()
            .contains(&PIPELINE_EXECUTABLES)
            .then(|| ash::khr::pipeline_executable_properties::Device::new(hal_device.shared_instance().raw_instance(), &raw_device));
        let semaphores = hal_device
            .enabled_device_extensions()
            .contains(&SEMAPHORE_FD)
            .then(|| ash::khr::external_semaphore_fd::Device::new(hal_device.shared_instance().raw_instance(), &raw_device));
        drop((hal_device, hal_queue));
        // A CPU has something better to do than to look again and again.
        let patience = if is_cpu { Duration::ZERO } else { PATIENCE };
        // SAFETY: these are the device's own, which has timeline semaphores, and wgpu is never asked to submit anything.
        Some(unsafe {
            let told = ExtensionFunctions { clock, pipeline_statistics, semaphores };
            VulkanQueue::new(device.clone(), raw_device, (raw_queue, family), told, patience, facts.query_reset)
        })
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

    fn device_error(error: &hal::DeviceError) -> BackendError {
        match error {
            hal::DeviceError::OutOfMemory => BackendError::OutOfDeviceMemory,
            hal::DeviceError::Lost => BackendError::DeviceLost("while a buffer was made".to_owned()),
            other => BackendError::Other(other.to_string()),
        }
    }
}

#[cfg(target_vendor = "apple")]
mod imp {
    use wgcl_api::backend::BackendResult;

    use super::{DeviceFacts, Mapping};

    pub(crate) fn facts(_: &wgpu::Adapter) -> DeviceFacts {
        DeviceFacts::default()
    }

    pub(crate) fn instance(_: &wgpu::InstanceDescriptor) -> Option<wgpu::Instance> {
        None
    }

    pub(crate) fn adapters(_: &wgpu::Instance) -> Vec<wgpu::Adapter> {
        Vec::new()
    }

    pub(crate) fn open(
        _: &wgpu::Adapter,
        _: &wgpu::DeviceDescriptor<'_>,
        _: &DeviceFacts,
    ) -> Option<BackendResult<(wgpu::Device, wgpu::Queue)>> {
        None
    }

    pub(crate) fn raw_buffer(_: &wgpu::Device, _: u64, _: wgpu::BufferUsages, _: bool) -> Option<super::RawBuffer> {
        None
    }

    pub(crate) fn large_buffer(_: &wgpu::Device, _: u64, _: wgpu::BufferUsages) -> Option<super::RawBuffer> {
        None
    }

    pub(crate) fn imported_buffer(
        _: &wgpu::Device,
        _: bool,
        _: i32,
        _: u64,
        _: wgpu::BufferUsages,
    ) -> Option<BackendResult<crate::buffer::Buffer>> {
        None
    }

    pub(crate) unsafe fn adopted_buffer(
        _: &wgpu::Device,
        _: (std::ptr::NonNull<u8>, u64),
        _: wgpu::BufferUsages,
    ) -> Option<BackendResult<crate::buffer::Buffer>> {
        None
    }

    pub(crate) fn raw(
        _: &DeviceFacts,
        _: &wgpu::Device,
        _: &wgpu::Queue,
        _: bool,
    ) -> Option<BackendResult<std::sync::Arc<crate::vulkan::queue::VulkanQueue>>> {
        None
    }
}

/// TransferFacts about an adapter.
pub(crate) fn facts(adapter: &wgpu::Adapter) -> DeviceFacts {
    imp::facts(adapter)
}

/// An instance of Vulkan alone that knows nothing of windows. `None` where there is no Vulkan.
pub(crate) fn instance(descriptor: &wgpu::InstanceDescriptor) -> Option<wgpu::Instance> {
    imp::instance(descriptor)
}

/// The adapters of an instance of ours. Not as wgpu would list them: it would prepare each device for checks of what is never used.
pub(crate) fn adapters(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    imp::adapters(instance)
}

/// A device with more than wgpu itself switches on ([`DeviceFacts::bytes`]), and a single queue. `None` where there is no Vulkan: then wgpu opens it.
pub(crate) fn open(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
    facts: &DeviceFacts,
) -> Option<wgcl_api::backend::BackendResult<(wgpu::Device, wgpu::Queue)>> {
    imp::open(adapter, descriptor, facts)
}

/// A buffer made by Vulkan directly, with undefined contents: wgpu's own are cleared when first used. `mapped` asks for an address that is
/// good for the buffer's life. `None` where the device is not Vulkan's.
pub(crate) fn raw_buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages, mapped: bool) -> Option<RawBuffer> {
    imp::raw_buffer(device, size, usage, mapped)
}

/// As [`raw_buffer`], with memory of its own that the host does not see ([`crate::vulkan::dedicated_allocation`]). `None` where the device has none, too.
pub(crate) fn large_buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> Option<RawBuffer> {
    imp::large_buffer(device, size, usage)
}

/// A buffer of memory that others have made: of a dma_buf, or by a descriptor of the driver's, which belongs to the buffer if there is one. It may have more bytes than are asked for.
/// `None` where the device is not Vulkan's.
pub(crate) fn imported_buffer(
    device: &wgpu::Device,
    dma_buf: bool,
    fd: i32,
    size: u64,
    usage: wgpu::BufferUsages,
) -> Option<wgcl_api::backend::BackendResult<crate::buffer::Buffer>> {
    imp::imported_buffer(device, dma_buf, fd, size, usage)
}

/// A buffer of so many bytes of the host's own memory ([`crate::vulkan::host_memory_import`]). `None` where the device is not Vulkan's.
///
/// # Safety
/// The device has [`DeviceFacts::host_memory`], of which address and size are multiples; the size is not zero and within the device's limit. The bytes stay where they are for as long as
/// the buffer.
pub(crate) unsafe fn adopted_buffer(
    device: &wgpu::Device,
    memory: (NonNull<u8>, u64),
    usage: wgpu::BufferUsages,
) -> Option<wgcl_api::backend::BackendResult<crate::buffer::Buffer>> {
    // SAFETY: as the caller promises.
    unsafe { imp::adopted_buffer(device, memory, usage) }
}

type RawBuffer = wgcl_api::backend::BackendResult<(crate::buffer::Buffer, Option<Mapping>)>;

/// The way round wgpu for commands on a device with timeline semaphores. `None` where the device is not Vulkan's.
pub(crate) fn raw(
    facts: &DeviceFacts,
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    is_cpu: bool,
) -> Option<wgcl_api::backend::BackendResult<std::sync::Arc<crate::vulkan::queue::VulkanQueue>>> {
    imp::raw(facts, device, queue, is_cpu)
}
