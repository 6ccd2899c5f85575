//! Register counts of compiled shaders on NVIDIA, from VK_KHR_pipeline_executable_properties. Other drivers use other
//! names for their statistics, and it is unknown whether they choose the register count by the group size.

use ash::vk;
use wgcl_api::backend::BackendResult;

use crate::vulkan::error::backend_error;

/// Statistics of a compiled shader. `None` if the driver does not report the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// 32-bit registers per invocation.
    pub(crate) registers: Option<u32>,
    /// Bytes per invocation for arrays and spilled registers.
    pub(crate) stack: Option<u32>,
}

/// Number of registers of a compute unit, which all invocations of a group share (CUDA C++ Programming Guide, Technical
/// Specifications, since compute capability 3.0).
const REGISTER_FILE: u32 = 65_536;
/// Maximum number of registers per invocation.
pub(crate) const MAX_REGISTERS: u32 = 255;
/// Number of registers per allocation unit. Each subgroup has a whole number of units.
const ALLOCATION_UNIT: u32 = 256;
/// Number of invocations of a subgroup.
const WARP: u32 = 32;

/// Returns the largest group size at this number of registers per invocation, or `None` if the number is 0 (unknown).
/// Larger groups are valid, because the driver then compiles the shader with fewer registers. A group has half of the
/// registers on GPUs of compute capability 3.2, 5.3 or 6.2 (Tegra K1, X1, X2). The result is too large there. wgcl
/// cannot detect these GPUs: Vulkan does not report the compute capability, and they have no NVML.
pub(crate) fn max_group_size(registers: u32) -> Option<u32> {
    let each = (registers * WARP).next_multiple_of(ALLOCATION_UNIT);
    (registers > 0).then(|| REGISTER_FILE / each * WARP)
}

/// Queries the statistics of a pipeline that was created with CAPTURE_STATISTICS. A compute pipeline has one
/// executable.
///
/// # Safety
/// The pipeline must belong to the device of `functions`, on which the extension and its feature must be enabled.
pub(crate) unsafe fn statistics(
    functions: &ash::khr::pipeline_executable_properties::Device,
    pipeline: vk::Pipeline,
) -> BackendResult<Statistics> {
    let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(0);
    // SAFETY: the caller ensures the requirements.
    let all = unsafe { functions.get_pipeline_executable_statistics(&info) }.map_err(backend_error)?;
    let mut found = Statistics::default();
    for statistic in &all {
        let name = statistic.name_as_c_str().unwrap_or_default().to_string_lossy();
        let Some(value) = number(statistic) else { continue };
        match &*name {
            "Register Count" => found.registers = Some(value),
            "Local Memory Size" => found.stack = Some(value),
            _ => {}
        }
    }
    Ok(found)
}

/// Returns a statistic as an integer, or `None` if it has another type. Uses only the lower 32 bits, because NVIDIA's
/// driver 580 does not initialise the upper half of some values.
fn number(statistic: &vk::PipelineExecutableStatisticKHR<'_>) -> Option<u32> {
    if statistic.format != vk::PipelineExecutableStatisticFormatKHR::UINT64 {
        return None;
    }
    // SAFETY: the format says which field of the union is set.
    Some(unsafe { statistic.value.u64 } as u32)
}

#[cfg(test)]
mod tests {
    use super::max_group_size;

    #[test]
    fn registers_leave_room_for_whole_subgroups() {
        let sizes = [(16, 4096), (64, 1024), (65, 896), (72, 896), (80, 800), (128, 512), (168, 384), (255, 256)];
        for (registers, size) in sizes {
            assert_eq!(max_group_size(registers), Some(size), "{registers}");
        }
        assert_eq!(max_group_size(0), None);
    }
}
