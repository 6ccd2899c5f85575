//! Vulkan adapters below wgpu: listing them, their facts, and opening them as devices.

use ash::vk;
use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_compiler::target::FloatControls;
use wgpu::hal::{self, api::Vulkan};

use crate::vendor::NVIDIA;
use crate::vulkan::device_facts::{DeviceFacts, SizeLimits, SubgroupSizes};
use crate::vulkan::error::backend_error;
use crate::vulkan::extensions::{
    BUFFER_ADDRESSES, CALIBRATED_TIMESTAMPS, DMA_BUF, HOST_MEMORY, MEMORY_FD, PIPELINE_EXECUTABLES, SEMAPHORE_FD, SHADER_CLOCK,
};
use crate::vulkan::host_memory_import;

/// Instance extensions for windows. An instance with them connects to the display server, which may be absent.
#[cfg(not(target_vendor = "apple"))]
const WINDOW_EXTENSIONS: [&std::ffi::CStr; 4] =
    [ash::khr::xlib_surface::NAME, ash::khr::xcb_surface::NAME, ash::khr::wayland_surface::NAME, ash::khr::win32_surface::NAME];

/// Creates a Vulkan instance without window extensions. Returns `None` if there is no Vulkan driver.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn instance(descriptor: &wgpu::InstanceDescriptor) -> Option<wgpu::Instance> {
    let hal_descriptor = hal::InstanceDescriptor {
        name: "wgcl",
        flags: descriptor.flags,
        memory_budget_thresholds: descriptor.memory_budget_thresholds,
        backend_options: descriptor.backend_options.clone(),
        telemetry: None,
        display: None,
    };
    // SAFETY: wgpu creates the same instance on a machine whose Vulkan has no window extensions. wgpu uses these
    // extensions only if they are in the list.
    let instance = unsafe {
        hal::vulkan::Instance::init_with_callback(
            &hal_descriptor,
            Some(Box::new(|arguments| arguments.extensions.retain(|name| !WINDOW_EXTENSIONS.contains(name)))),
        )
    };
    match instance {
        // SAFETY: the instance was just created, and ownership passes to wgpu.
        Ok(instance) => Some(unsafe { wgpu::Instance::from_hal::<Vulkan>(instance) }),
        Err(error) => {
            tracing::info!("Vulkan is not available: {error}");
            None
        }
    }
}

/// Maximum size in bytes of a buffer and of a binding: some code of wgpu counts in 32 bits.
#[cfg(not(target_vendor = "apple"))]
const MAX_BUFFER: u64 = u32::MAX as u64 & !255;

/// Lists the adapters of a Vulkan instance. Unlike `wgpu::Instance::enumerate_adapters`, this does not prepare the
/// devices for the validation of indirect dispatches.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn adapters(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    // SAFETY: the instance is used only to list its adapters.
    let Some(hal_instance) = (unsafe { instance.as_hal::<Vulkan>() }) else { return Vec::new() };
    // SAFETY: the instance is used only to list its adapters, without a surface.
    let found = unsafe { hal::Instance::enumerate_adapters(hal_instance, None) };
    let exposed = found.into_iter().filter(|exposed| {
        let limits = &exposed.capabilities.limits;
        limits.min_uniform_buffer_offset_alignment.is_power_of_two() && limits.min_storage_buffer_offset_alignment.is_power_of_two()
    });
    exposed
        .map(|mut exposed| {
            let hal::Capabilities { limits, downlevel, .. } = &mut exposed.capabilities;
            // With this flag, wgpu creates pipelines that validate indirect dispatches and draws. wgcl has no such
            // dispatches and draws.
            downlevel.flags.remove(wgpu::DownlevelFlags::INDIRECT_EXECUTION);
            limits.max_buffer_size = limits.max_buffer_size.min(MAX_BUFFER);
            limits.max_storage_buffer_binding_size = limits.max_storage_buffer_binding_size.min(MAX_BUFFER);
            limits.max_uniform_buffer_binding_size = limits.max_uniform_buffer_binding_size.min(MAX_BUFFER);
            // SAFETY: the adapter is this instance's, and its capabilities were only reduced.
            unsafe { instance.create_adapter_from_hal::<Vulkan>(exposed) }
        })
        .collect()
}

/// Queries the facts about an adapter. Returns `None` if it is not a Vulkan adapter.
pub(super) fn device_facts(adapter: &wgpu::Adapter) -> Option<DeviceFacts> {
    let has_subgroups = adapter.features().contains(wgpu::Features::SUBGROUP);
    // SAFETY: the adapter is only queried, and none of its handles is destroyed.
    let adapter = unsafe { adapter.as_hal::<Vulkan>() }?;
    let capabilities = adapter.physical_device_capabilities();
    let instance = adapter.shared_instance().raw_instance();
    let physical = adapter.raw_physical_device();
    let version = capabilities.properties().api_version;
    let mut facts = DeviceFacts { timestamp_period: Some(capabilities.properties().limits.timestamp_period), ..DeviceFacts::default() };

    // SAFETY: the physical device belongs to this instance, which the adapter keeps alive.
    let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
    facts.memory = memory
        .memory_heaps_as_slice()
        .iter()
        .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
        .map(|heap| heap.size)
        .max();
    facts.bar = memory.memory_types_as_slice().iter().any(|kind| {
        let size = memory.memory_heaps.get(kind.heap_index as usize).map(|heap| heap.size);
        kind.property_flags.contains(BAR_MEMORY) && size == facts.memory
    });
    facts.max_groups = Some(capabilities.properties().limits.max_compute_work_group_count);
    // SAFETY: the physical device belongs to this instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    facts.queue_family = compute_queue_family(&families);
    facts.copy_queues = copy_queues(&families);

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
        let imports_host_memory =
            capabilities.supports_extension(HOST_MEMORY) && unsafe { host_memory_import::is_supported(instance, physical) };
        let mut host_import = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        if imports_host_memory {
            properties = properties.push_next(&mut host_import);
        }
        let mut maintenance4 = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
        properties = properties.push_next(&mut maintenance3);
        if capabilities.supports_extension(ash::khr::maintenance4::NAME) {
            properties = properties.push_next(&mut maintenance4);
        }
        // SAFETY: Vulkan 1.2 has the function and the structures of this version. The other structures are in the chain
        // only if their extensions exist.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        // 0 means that the driver reports no limit.
        let buffer = if maintenance4.max_buffer_size == 0 { u64::MAX } else { maintenance4.max_buffer_size };
        facts.size_limits = Some(SizeLimits { buffer, allocation: maintenance3.max_memory_allocation_size });
        facts.uuid = Some((ids.device_uuid, ids.driver_uuid));
        facts.host_import_alignment =
            Some(host_import.min_imported_host_pointer_alignment).filter(|align| imports_host_memory && *align > 0);
        facts.float_controls = float_controls(&controls);
        query_vulkan12_features(instance, physical, &mut facts);
        facts.buffer_addresses &= capabilities.supports_extension(BUFFER_ADDRESSES);
        facts.pipeline_statistics = capabilities.properties().vendor_id == NVIDIA
            && capabilities.supports_extension(PIPELINE_EXECUTABLES)
            && has_pipeline_executables(instance, physical);
        if capabilities.supports_extension(MEMORY_FD) {
            let opaque = external_memory_features(instance, physical, vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
            facts.opaque_fd_memory = opaque.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE);
            facts.exports_opaque_fd = opaque.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE);
            facts.dma_buf_memory = capabilities.supports_extension(DMA_BUF)
                && external_memory_features(instance, physical, vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT)
                    .contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE);
        }
        let has_size_control = version >= vk::API_VERSION_1_3 || capabilities.supports_extension(ash::ext::subgroup_size_control::NAME);
        if has_subgroups && has_size_control {
            facts.subgroups = subgroup_sizes(instance, physical);
        }
        if capabilities.supports_extension(SEMAPHORE_FD) {
            facts.opaque_fd_semaphores = is_shareable(instance, physical, vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD);
        }
        if capabilities.supports_extension(SHADER_CLOCK) {
            query_shader_clocks(instance, physical, &mut facts);
        }
        facts.calibrated_timestamps =
            capabilities.supports_extension(CALIBRATED_TIMESTAMPS) && has_calibrated_clocks(adapter.shared_instance(), physical);
        facts.multiprocessors = multiprocessors.then_some(processors.shader_sm_count).filter(|count| *count > 0);
    }
    Some(facts)
}

/// Properties of device memory that the host can write across the bus.
const BAR_MEMORY: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::DEVICE_LOCAL.as_raw()
        | vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw()
        | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);

/// Returns the first queue family with compute, without graphics, and with 64-bit timestamps. If there is none, returns
/// family 0, which wgpu uses. On an H100, commands on a queue without graphics start 2 to 4 us earlier than on
/// family 0.
fn compute_queue_family(families: &[vk::QueueFamilyProperties]) -> u32 {
    let is_wanted = |family: &vk::QueueFamilyProperties| {
        family.queue_flags.contains(vk::QueueFlags::COMPUTE)
            && !family.queue_flags.contains(vk::QueueFlags::GRAPHICS)
            && family.timestamp_valid_bits == u64::BITS
    };
    (0..).zip(families).find(|(_, family)| is_wanted(family)).map_or(0, |(index, _)| index)
}

/// Returns the number of queues with transfer, and without compute, graphics, video and optical flow.
fn copy_queues(families: &[vk::QueueFamilyProperties]) -> u32 {
    let others = vk::QueueFlags::COMPUTE
        | vk::QueueFlags::GRAPHICS
        | vk::QueueFlags::VIDEO_DECODE_KHR
        | vk::QueueFlags::VIDEO_ENCODE_KHR
        | vk::QueueFlags::OPTICAL_FLOW_NV;
    let copies =
        families.iter().filter(|family| family.queue_flags.contains(vk::QueueFlags::TRANSFER) && !family.queue_flags.intersects(others));
    copies.map(|family| family.queue_count).sum()
}

/// Whether the device clock can be compared with CLOCK_MONOTONIC. The device must have [`CALIBRATED_TIMESTAMPS`].
fn has_calibrated_clocks(instance: &hal::vulkan::InstanceShared, physical: vk::PhysicalDevice) -> bool {
    let functions = ash::ext::calibrated_timestamps::Instance::new(instance.entry(), instance.raw_instance());
    // SAFETY: the physical device has the extension of this function.
    let domains = unsafe { functions.get_physical_device_calibrateable_time_domains(physical) }.unwrap_or_default();
    [vk::TimeDomainKHR::DEVICE, vk::TimeDomainKHR::CLOCK_MONOTONIC].iter().all(|domain| domains.contains(domain))
}

/// Whether semaphores can be imported and exported by handles of this type.
fn is_shareable(instance: &ash::Instance, physical: vk::PhysicalDevice, handle_type: vk::ExternalSemaphoreHandleTypeFlags) -> bool {
    let info = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(handle_type);
    let mut found = vk::ExternalSemaphoreProperties::default();
    // SAFETY: the caller has checked for Vulkan 1.2, which has the function.
    unsafe { instance.get_physical_device_external_semaphore_properties(physical, &info, &mut found) };
    let both = vk::ExternalSemaphoreFeatureFlags::IMPORTABLE | vk::ExternalSemaphoreFeatureFlags::EXPORTABLE;
    found.external_semaphore_features.contains(both)
}

/// Returns whether memory of storage buffers can be imported and exported by handles of this type. The result is empty
/// if the memory requires a dedicated allocation: an allocation that is imported would have to be dedicated to the
/// exporter's buffer.
fn external_memory_features(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    handle_type: vk::ExternalMemoryHandleTypeFlags,
) -> vk::ExternalMemoryFeatureFlags {
    let info = vk::PhysicalDeviceExternalBufferInfo::default().usage(vk::BufferUsageFlags::STORAGE_BUFFER).handle_type(handle_type);
    let mut found = vk::ExternalBufferProperties::default();
    // SAFETY: the caller has checked for Vulkan 1.2, which has the function.
    unsafe { instance.get_physical_device_external_buffer_properties(physical, &info, &mut found) };
    let features = found.external_memory_properties.external_memory_features;
    if features.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY) { vk::ExternalMemoryFeatureFlags::empty() } else { features }
}

/// Returns the subgroup sizes that a compute pipeline may require, or `None` if a pipeline cannot require a size.
/// wgpu-hal enables the feature together with subgroups.
fn subgroup_sizes(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Option<SubgroupSizes> {
    let mut control = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut control);
    let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut sizes);
    // SAFETY: the caller has checked for Vulkan 1.2, which has the functions, and for the extension with the
    // structures.
    unsafe {
        instance.get_physical_device_features2(physical, &mut features);
        instance.get_physical_device_properties2(physical, &mut properties);
    }
    let may = control.subgroup_size_control == vk::TRUE && sizes.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
    may.then_some(SubgroupSizes {
        min: sizes.min_subgroup_size,
        max: sizes.max_subgroup_size,
        max_per_group: sizes.max_compute_workgroup_subgroups,
    })
}

fn query_shader_clocks(instance: &ash::Instance, physical: vk::PhysicalDevice, facts: &mut DeviceFacts) {
    let mut clocks = vk::PhysicalDeviceShaderClockFeaturesKHR::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut clocks);
    // SAFETY: the caller has checked for Vulkan 1.2, which has the function, and for the extension with the structure.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    facts.device_clock = clocks.shader_device_clock == vk::TRUE;
    facts.subgroup_clock = clocks.shader_subgroup_clock == vk::TRUE;
}

/// Whether the feature of [`PIPELINE_EXECUTABLES`] is supported.
fn has_pipeline_executables(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut executables);
    // SAFETY: the caller has checked for Vulkan 1.2, which has the function, and for the extension with the structure.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    executables.pipeline_executable_info == vk::TRUE
}

/// Queries features whose structures are in Vulkan 1.2.
fn query_vulkan12_features(instance: &ash::Instance, physical: vk::PhysicalDevice, facts: &mut DeviceFacts) {
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
    // SAFETY: the caller has checked for Vulkan 1.2, which has the function and the structures.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    facts.int8_storage = storage.storage_buffer8_bit_access == vk::TRUE && arithmetic.shader_int8 == vk::TRUE;
    facts.timeline_semaphores = timelines.timeline_semaphore == vk::TRUE;
    facts.host_query_reset = resets.host_query_reset == vk::TRUE;
    facts.buffer_addresses = addresses.buffer_device_address == vk::TRUE;
}

/// Returns the modes that a shader may set for each floating-point width. If the device cannot set a mode for some
/// widths independently, returns only the modes that all these widths have.
fn float_controls(properties: &vk::PhysicalDeviceFloatControlsProperties<'_>) -> FloatControls {
    let together = |[half, single, double]: [vk::Bool32; 3], independence: vk::ShaderFloatControlsIndependence| {
        let bits = [half, single, double].map(|has| has == vk::TRUE);
        let others = bits[0] && bits[2];
        let usable = match independence {
            vk::ShaderFloatControlsIndependence::ALL => bits,
            vk::ShaderFloatControlsIndependence::TYPE_32_ONLY => [others, bits[1], others],
            _ => [others && bits[1]; 3],
        };
        usable.iter().enumerate().fold(0, |set, (k, has)| set | (u8::from(*has) << k))
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

/// Opens a device with one queue, with the features of `descriptor`, and with the extensions and features of `facts`
/// that wgpu does not enable. Returns `None` if the adapter is not a Vulkan adapter.
pub(crate) fn open(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
    facts: &DeviceFacts,
) -> Option<BackendResult<(wgpu::Device, wgpu::Queue)>> {
    // SAFETY: the adapter is used to open a device in the same way as wgpu.
    let hal_adapter = unsafe { adapter.as_hal::<Vulkan>() }?;
    let opened = match open_hal(&hal_adapter, descriptor, facts) {
        Ok(opened) => opened,
        Err(error) => return Some(Err(error)),
    };
    drop(hal_adapter);
    // SAFETY: the device was just opened on this adapter, with the features and limits of the descriptor.
    let device = unsafe { adapter.create_device_from_hal::<Vulkan>(opened, descriptor) };
    Some(device.map_err(|error| BackendError::Other(error.to_string())))
}

fn open_hal(
    adapter: &hal::vulkan::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
    facts: &DeviceFacts,
) -> BackendResult<hal::OpenDevice<Vulkan>> {
    let features = descriptor.required_features;
    let has_shader_clock = facts.device_clock || facts.subgroup_clock;
    let mut extensions = adapter.required_device_extensions(features);
    for (wanted, name) in [
        (facts.calibrated_timestamps, CALIBRATED_TIMESTAMPS),
        (facts.buffer_addresses, BUFFER_ADDRESSES),
        (facts.pipeline_statistics, PIPELINE_EXECUTABLES),
        (has_shader_clock, SHADER_CLOCK),
        (facts.opaque_fd_memory || facts.dma_buf_memory, MEMORY_FD),
        (facts.dma_buf_memory, DMA_BUF),
        (facts.opaque_fd_semaphores, SEMAPHORE_FD),
        (facts.host_import_alignment.is_some(), HOST_MEMORY),
    ] {
        if wanted && !extensions.contains(&name) {
            extensions.push(name);
        }
    }
    let mut wgpu_features = adapter.physical_device_features(&extensions, features);
    let mut int8_storage = vk::PhysicalDevice8BitStorageFeatures::default().storage_buffer8_bit_access(true);
    let mut query_reset = vk::PhysicalDeviceHostQueryResetFeatures::default().host_query_reset(true);
    let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
    let mut shader_clock = vk::PhysicalDeviceShaderClockFeaturesKHR::default()
        .shader_device_clock(facts.device_clock)
        .shader_subgroup_clock(facts.subgroup_clock);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(facts.queue_family).queue_priorities(&[1.0])];
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
    if facts.int8_storage {
        info = info.push_next(&mut int8_storage);
    }
    if facts.host_query_reset {
        info = info.push_next(&mut query_reset);
    }
    if facts.pipeline_statistics {
        info = info.push_next(&mut executables);
    }
    if has_shader_clock {
        info = info.push_next(&mut shader_clock);
    }
    let info = wgpu_features.add_to_device_create(info);
    let instance = adapter.shared_instance().raw_instance();
    // SAFETY: the physical device is the instance's, and has the extensions, the features and the queue family.
    let device = unsafe { instance.create_device(adapter.raw_physical_device(), &info, None) }.map_err(backend_error)?;
    let (limits, hints) = (&descriptor.required_limits, &descriptor.memory_hints);
    // SAFETY: the device was just created for this queue family. It has these extensions and features. wgpu destroys
    // it.
    unsafe { adapter.device_from_raw(device, None, &extensions, features, limits, hints, facts.queue_family, 0) }
        .map_err(|error| hal_error(&error))
}

pub(super) fn hal_error(error: &hal::DeviceError) -> BackendError {
    match error {
        hal::DeviceError::OutOfMemory => BackendError::OutOfDeviceMemory,
        hal::DeviceError::Lost => BackendError::DeviceLost("wgpu-hal reported a lost device".to_owned()),
        other => BackendError::Other(other.to_string()),
    }
}
