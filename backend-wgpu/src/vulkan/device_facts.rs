//! Facts about a Vulkan device that wgpu does not report.

use wgcl_compiler::target::FloatControls;

/// Facts about an adapter. Adapters of other APIs have the default, in which nothing is known or supported.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeviceFacts {
    /// Size in bytes of the largest device-local heap. If a device shares the host's memory, this is a heap of that
    /// memory.
    pub(crate) memory: Option<u64>,
    /// The device UUID and the driver UUID.
    pub(crate) uuid: Option<([u8; 16], [u8; 16])>,
    /// Number of streaming multiprocessors, on NVIDIA.
    pub(crate) multiprocessors: Option<u32>,
    pub(crate) float_controls: FloatControls,
    /// Nanoseconds per timestamp tick.
    pub(crate) timestamp_period: Option<f32>,
    /// Whether shaders have 8-bit integers, and storage buffers may hold them.
    pub(crate) int8_storage: bool,
    pub(crate) timeline_semaphores: bool,
    /// Whether the device clock can be compared with CLOCK_MONOTONIC (VK_EXT_calibrated_timestamps).
    pub(crate) calibrated_timestamps: bool,
    /// Whether the host can map all of the device's own memory (Resizable BAR).
    pub(crate) bar: bool,
    /// The queue family to use. It has compute, no graphics and 64-bit timestamps, if the device has such a family.
    pub(crate) queue_family: u32,
    /// Number of queues that only copy.
    pub(crate) copy_queues: u32,
    /// Whether the host can reset queries.
    pub(crate) host_query_reset: bool,
    /// Whether shaders can access buffers by 64-bit addresses (VK_KHR_buffer_device_address).
    pub(crate) buffer_addresses: bool,
    /// Whether the driver is NVIDIA's, and reports the register counts of pipelines
    /// (VK_KHR_pipeline_executable_properties).
    pub(crate) pipeline_statistics: bool,
    /// Whether shaders can read the device clock.
    pub(crate) device_clock: bool,
    /// Whether shaders can read a subgroup's clock.
    pub(crate) subgroup_clock: bool,
    /// Whether memory can be imported from opaque file descriptors.
    pub(crate) opaque_fd_memory: bool,
    /// Whether memory can be exported as opaque file descriptors.
    pub(crate) exports_opaque_fd: bool,
    /// Whether memory can be imported from dma_buf file descriptors.
    pub(crate) dma_buf_memory: bool,
    /// Address and size of imported host memory are multiples of this number of bytes. `None` if host memory cannot be
    /// imported.
    pub(crate) host_import_alignment: Option<u64>,
    /// Whether semaphores can be shared by opaque file descriptors.
    pub(crate) opaque_fd_semaphores: bool,
    pub(crate) size_limits: Option<SizeLimits>,
    /// Maximum number of work-groups of a dispatch, per dimension. wgpu reports one number for all three.
    pub(crate) max_groups: Option<[u32; 3]>,
    /// The subgroup sizes that a pipeline may require. `None` if a pipeline cannot require a size.
    pub(crate) subgroups: Option<SubgroupSizes>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeLimits {
    /// Size in bytes of the largest buffer. `u64::MAX` if the driver does not report the size.
    pub(crate) buffer: u64,
    /// Bytes of the largest memory allocation.
    pub(crate) allocation: u64,
}

/// A pipeline may require any power of two from `min` to `max` as its subgroup size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubgroupSizes {
    pub(crate) min: u32,
    pub(crate) max: u32,
    /// Maximum number of subgroups per work-group, if the pipeline requires a subgroup size.
    pub(crate) max_per_group: u32,
}
