//! How the backend deals with a device: what it opens it with, and which of several ways it goes.

use wgcl_api::backend::DeviceKind;
use wgcl_runtime::host::memory as host_memory;
use wgpu::Features;

use crate::vulkan::hal::DeviceFacts;

/// Bytes of the largest object within which the differences of addresses are numbers of 32 bits.
pub(crate) const NEAR: u64 = i32::MAX as u64;

/// Everything that wgcl can make use of; a device is opened with those of them that its adapter has.
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

/// How the backend deals with a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capabilities {
    /// Buffers are made through the Vulkan layer below wgpu: mapped for good, and never cleared.
    pub(crate) vulkan_buffers: bool,
    /// SPIR-V goes to the driver as it is.
    pub(crate) spirv: bool,
    /// Commands go to Vulkan directly.
    pub(crate) vulkan_queue: bool,
    /// The device's memory is the host's.
    pub(crate) unified: bool,
    /// The host may write all of the device's own memory, across the bus.
    pub(crate) window: bool,
    /// The device's timestamps are the host's monotonic clock.
    pub(crate) host_clock: bool,
    /// Shaders can reach memory by 64-bit addresses.
    pub(crate) addresses: bool,
    /// The host's own memory can be the device's, in pieces that begin at multiples of this and have a multiple of it in bytes.
    pub(crate) host_memory: Option<u64>,
}

/// Bytes that may be allocated in all: on a CPU what the machine can spare, whatever its driver says (2 GiB, lavapipe of Mesa 22).
pub(crate) fn memory(kind: DeviceKind, facts: &DeviceFacts) -> Option<u64> {
    let share = |total: u64| total / 4 * 3;
    match kind {
        DeviceKind::Cpu => host_memory::total().or(facts.memory).map(share),
        _ => facts.memory,
    }
}
