//! The supported intermediate languages of a device: SPIR-V versions and the features of modules
//! (`cl_khr_il_program`, `cl_khr_spirv_queries`).

use std::ffi::CStr;

use wgcl_compiler::target::Target;

use crate::objects::device::Device;
use crate::types::version::{NameVersion, Version};

/// The extension that enables SPV_KHR_shader_clock in modules.
const CLOCK: &str = "cl_khr_kernel_clock";

/// Minor versions of SPIR-V 1.
const MINOR_VERSIONS: std::ops::RangeInclusive<u32> = 0..=6;

/// SPIR-V extensions that modules may declare.
const EXTENSIONS: &[&CStr] = &[
    c"SPV_EXT_relaxed_printf_string_address_space",
    c"SPV_EXT_shader_atomic_float16_add",
    c"SPV_EXT_shader_atomic_float_add",
    c"SPV_EXT_shader_atomic_float_min_max",
    c"SPV_INTEL_split_barrier",
    c"SPV_INTEL_subgroups",
    c"SPV_KHR_bit_instructions",
    c"SPV_KHR_expect_assume",
    c"SPV_KHR_integer_dot_product",
    c"SPV_KHR_linkonce_odr",
    c"SPV_KHR_no_integer_wrap_decoration",
    c"SPV_KHR_subgroup_rotate",
    c"SPV_KHR_uniform_group_instructions",
];

/// Capabilities that every device has, by their numbers: `Addresses`, `Linkage`, `Kernel`, `Vector16`,
/// `Float16Buffer`, `Int16`, `Groups`, `GenericPointer`, `Int8`, `UniformDecoration`, `DotProductInputAll`,
/// `DotProductInput4x8Bit`, `DotProductInput4x8BitPacked`, `DotProduct`, `BitInstructions`, `ExpectAssumeKHR`,
/// `SplitBarrierINTEL`.
const CAPABILITIES: &[u32] = &[4, 5, 6, 7, 8, 22, 18, 38, 39, 71, 6016, 6017, 6018, 6019, 6025, 5629, 6141];

/// `ImageBasic`, `ImageReadWrite`, `ImageMipmap`, `LiteralSampler`, `Sampled1D`, `Image1D`, `SampledBuffer`,
/// `ImageBuffer`.
const IMAGES: &[u32] = &[13, 14, 15, 20, 43, 44, 46, 47];

/// `SubgroupDispatch`, and the capabilities of SPV_INTEL_subgroups except those for images. Those of the subgroup
/// extensions are `GroupNonUniform`, and its `Vote`, `Arithmetic`, `Ballot`, `Shuffle`, `ShuffleRelative`, `Clustered`,
/// `GroupNonUniformRotateKHR`, and `GroupUniformArithmeticKHR`.
const SUBGROUPS: &[u32] = &[58, 5568, 5569, 61, 62, 63, 64, 65, 66, 67, 6026, 6400];

impl Device {
    /// CL_DEVICE_ILS_WITH_VERSION
    pub fn il_versions(&self) -> Vec<NameVersion> {
        MINOR_VERSIONS.map(|minor| NameVersion::new("SPIR-V", Version::new(1, minor, 0))).collect()
    }

    /// CL_DEVICE_IL_VERSION
    pub fn il_names(&self) -> String {
        MINOR_VERSIONS.map(|minor| format!("SPIR-V_1.{minor}")).collect::<Vec<_>>().join(" ")
    }

    /// CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS_KHR
    pub const fn spirv_instruction_sets(&self) -> &'static [&'static CStr] {
        &[c"OpenCL.std"]
    }

    /// CL_DEVICE_SPIRV_EXTENSIONS_KHR
    pub fn spirv_extensions(&self) -> Vec<&'static CStr> {
        let clock = self.target().has_extension(CLOCK).then_some(c"SPV_KHR_shader_clock");
        EXTENSIONS.iter().copied().chain(clock).collect()
    }

    /// CL_DEVICE_SPIRV_CAPABILITIES_KHR
    pub fn spirv_capabilities(&self) -> Vec<u32> {
        capabilities(self.target())
    }
}

fn capabilities(target: &Target) -> Vec<u32> {
    let language = &target.language;
    let part = |has: bool, list: &'static [u32]| if has { list } else { &[] };
    let mut found = CAPABILITIES.to_vec();
    // `Float16`, `Float64`, `Int64`, `Int64Atomics`.
    found.extend(part(language.fp16, &[9]));
    found.extend(part(language.fp64, &[10]));
    found.extend(part(language.int64, &[11]));
    found.extend(part(language.int64_atomics, &[12]));
    found.extend(part(language.images, IMAGES));
    // `Pipes`, `PipeStorage`.
    found.extend(part(target.has_feature("__opencl_c_pipes"), &[17, 60]));
    // `DeviceEnqueue`.
    found.extend(part(language.device_enqueue, &[19]));
    // `ShaderClockKHR`.
    found.extend(part(target.has_extension(CLOCK), &[5055]));
    found.extend(part(language.subgroups, SUBGROUPS));
    // `NamedBarrier`.
    found.extend(part(language.has_named_barriers(), &[59]));
    // `SubgroupImageBlockIOINTEL`.
    found.extend(part(language.subgroups && language.images, &[5570]));
    // `AtomicFloat32MinMaxEXT`, `AtomicFloat64MinMaxEXT`, `AtomicFloat32AddEXT`, `AtomicFloat64AddEXT`.
    found.extend([5612, 6033]);
    found.extend(part(language.has_double_atomics(), &[5613, 6034]));
    // `AtomicFloat16MinMaxEXT`, `AtomicFloat16AddEXT`.
    found.extend(part(language.fp16, &[5616, 6095]));
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::capabilities;
    use wgcl_compiler::target::Target;

    #[test]
    fn capabilities_depend_on_the_features_of_the_device() {
        let full = capabilities(&Target::full());
        let without = capabilities(&Target::full().changed(|target| target.language.fp64 = false));
        assert!(full.contains(&10) && !without.contains(&10));
        let without = capabilities(&Target::full().changed(|target| target.language.device_enqueue = false));
        assert!(full.contains(&19) && !without.contains(&19));
        assert!(full.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
