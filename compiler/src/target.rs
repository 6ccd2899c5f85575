//! What the compiler has to know of a device.

use serde::{Deserialize, Serialize};

/// Bytes of the largest variable in global space that a program may have (CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE).
pub const MAX_GLOBAL_VARIABLE: u64 = 64 << 20;
/// Bytes of all of them together: they are one storage binding, and this is the least that a device of WebGPU's limits can bind.
pub const MAX_GLOBAL_VARIABLES: u64 = 128 << 20;

/// Properties of a device that decide what a program may use and how it is emitted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// 64-bit integers. Without them pointers have 32 bits and `long` is refused.
    pub int64: bool,
    /// `double`.
    pub fp64: bool,
    /// `half` arithmetic.
    pub fp16: bool,
    /// 16-bit integers in storage and arithmetic.
    pub int16: bool,
    /// Bytes in storage buffers; on Vulkan only.
    pub int8_storage: bool,
    /// 64-bit integer atomics in storage.
    pub int64_atomics: bool,
    /// Native atomic addition of `float` in storage. Without it, and for all else, there is compare-and-exchange.
    pub float_atomics: bool,
    /// Subgroup operations.
    pub subgroups: bool,
    /// Work-items of the largest subgroup, a power of two.
    pub max_subgroup_size: u32,
    /// Wide accesses are quicker if neighbouring work-items make them together (`passes::exchange`). Only where [`Self::subgroups`] is so, all of which have
    /// [`Self::max_subgroup_size`] work-items if a group has enough of them.
    pub lanes_exchange: bool,
    /// SPIR-V is written and post-processed here (Vulkan). Otherwise strictly valid naga for Metal, DX12, WebGPU.
    pub spirv: bool,
    /// What can be asked of floating point in SPIR-V.
    pub float_controls: FloatControls,
    /// The device's `fma` is fused and quick.
    pub fused_fma: bool,
    /// Single-precision denormals are kept.
    pub denormals: bool,
    /// The driver stops each loop after 65,535 iterations in total (lavapipe).
    pub loop_limit: bool,
    /// SPIR-V's memory barriers are no more than that. Where they wait for the other work-items (lavapipe), none is emitted: atomics that read
    /// and write order everything there.
    pub memory_barriers: bool,
    /// Signed comparisons of 64-bit integers are right. Mesa's drivers get them wrong (up to 22.3 at least) where one side was extended from 32 bits and the
    /// other one is a constant from -2^31 to 2^31: NIR's least integer of 32 bits has lost its sign there.
    pub long_comparisons: bool,
    /// Constant zeros in float arithmetic are taken for what they are: lavapipe leaves out what it thinks to do nothing.
    pub float_zeros: bool,
    /// Fetching a texel of a buffer is much quicker than loading from one (lavapipe, which loads for one work-item after the other): what a kernel only
    /// reads is bound as texels where the launch key allows it.
    pub texel_buffers: bool,
    /// Storage buffers that one kernel can bind.
    pub max_storage_buffers: u32,
    /// Uniform buffers that one kernel can bind.
    pub max_uniform_buffers: u32,
    /// Bytes of the largest uniform binding.
    pub max_uniform_size: u32,
    /// Bytes of workgroup memory.
    pub max_local_memory: u32,
    /// Images (`__IMAGE_SUPPORT__`).
    pub images: bool,
    /// Extensions that the device reports, in order: each is a predefined macro.
    pub extensions: Vec<String>,
    /// OpenCL C 3.0 feature macros that the device reports.
    pub features: Vec<String>,
}

/// SPV_KHR_float_controls, as the device has it: each is a set of widths, 1 for 16 bits, 2 for 32, 4 for 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FloatControls {
    /// Zeros keep their sign, infinities and NaNs are what IEEE says.
    pub signed_zero_inf_nan_preserve: u8,
    /// Denormals are kept.
    pub denorm_preserve: u8,
    /// Rounding to nearest even.
    pub rounding_mode_rte: u8,
}

impl Target {
    /// A target that has everything: what `wgclc` compiles for if not told otherwise.
    pub fn full() -> Self {
        Self {
            int64: true,
            fp64: true,
            fp16: true,
            int16: true,
            int8_storage: true,
            int64_atomics: true,
            float_atomics: true,
            subgroups: true,
            max_subgroup_size: 128,
            lanes_exchange: false,
            spirv: true,
            float_controls: FloatControls::default(),
            fused_fma: false,
            denormals: true,
            loop_limit: false,
            memory_barriers: true,
            long_comparisons: true,
            float_zeros: true,
            texel_buffers: false,
            max_storage_buffers: 32,
            max_uniform_buffers: 12,
            max_uniform_size: 65536,
            max_local_memory: 32768,
            images: true,
            extensions: Vec::new(),
            features: Vec::new(),
        }
        .with_extensions()
    }

    /// Bytes of a pointer and of `size_t`.
    pub const fn pointer_size(&self) -> u32 {
        if self.int64 { 8 } else { 4 }
    }

    /// Whether atomics order other accesses, among all work-groups of the device: on Vulkan, by fences (or [`Self::memory_barriers`]). There is no total order of all of
    /// them (sequential consistency) in Vulkan, and no fence but barriers elsewhere.
    pub const fn ordered_atomics(&self) -> bool {
        self.spirv
    }

    /// Whether an extension is reported.
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.iter().any(|known| known == name)
    }

    /// Whether an optional feature of OpenCL C 3.0 is reported, by its macro.
    pub fn has_feature(&self, name: &str) -> bool {
        self.features.iter().any(|known| known == name)
    }

    /// Whether `atomic_double` exists: by 64-bit integer atomics.
    pub const fn double_atomics(&self) -> bool {
        self.fp64 && self.int64_atomics
    }

    /// Fills in `extensions` and `features` from the other fields: the one place that says what is reported when.
    #[must_use]
    pub fn with_extensions(mut self) -> Self {
        let mut extensions = vec![
            "cl_ext_float_atomics",
            "cl_khr_byte_addressable_store",
            "cl_khr_extended_async_copies",
            "cl_khr_extended_bit_ops",
            "cl_khr_global_int32_base_atomics",
            "cl_khr_global_int32_extended_atomics",
            "cl_khr_integer_dot_product",
            "cl_khr_local_int32_base_atomics",
            "cl_khr_local_int32_extended_atomics",
        ];
        if self.int64_atomics {
            extensions.extend(["cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"]);
        }
        if self.fp64 {
            extensions.push("cl_khr_fp64");
        }
        if self.fp16 {
            extensions.push("cl_khr_fp16");
        }
        let mut features = vec![
            "__opencl_c_generic_address_space",
            "__opencl_c_integer_dot_product_input_4x8bit",
            "__opencl_c_integer_dot_product_input_4x8bit_packed",
            "__opencl_c_program_scope_global_variables",
        ];
        if self.images {
            extensions.extend(["cl_khr_3d_image_writes", "cl_khr_depth_images", "cl_khr_image2d_from_buffer", "cl_khr_srgb_image_writes"]);
            features.extend(["__opencl_c_images", "__opencl_c_3d_image_writes", "__opencl_c_read_write_images"]);
        }
        if self.int64 {
            features.push("__opencl_c_int64");
        }
        if self.fp64 {
            features.push("__opencl_c_fp64");
        }
        // Without native ones they are loops of compare-and-exchange.
        features.extend([
            "__opencl_c_ext_fp32_global_atomic_add",
            "__opencl_c_ext_fp32_local_atomic_add",
            "__opencl_c_ext_fp32_global_atomic_min_max",
            "__opencl_c_ext_fp32_local_atomic_min_max",
        ]);
        if self.double_atomics() {
            features.extend([
                "__opencl_c_ext_fp64_global_atomic_add",
                "__opencl_c_ext_fp64_local_atomic_add",
                "__opencl_c_ext_fp64_global_atomic_min_max",
                "__opencl_c_ext_fp64_local_atomic_min_max",
            ]);
        }
        // On local memory alone, for groups of any size.
        features.push("__opencl_c_work_group_collective_functions");
        if self.subgroups {
            // Not cl_khr_subgroups, which promises that subgroups progress independently of each other
            // (CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS): nothing in Vulkan, Metal or DX12 does. The feature promises no such thing.
            features.push("__opencl_c_subgroups");
            extensions.extend([
                "cl_khr_subgroup_ballot",
                "cl_khr_subgroup_clustered_reduce",
                "cl_khr_subgroup_extended_types",
                "cl_khr_subgroup_non_uniform_arithmetic",
                "cl_khr_subgroup_non_uniform_vote",
                "cl_khr_subgroup_rotate",
                "cl_khr_subgroup_shuffle",
                "cl_khr_subgroup_shuffle_relative",
            ]);
        }
        if self.ordered_atomics() {
            features.extend(["__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_scope_device"]);
        }
        self.extensions = extensions.into_iter().map(str::to_owned).collect();
        self.features = features.into_iter().map(str::to_owned).collect();
        self
    }
}
