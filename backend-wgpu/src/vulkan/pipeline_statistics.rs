//! What NVIDIA's compiler made of a shader: registers and bytes of local memory, by `VK_KHR_pipeline_executable_properties`. Other drivers name other things, and
//! their compilers are not known to take fewer registers for larger groups.

use ash::vk;
use wgcl_api::backend::BackendResult;

use crate::vulkan::queue::error;

/// What a compiled shader takes. `None` where the driver does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// 32-bit registers of an invocation.
    pub(crate) registers: Option<u32>,
    /// Bytes of an invocation's memory for arrays and spilled registers.
    pub(crate) stack: Option<u32>,
}

/// Registers of a compute unit, which all invocations of a group share (CUDA C++ Programming Guide, Technical Specifications, since compute capability 3.0).
const REGISTER_FILE: u32 = 65_536;
/// Registers that an invocation can have.
pub(crate) const MAX_REGISTERS: u32 = 255;
/// Registers come to a subgroup by so many.
const PORTION: u32 = 256;
/// Invocations of a subgroup.
const WARP: u32 = 32;

/// Invocations of which a group may have no more, if each takes so many registers; `None` if their number is not known.
pub(crate) fn max_group_size(registers: u32) -> Option<u32> {
    let each = (registers * WARP).next_multiple_of(PORTION);
    (registers > 0).then(|| REGISTER_FILE / each * WARP)
}

/// Asks for the statistics of a pipeline that was made with `CAPTURE_STATISTICS_KHR`. It has one executable, as all compute pipelines have.
///
/// # Safety
/// The pipeline is of the functions' device, which has the extension and its feature switched on.
pub(crate) unsafe fn statistics(
    functions: &ash::khr::pipeline_executable_properties::Device,
    pipeline: vk::Pipeline,
) -> BackendResult<Statistics> {
    let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(0);
    // SAFETY: says the caller.
    let all = unsafe { functions.get_pipeline_executable_statistics(&info) }.map_err(error)?;
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

/// A statistic that is a whole number. Driver 580 leaves something in the upper half of some.
fn number(statistic: &vk::PipelineExecutableStatisticKHR<'_>) -> Option<u32> {
    if statistic.format != vk::PipelineExecutableStatisticFormatKHR::UINT64 {
        return None;
    }
    // SAFETY: the format says which part of the union was written.
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
