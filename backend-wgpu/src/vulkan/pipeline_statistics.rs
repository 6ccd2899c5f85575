//! Register counts of compiled shaders on NVIDIA, from VK_KHR_pipeline_executable_properties. Other drivers use other
//! names. Whether they compile for a group size is unknown.

use ash::vk;
use wgcl_api::backend::BackendResult;

use crate::vulkan::error::backend_error;

/// `None` where the driver reports nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// 32-bit registers per invocation.
    pub(crate) registers: Option<u32>,
    /// Bytes per invocation for arrays and spilled registers.
    pub(crate) stack: Option<u32>,
}

/// Registers of a compute unit, which all invocations of a group share (CUDA C++ Programming Guide, Technical
/// Specifications, since compute capability 3.0).
const REGISTER_FILE: u32 = 65_536;
/// Maximal number of registers per invocation.
pub(crate) const MAX_REGISTERS: u32 = 255;
/// Granularity of the register allocation for a subgroup.
const PORTION: u32 = 256;
/// Invocations of a subgroup.
const WARP: u32 = 32;

/// The largest group size at this number of registers per invocation. 0 means unknown and gives `None`.
pub(crate) fn max_group_size(registers: u32) -> Option<u32> {
    let each = (registers * WARP).next_multiple_of(PORTION);
    (registers > 0).then(|| REGISTER_FILE / each * WARP)
}

/// Queries the statistics of a pipeline that was created with CAPTURE_STATISTICS. A compute pipeline has one
/// executable.
///
/// # Safety
/// The pipeline is of the functions' device, on which the extension and its feature are enabled.
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

/// A statistic as an integer. Driver 580 leaves garbage in the upper half of some values.
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
