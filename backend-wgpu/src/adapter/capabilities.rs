//! The choice of code paths for a device.

use wgcl_api::backend::DeviceKind;
use wgcl_runtime::host::memory as host_memory;
use wgpu::Features;

use crate::vulkan::device_facts::DeviceFacts;

/// Offsets within objects of at most this many bytes fit signed 32-bit integers.
pub(crate) const NEAR: u64 = i32::MAX as u64;

/// All features that wgcl can use. A device is opened with those of these features that its adapter has.
pub(crate) fn wanted_features() -> Features {
    Features::SHADER_F64
        | Features::SHADER_F16
        | Features::SHADER_I16
        | Features::SHADER_INT64
        | Features::SHADER_INT64_ATOMIC_MIN_MAX
        | Features::SHADER_INT64_ATOMIC_ALL_OPS
        | Features::SHADER_FLOAT32_ATOMIC
        | Features::SUBGROUP
        | Features::SUBGROUP_BARRIER
        | Features::MAPPABLE_PRIMARY_BUFFERS
        | Features::TIMESTAMP_QUERY
        | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
        | Features::TIMESTAMP_QUERY_INSIDE_PASSES
        | Features::PIPELINE_CACHE
        | Features::PASSTHROUGH_SHADERS
        | Features::IMMEDIATES
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capabilities {
    /// Whether buffers are created through wgpu-hal's Vulkan device: they stay mapped, and wgpu does not clear them.
    pub(crate) vulkan_buffers: bool,
    /// Whether SPIR-V is passed to the driver without a translation by naga.
    pub(crate) spirv: bool,
    /// Whether commands are recorded with Vulkan, without wgpu's encoders ([`crate::vulkan::queue`]).
    pub(crate) vulkan_queue: bool,
    /// Whether the device shares the host's memory.
    pub(crate) unified: bool,
    /// Whether the host can write all of the device's own memory across the bus (Resizable BAR).
    pub(crate) bar: bool,
    /// Whether the device's timestamps are readings of the host's monotonic clock.
    pub(crate) host_clock: bool,
    /// Whether shaders can access memory by 64-bit addresses.
    pub(crate) addresses: bool,
    /// Whether the driver's compiler assumes that two bindings share no memory. FXC moves loads across stores to other
    /// bindings.
    pub(crate) distinct_bindings: bool,
    /// The device can import host memory whose address and size are multiples of this number of bytes. `None` if it
    /// cannot import host memory.
    pub(crate) host_memory: Option<u64>,
}

/// Returns the number of bytes that may be allocated in total, or `None` if it is unknown. For a CPU device, the result
/// is three quarters of the machine's memory. The driver's value replaces the machine's memory only if that is unknown,
/// because lavapipe of Mesa 22 always reports 2 GiB.
pub(crate) fn memory(kind: DeviceKind, facts: &DeviceFacts) -> Option<u64> {
    let share = |total: u64| total / 4 * 3;
    match kind {
        DeviceKind::Cpu => host_memory::total().or(facts.memory).map(share),
        _ => facts.memory,
    }
}
