//! Devices and their queries (OpenCL API 4.2, 4.3).

use wgcl_api::commands::command_buffer::mutable_dispatch::DispatchFields;
use wgcl_api::objects::device::opencl_version::version_text;
use wgcl_api::objects::device::partition::Partition;
use wgcl_api::objects::device::{Device, PRINTF_BUFFER_SIZE};
use wgcl_api::objects::pipe;
use wgcl_api::objects::platform::{NAME, Platform};
use wgcl_api::objects::queue::{MAX_ON_DEVICE, MAX_ON_DEVICE_EVENTS, MAX_SIZE, PREFERRED_SIZE};
use wgcl_api::objects::semaphore::TYPE_BINARY;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::flags::DeviceType;
use wgcl_api::types::version::NameVersion;

use crate::check;
use crate::ffi::{BytesMut, List, Out, OutList};
use crate::handles;
use crate::info::Query;
use crate::platform::platform;
use wgcl_opencl_headers::{
    _cl_device_id, CL_DEVICE_ADDRESS_BITS, CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, CL_DEVICE_AVAILABLE,
    CL_DEVICE_BUILT_IN_KERNELS, CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR,
    CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV,
    CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES,
    CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL, CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_ENDIAN_LITTLE, CL_DEVICE_ERROR_CORRECTION_SUPPORT,
    CL_DEVICE_EXECUTION_CAPABILITIES, CL_DEVICE_EXTENSIONS, CL_DEVICE_EXTENSIONS_WITH_VERSION,
    CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR, CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE,
    CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, CL_DEVICE_GLOBAL_MEM_SIZE,
    CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, CL_DEVICE_GPU_OVERLAP_NV, CL_DEVICE_HALF_FP_CONFIG,
    CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_DEVICE_IL_VERSION, CL_DEVICE_ILS_WITH_VERSION,
    CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE,
    CL_DEVICE_IMAGE_PITCH_ALIGNMENT, CL_DEVICE_IMAGE_SUPPORT, CL_DEVICE_IMAGE2D_MAX_HEIGHT, CL_DEVICE_IMAGE2D_MAX_WIDTH,
    CL_DEVICE_IMAGE3D_MAX_DEPTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_WIDTH,
    CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR,
    CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR, CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR,
    CL_DEVICE_INTEGRATED_MEMORY_NV, CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV, CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED,
    CL_DEVICE_LINKER_AVAILABLE, CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_LOCAL_MEM_TYPE, CL_DEVICE_LUID_KHR, CL_DEVICE_LUID_VALID_KHR,
    CL_DEVICE_MAX_CLOCK_FREQUENCY, CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_CONSTANT_ARGS, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE,
    CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR, CL_DEVICE_MAX_NUM_SUB_GROUPS,
    CL_DEVICE_MAX_ON_DEVICE_EVENTS, CL_DEVICE_MAX_ON_DEVICE_QUEUES, CL_DEVICE_MAX_PARAMETER_SIZE, CL_DEVICE_MAX_PIPE_ARGS,
    CL_DEVICE_MAX_READ_IMAGE_ARGS, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, CL_DEVICE_MAX_SAMPLERS, CL_DEVICE_MAX_WORK_GROUP_SIZE,
    CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, CL_DEVICE_MAX_WORK_ITEM_SIZES, CL_DEVICE_MAX_WRITE_IMAGE_ARGS, CL_DEVICE_MEM_BASE_ADDR_ALIGN,
    CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR, CL_DEVICE_NAME, CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, CL_DEVICE_NODE_MASK_KHR,
    CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_DEVICE_NUMERIC_VERSION, CL_DEVICE_OPENCL_C_ALL_VERSIONS, CL_DEVICE_OPENCL_C_FEATURES,
    CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, CL_DEVICE_OPENCL_C_VERSION, CL_DEVICE_PARENT_DEVICE, CL_DEVICE_PARTITION_AFFINITY_DOMAIN,
    CL_DEVICE_PARTITION_MAX_SUB_DEVICES, CL_DEVICE_PARTITION_PROPERTIES, CL_DEVICE_PARTITION_TYPE, CL_DEVICE_PCI_BUS_INFO_KHR,
    CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, CL_DEVICE_PIPE_MAX_PACKET_SIZE, CL_DEVICE_PIPE_SUPPORT, CL_DEVICE_PLATFORM,
    CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT,
    CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT,
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
    CL_DEVICE_PRINTF_BUFFER_SIZE, CL_DEVICE_PROFILE, CL_DEVICE_PROFILING_TIMER_RESOLUTION, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE,
    CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES,
    CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT, CL_DEVICE_QUEUE_SUPPORTED, CL_DEVICE_REFERENCE_COUNT, CL_DEVICE_REGISTERS_PER_BLOCK_NV,
    CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, CL_DEVICE_SEMAPHORE_TYPES_KHR,
    CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL, CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, CL_DEVICE_SINGLE_FP_CONFIG,
    CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, CL_DEVICE_SUB_GROUP_SIZES_INTEL, CL_DEVICE_SVM_CAPABILITIES,
    CL_DEVICE_SVM_CAPABILITIES_ARM, CL_DEVICE_TYPE, CL_DEVICE_TYPE_ALL, CL_DEVICE_UUID_KHR, CL_DEVICE_VENDOR, CL_DEVICE_VENDOR_ID,
    CL_DEVICE_VERSION, CL_DEVICE_WARP_SIZE_NV, CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, CL_DRIVER_UUID_KHR, CL_DRIVER_VERSION,
    CL_EXEC_KERNEL, CL_EXEC_NATIVE_KERNEL, CL_GLOBAL, CL_LOCAL, CL_LUID_SIZE_KHR, CL_NONE, CL_READ_WRITE_CACHE, cl_device_id,
    cl_device_info, cl_device_partition_property, cl_device_partition_property_ext, cl_device_type, cl_platform_id, cl_uint, cl_ulong,
};

/// CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR, which the headers of the bindings do not have yet.
const COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES: cl_device_info = 0x129A;

/// CL_DEVICE_COMMAND_BUFFER_NUM_SYNC_DEVICES_KHR and CL_DEVICE_COMMAND_BUFFER_SYNC_DEVICES_KHR, which the headers of
/// the bindings do not have yet.
const NUM_SYNC_DEVICES: cl_device_info = 0x12AB;
const SYNC_DEVICES: cl_device_info = 0x12AC;

/// The result of CL_DEVICE_LUID_KHR. CL_DEVICE_LUID_VALID_KHR is false, because only the UUIDs are known.
const NO_LUID: [u8; CL_LUID_SIZE_KHR as usize] = [0; CL_LUID_SIZE_KHR as usize];

/// Alias in upper case. Rust warns about the lower-case `x` in the name of the constant if a pattern contains it.
const DOT_PRODUCT_4X8BIT_PACKED: cl_device_info = CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR;

/// Queries of cl_ext_float_atomics, which the headers of the bindings do not have yet.
const SINGLE_FP_ATOMIC_CAPABILITIES: cl_device_info = 0x4231;
const DOUBLE_FP_ATOMIC_CAPABILITIES: cl_device_info = 0x4232;
const HALF_FP_ATOMIC_CAPABILITIES: cl_device_info = 0x4233;

/// Queries of cl_khr_spirv_queries, which the headers of the bindings do not have yet.
const SPIRV_EXTENDED_INSTRUCTION_SETS: cl_device_info = 0x12B9;
const SPIRV_EXTENSIONS: cl_device_info = 0x12BA;
const SPIRV_CAPABILITIES: cl_device_info = 0x12BB;

/// CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR, which the headers of the bindings lack.
const ASSUME_LINEAR_IMAGES: cl_device_info = 0x2052;

/// CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR, which the headers of the bindings do not have yet.
const KERNEL_CLOCK_CAPABILITIES: cl_device_info = 0x1076;

/// Queries of cl_nv_device_attribute_query that the headers of the bindings do not have.
const DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT_NV: cl_device_info = 0x4007;
const DEVICE_PCI_BUS_ID_NV: cl_device_info = 0x4008;
const DEVICE_PCI_SLOT_ID_NV: cl_device_info = 0x4009;
const DEVICE_PCI_DOMAIN_ID_NV: cl_device_info = 0x400A;

/// Returns the addresses of strings that are never freed.
fn addresses(names: &[&'static std::ffi::CStr]) -> Vec<usize> {
    names.iter().map(|name| name.as_ptr().addr()).collect()
}

fn names(versions: Vec<NameVersion>, separator: &str) -> String {
    let names: Vec<_> = versions.into_iter().map(|v| v.name).collect();
    names.join(separator)
}

/// Returns the value of a device query.
fn device_info(device: &std::sync::Arc<Device>, param: cl_device_info, query: &Query) -> Result<()> {
    let (properties, target) = (device.properties(), device.target());
    let double = u32::from(target.language.fp64);
    let half = u32::from(target.language.fp16);
    let images = device.image_limits();
    match param {
        CL_DEVICE_TYPE => query.put(device.device_type().bits()),
        CL_DEVICE_VENDOR_ID => query.put(properties.vendor_id),
        CL_DEVICE_MAX_COMPUTE_UNITS => query.put(properties.compute_units.max(1)),
        CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => query.put(3u32),
        CL_DEVICE_MAX_WORK_ITEM_SIZES => query.put(properties.max_group_size.map(|n| n as usize)),
        CL_DEVICE_MAX_WORK_GROUP_SIZE => query.put(properties.max_group_invocations as usize),
        // On every device, one lane executes one work-item, so vectors are not faster than scalars.
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_INT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => query.put(1u32),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE | CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => query.put(double),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF | CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => query.put(half),
        CL_DEVICE_MAX_CLOCK_FREQUENCY => query.put(device.backend().hardware().max_clock_mhz),
        CL_DEVICE_ADDRESS_BITS => query.put(device.address_bits()),
        CL_DEVICE_MAX_MEM_ALLOC_SIZE => query.put(properties.max_allocation),
        CL_DEVICE_IMAGE_SUPPORT => query.put(target.language.images),
        CL_DEVICE_MAX_READ_IMAGE_ARGS => query.put(images.read_args),
        CL_DEVICE_MAX_WRITE_IMAGE_ARGS => query.put(images.write_args),
        CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => query.put(images.read_write_args),
        CL_DEVICE_MAX_SAMPLERS => query.put(images.samplers),
        CL_DEVICE_IMAGE_PITCH_ALIGNMENT => query.put(images.pitch_alignment),
        CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => query.put(images.base_alignment),
        CL_DEVICE_IMAGE2D_MAX_WIDTH | CL_DEVICE_IMAGE2D_MAX_HEIGHT => query.put(images.size_2d as usize),
        CL_DEVICE_IMAGE3D_MAX_WIDTH | CL_DEVICE_IMAGE3D_MAX_HEIGHT | CL_DEVICE_IMAGE3D_MAX_DEPTH => query.put(images.size_3d as usize),
        CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => query.put(images.buffer as usize),
        CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => query.put(images.array as usize),
        CL_DEVICE_IL_VERSION => query.put(device.il_names()),
        CL_DEVICE_ILS_WITH_VERSION => query.put(device.il_versions()),
        SPIRV_EXTENDED_INSTRUCTION_SETS => query.put(addresses(device.spirv_instruction_sets())),
        SPIRV_EXTENSIONS => query.put(addresses(&device.spirv_extensions())),
        SPIRV_CAPABILITIES => query.put(device.spirv_capabilities()),
        CL_DEVICE_MAX_PIPE_ARGS => query.put(if device.has_pipes() { pipe::MAX_ARGS } else { 0 }),
        CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS => query.put(if device.has_pipes() { pipe::MAX_RESERVATIONS } else { 0 }),
        CL_DEVICE_PIPE_MAX_PACKET_SIZE => query.put(if device.has_pipes() { pipe::MAX_PACKET_SIZE } else { 0 }),
        CL_DEVICE_MAX_PARAMETER_SIZE => query.put(wgcl_api::objects::device::MAX_PARAMETER_SIZE as usize),
        CL_DEVICE_MEM_BASE_ADDR_ALIGN => query.put(device.base_alignment() * 8),
        // The size in bytes of the largest type, `long16`.
        CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => query.put(128u32),
        CL_DEVICE_SINGLE_FP_CONFIG => query.put(device.single_fp_config().bits()),
        CL_DEVICE_DOUBLE_FP_CONFIG => query.put(device.double_fp_config().bits()),
        CL_DEVICE_HALF_FP_CONFIG => query.put(device.half_fp_config().bits()),
        CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => query.put(if properties.cache.is_some() { CL_READ_WRITE_CACHE } else { CL_NONE }),
        CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => query.put(properties.cache.map_or(0u32, |cache| cache.line)),
        CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => query.put(properties.cache.map_or(0u64, |cache| cache.size)),
        CL_DEVICE_GLOBAL_MEM_SIZE => query.put(properties.global_memory),
        CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => query.put(u64::from(properties.max_constant_size)),
        CL_DEVICE_MAX_CONSTANT_ARGS => query.put(properties.max_constant_args),
        CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE | CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => {
            query.put(device.max_global_variable_size() as usize)
        }
        CL_DEVICE_LOCAL_MEM_TYPE => query.put(if properties.dedicated_local_memory { CL_LOCAL } else { CL_GLOBAL }),
        CL_DEVICE_LOCAL_MEM_SIZE => query.put(u64::from(properties.local_memory)),
        CL_DEVICE_ERROR_CORRECTION_SUPPORT => query.put(device.backend().hardware().error_correction),
        CL_DEVICE_HOST_UNIFIED_MEMORY => query.put(properties.unified_memory),
        CL_DEVICE_PROFILING_TIMER_RESOLUTION => query.put(properties.timer_resolution.max(1) as usize),
        CL_DEVICE_ENDIAN_LITTLE => query.put(cfg!(target_endian = "little")),
        CL_DEVICE_AVAILABLE | CL_DEVICE_COMPILER_AVAILABLE | CL_DEVICE_LINKER_AVAILABLE => query.put(true),
        CL_DEVICE_EXECUTION_CAPABILITIES => {
            query.put(u64::from(if device.runs_native_kernels() { CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL } else { CL_EXEC_KERNEL }))
        }
        CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => query.put(device.queue_properties().bits()),
        CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES if device.has_device_queues() => query.put(device.queue_properties().bits()),
        CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES => query.put(0u64),
        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE if device.has_device_queues() => query.put(PREFERRED_SIZE),
        CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE if device.has_device_queues() => query.put(MAX_SIZE),
        CL_DEVICE_MAX_ON_DEVICE_QUEUES if device.has_device_queues() => query.put(MAX_ON_DEVICE),
        CL_DEVICE_MAX_ON_DEVICE_EVENTS if device.has_device_queues() => query.put(MAX_ON_DEVICE_EVENTS),
        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE
        | CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE
        | CL_DEVICE_MAX_ON_DEVICE_QUEUES
        | CL_DEVICE_MAX_ON_DEVICE_EVENTS => query.put(0u32),
        CL_DEVICE_BUILT_IN_KERNELS => query.put(names(device.built_in_kernels(), ";")),
        CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => query.put(device.built_in_kernels()),
        CL_DEVICE_PLATFORM => query.put(handles::borrowed(platform())),
        CL_DEVICE_NAME => query.put(device.name()),
        CL_DEVICE_VENDOR => query.put(if properties.vendor.is_empty() { NAME } else { properties.vendor.as_str() }),
        CL_DRIVER_VERSION => query.put(device.driver_version()),
        CL_DEVICE_PROFILE => query.put(device.profile()),
        CL_DEVICE_VERSION => query.put(version_text(device.version())),
        CL_DEVICE_NUMERIC_VERSION => query.put(device.version()),
        CL_DEVICE_OPENCL_C_VERSION => query.put(format!("OpenCL C {} wgcl", device.c_version().short())),
        CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => query.put(device.c_version()),
        CL_DEVICE_OPENCL_C_ALL_VERSIONS => query.put(device.c_versions()),
        CL_DEVICE_OPENCL_C_FEATURES => query.put(device.c_features()),
        CL_DEVICE_EXTENSIONS => query.put(names(device.extensions(), " ")),
        CL_DEVICE_EXTENSIONS_WITH_VERSION => query.put(device.extensions()),
        CL_DEVICE_PRINTF_BUFFER_SIZE => query.put(PRINTF_BUFFER_SIZE as usize),
        CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => query.put(true),
        CL_DEVICE_PARENT_DEVICE => query.put(device.parent().map_or(std::ptr::null_mut::<_cl_device_id>(), handles::borrowed)),
        CL_DEVICE_PARTITION_MAX_SUB_DEVICES => query.put(device.max_sub_devices()),
        CL_DEVICE_PARTITION_PROPERTIES => query.put(device.partition_schemes()),
        CL_DEVICE_PARTITION_TYPE => query.put(device.partition_type()),
        CL_DEVICE_PARTITION_AFFINITY_DOMAIN => query.put(device.affinity_domains().bits()),
        CL_DEVICE_REFERENCE_COUNT => query.put(handles::reference_count(device)),
        CL_DEVICE_SVM_CAPABILITIES | CL_DEVICE_SVM_CAPABILITIES_ARM => query.put(device.svm_capabilities().bits()),
        // "A value of 0 indicates that the atomic alignment is that of the type's size."
        CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => query.put(0u32),
        CL_DEVICE_SUB_GROUP_SIZES_INTEL => match device.subgroup_sizes() {
            none if none.is_empty() => query.unknown(param),
            some => query.put(some),
        },
        CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR => match device.max_named_barriers() {
            Some(count) => query.put(count),
            None => query.unknown(param),
        },
        CL_DEVICE_MAX_NUM_SUB_GROUPS => query.put(device.max_subgroups()),
        CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT => query.put(true),
        CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => query.put(device.target().language.independent_subgroups),
        CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => query.put(device.atomic_memory_capabilities().bits()),
        CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => query.put(device.atomic_fence_capabilities().bits()),
        CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR => query.put(device.integer_dot_product_capabilities().bits()),
        // Each structure has six flags. All are false, because dot products are emulated with multiplications.
        CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR | DOT_PRODUCT_4X8BIT_PACKED => query.put([false; 6]),
        CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL => match device.usm_capabilities() {
            none if none.is_empty() => query.unknown(param),
            some => query.put(some.bits()),
        },
        SINGLE_FP_ATOMIC_CAPABILITIES => query.put(device.single_fp_atomic_capabilities().bits()),
        DOUBLE_FP_ATOMIC_CAPABILITIES => query.put(device.double_fp_atomic_capabilities().bits()),
        HALF_FP_ATOMIC_CAPABILITIES => query.put(device.half_fp_atomic_capabilities().bits()),
        CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR => query.put(device.command_buffer_capabilities().bits()),
        COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES => query.put(device.command_buffer_queue_properties().bits()),
        CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR => query.put(0u64),
        // Without the host, a command can wait only for commands of the same root device. So the list contains only the
        // root device.
        NUM_SYNC_DEVICES => query.put(1u32),
        SYNC_DEVICES => query.put([handles::borrowed(device.root())]),
        CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR => {
            query.put(device.importable_memory().into_iter().map(|kind| kind as u32).collect::<Vec<_>>())
        }
        CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR | CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR => {
            query.put(device.shareable_semaphores().into_iter().map(|kind| kind as u32).collect::<Vec<_>>())
        }
        // wgcl cannot import images from external memory, so the list is empty.
        ASSUME_LINEAR_IMAGES => query.put(Vec::<u32>::new()),
        KERNEL_CLOCK_CAPABILITIES => query.put(device.kernel_clock_capabilities().bits()),
        CL_DEVICE_SEMAPHORE_TYPES_KHR => query.put([TYPE_BINARY]),
        CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR => query.put(DispatchFields::all().bits()),
        CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT => query.put(true),
        CL_DEVICE_PIPE_SUPPORT => query.put(device.has_pipes()),
        CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => query.put(device.has_c_feature("__opencl_c_generic_address_space")),
        CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => query.put(if device.has_device_queues() {
            u64::from(CL_DEVICE_QUEUE_SUPPORTED | CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT)
        } else {
            0
        }),
        CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => query.put(properties.subgroup_size.max(1) as usize),
        // wgcl has not passed the official conformance process, but the conformance tests require a version in this
        // format.
        CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => query.put("v0000-01-01-00"),
        CL_DEVICE_PCI_BUS_INFO_KHR => match properties.pci {
            Some(place) => query.put(place),
            None => query.unknown(param),
        },
        CL_DEVICE_UUID_KHR | CL_DRIVER_UUID_KHR | CL_DEVICE_LUID_VALID_KHR | CL_DEVICE_LUID_KHR | CL_DEVICE_NODE_MASK_KHR => {
            let (device, driver) = match properties.uuid {
                Some(uuids) => uuids,
                None => return query.unknown(param),
            };
            match param {
                CL_DEVICE_UUID_KHR => query.put(device),
                CL_DRIVER_UUID_KHR => query.put(driver),
                CL_DEVICE_LUID_VALID_KHR => query.put(false),
                CL_DEVICE_LUID_KHR => query.put(NO_LUID),
                _ => query.put(0u32),
            }
        }
        CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV..=DEVICE_PCI_DOMAIN_ID_NV => nvidia_info(device, param, query),
        _ => query.unknown(param),
    }
}

/// Returns the value of a query of cl_nv_device_attribute_query.
fn nvidia_info(device: &Device, param: cl_device_info, query: &Query) -> Result<()> {
    let (Some(attributes), Some([domain, bus, slot, function])) = (device.backend().hardware().nvidia, device.properties().pci) else {
        return query.unknown(param);
    };
    match param {
        CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV => query.put(attributes.compute_capability.0),
        CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV => query.put(attributes.compute_capability.1),
        CL_DEVICE_REGISTERS_PER_BLOCK_NV => query.put(attributes.registers_per_block),
        CL_DEVICE_WARP_SIZE_NV => query.put(device.properties().subgroup_size),
        CL_DEVICE_GPU_OVERLAP_NV => query.put(attributes.copy_engines > 0),
        CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV => query.put(attributes.execution_timeout),
        CL_DEVICE_INTEGRATED_MEMORY_NV => query.put(attributes.integrated),
        DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT_NV => query.put(attributes.copy_engines),
        DEVICE_PCI_BUS_ID_NV => query.put(bus),
        // The value combines device and function like a PCI configuration address. clinfo and hashcat expect this
        // format.
        DEVICE_PCI_SLOT_ID_NV => query.put(slot << 3 | function),
        DEVICE_PCI_DOMAIN_ID_NV => query.put(domain),
        _ => query.unknown(param),
    }
}

/// Parses a device type of an argument.
pub(crate) fn parse_type(bits: cl_device_type) -> Result<DeviceType> {
    if bits == CL_DEVICE_TYPE_ALL {
        return Ok(DeviceType::ANY);
    }
    // "CL_INVALID_DEVICE_TYPE if device_type is not a valid value."
    DeviceType::from_bits(bits).filter(|kind| !kind.is_empty()).ok_or_else(|| {
        let valid = "CL_DEVICE_TYPE_ALL, or a combination of the bits CL_DEVICE_TYPE_DEFAULT (0x1) to CL_DEVICE_TYPE_CUSTOM (0x10)";
        Error::InvalidDeviceType(format!("device type {bits:#x} is invalid; expected {valid}").into())
    })
}

/// Adds a reference to a sub-device. Has no effect on a root device: "If the device is a root device (i.e. a device
/// returned by clGetDeviceIDs) its reference count remains unchanged."
fn retain(device: cl_device_id) -> Result<()> {
    if handles::get::<Device>(device)?.parent().is_some() { handles::retain::<Device>(device) } else { Ok(()) }
}

/// Releases a reference to a sub-device. Has no effect on a root device.
fn release(device: cl_device_id) -> Result<()> {
    if handles::get::<Device>(device)?.parent().is_some() { handles::release::<Device>(device).map(drop) } else { Ok(()) }
}

/// Returns the devices of a type. Fails if there are none.
pub(crate) fn devices_of(bits: cl_device_type) -> Result<Vec<std::sync::Arc<Device>>> {
    let devices = platform().devices_of(parse_type(bits)?);
    // "CL_DEVICE_NOT_FOUND if no OpenCL devices that matched device_type were found."
    check!(
        !devices.is_empty(),
        DeviceNotFound,
        "there is no device of type {bits:#x} (0x2: CPU, 0x4: GPU, 0x8: accelerator); request CL_DEVICE_TYPE_ALL, or set WGCL_DEVICE_TYPE so that a device reports another type"
    );
    Ok(devices)
}

crate::entry! {
    fn clGetDeviceIDs(
        platform: cl_platform_id,
        device_type: cl_device_type,
        num_entries: cl_uint,
        devices: OutList<cl_device_id>,
        num_devices: Out<cl_uint>,
    ) {
        handles::get::<Platform>(platform)?;
        parse_type(device_type)?;
        // "CL_INVALID_VALUE if num_entries is equal to zero and devices is not NULL or if both num_devices and
        // devices are NULL."
        check!(num_entries != 0 || devices.is_null(), InvalidValue, "num_entries is zero, but devices is not null");
        check!(!devices.is_null() || !num_devices.is_null(), InvalidValue, "num_devices and devices are both null");
        let found: Vec<_> = devices_of(device_type)?.iter().map(handles::borrowed).collect();
        devices.set(&found[..found.len().min(num_entries as usize)]);
        num_devices.set(found.len() as cl_uint);
        Ok(())
    }

    fn clGetDeviceInfo(device: cl_device_id, param: cl_device_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let device = handles::get::<Device>(device)?;
        device_info(&device, param, &Query::new(size, value, size_ret))
    }

    fn clRetainDevice(device: cl_device_id) {
        retain(device)
    }

    fn clReleaseDevice(device: cl_device_id) {
        release(device)
    }

    fn clRetainDeviceEXT(device: cl_device_id) {
        retain(device)
    }

    fn clReleaseDeviceEXT(device: cl_device_id) {
        release(device)
    }

    fn clCreateSubDevices(
        device: cl_device_id,
        properties: List<cl_device_partition_property>,
        num_devices: cl_uint,
        devices: OutList<cl_device_id>,
        num_devices_ret: Out<cl_uint>,
    ) {
        let device = handles::get::<Device>(device)?;
        check!(!properties.is_null(), InvalidValue, "the list of properties is null");
        let at = |index: usize| properties.get(index + 1).pop().unwrap_or_default();
        let parts = device.divide(&Partition::parse(at, device.max_sub_devices())?)?;
        // "CL_INVALID_VALUE if out_devices is not NULL and num_devices is less than the number of sub-devices created
        // by the partition scheme."
        check!(devices.is_null() || num_devices as usize >= parts.count(), InvalidValue, "num_devices is {num_devices}, but the partition has {} sub-devices", parts.count());
        num_devices_ret.set(parts.count() as cl_uint);
        if !devices.is_null() {
            devices.set(&device.sub_devices(&parts)?.into_iter().map(handles::retained).collect::<Vec<_>>());
        }
        Ok(())
    }

    fn clCreateSubDevicesEXT(
        device: cl_device_id,
        _properties: List<cl_device_partition_property_ext>,
        _num_entries: cl_uint,
        _devices: OutList<cl_device_id>,
        _num_devices: Out<cl_uint>,
    ) {
        handles::get::<Device>(device)?;
        Err(Error::InvalidValue("cl_ext_device_fission is not supported; use clCreateSubDevices".into()))
    }

    fn clGetDeviceAndHostTimer(device: cl_device_id, device_timestamp: Out<cl_ulong>, host_timestamp: Out<cl_ulong>) {
        let device = handles::get::<Device>(device)?;
        // "CL_INVALID_VALUE if host_timestamp or device_timestamp is NULL."
        check!(!device_timestamp.is_null() && !host_timestamp.is_null(), InvalidValue, "device_timestamp or host_timestamp is null");
        // The profiling clock is the host's monotonic clock, so the two timestamps are equal.
        let now = device.backend().now();
        device_timestamp.set(now);
        host_timestamp.set(now);
        Ok(())
    }

    fn clGetHostTimer(device: cl_device_id, host_timestamp: Out<cl_ulong>) {
        let device = handles::get::<Device>(device)?;
        // "CL_INVALID_VALUE if host_timestamp is NULL."
        check!(!host_timestamp.is_null(), InvalidValue, "host_timestamp is null");
        host_timestamp.set(device.backend().now());
        Ok(())
    }
}
