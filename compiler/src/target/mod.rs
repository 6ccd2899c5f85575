//! The properties of a device that the compiler uses: the features for programs ([`Language`]), and the features and
//! costs for shaders ([`Shaders`]).
//!
//! Nothing here names a device. Each field states one property of a driver ([`Costs`], [`Defects`]). The [`profiles`]
//! combine the fields for the devices that were measured. The driver, `wgclc --device`, tests and fuzzers all start
//! from the same profiles. A test of each back end compares the profiles with the real device.

pub mod profiles;
mod shaders;

use serde::{Deserialize, Serialize};

pub use shaders::{Costs, Defects, FloatControls, Limits, Shaders};

/// Size limit in bytes of one variable in global space (CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE).
pub const MAX_GLOBAL_VARIABLE: u64 = 64 << 20;
/// Size limit in bytes of all such variables together. They share one storage binding; this is the smallest limit
/// that WebGPU guarantees.
pub const MAX_GLOBAL_VARIABLES: u64 = 128 << 20;

/// A device as the compiler sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// The features for programs. They decide what the front end accepts and what the device reports.
    pub language: Language,
    /// The features for shaders. They decide how a kernel is specialised and emitted. Unused for a device that does not
    /// run shaders.
    pub shaders: Shaders,
    /// Which functions are not inlined.
    pub inlining: Inlining,
    /// Whether kernels are compiled to machine code of the host ([`crate::vectorize`]) instead of to shaders.
    pub native: bool,
    /// Whether kernels report operators and built-in functions that compute a NaN from
    /// operands that are not NaN ([`crate::ir::Op::NanCheck`]).
    pub nan_checks: bool,
    /// Memory that is zeroed before a kernel starts. The context that builds a program requests this
    /// (cl_khr_initialize_memory); it is not a property of the device.
    pub zeroed: Zeroed,
}

/// Memory that is zero when a kernel starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Zeroed {
    pub local: bool,
    pub private: bool,
}

/// Which functions stay functions, if the device's language allows it: those whose inlined copies would be too much
/// code. Calls are slower than inlined code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inlining {
    /// Limit for the instructions of all copies of one function, over all call chains from kernels.
    pub max_copied_instructions: u64,
    /// A function with fewer instructions is always inlined: passing the memory would cost as much.
    pub min_call_instructions: usize,
    /// Functions may take and return pointers, access all memory and query the work-item: machine code and the
    /// interpreter. Otherwise private memory is passed by value, and functions with other pointers are inlined.
    pub takes_addresses: bool,
    /// Functions of shaders may take addresses of buffers, query the work-item, and call atomic functions and `printf`,
    /// if the device has such addresses ([`Shaders::addresses`]).
    pub takes_buffer_addresses: bool,
}

impl Default for Inlining {
    /// With everything inlined, hashcat's kernels with many rounds have 1.6 million instructions (m01800) and 300,000
    /// (m22000). With these limits they have 54,000 and 46,000. Functions with few copies are not affected.
    fn default() -> Self {
        Self { max_copied_instructions: 20_000, min_call_instructions: 300, takes_addresses: false, takes_buffer_addresses: true }
    }
}

impl Inlining {
    /// Keeps every function that can be kept: for tests.
    pub const NONE: Self =
        Self { max_copied_instructions: 0, min_call_instructions: 0, takes_addresses: false, takes_buffer_addresses: false };

    /// Keeps every function that can be kept.
    #[must_use]
    pub const fn keeping_all(self) -> Self {
        Self { max_copied_instructions: 0, min_call_instructions: 0, ..self }
    }

    /// Whether it keeps every function that can be kept.
    pub const fn is_none(self) -> bool {
        self.max_copied_instructions == 0
    }
}

/// The features of a device for OpenCL C programs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Language {
    /// 64-bit integers. Without them, pointers have 32 bits and `long` is rejected.
    pub int64: bool,
    pub fp64: bool,
    pub fp16: bool,
    /// Memory objects may have more than 2 GiB, so an index of 32 bits may give an offset of more than 32 bits.
    pub large_objects: bool,
    /// 64-bit integer atomics in global and local memory: native, or emulated with two words and a lock
    /// (`passes::locks`). The lock needs memory fences outside of barriers.
    pub int64_atomics: bool,
    /// How an atomic operation orders other memory accesses.
    pub atomic_order: AtomicOrder,
    pub subgroups: bool,
    /// Work-items per subgroup, except for the last subgroup of a work-group, in kernels without a required size: a
    /// power of two. If the device chooses the size, this is the largest one.
    pub subgroup_size: u32,
    /// The subgroup sizes that a kernel may require: the bitwise OR of the sizes, or 0 if the device chooses.
    pub subgroup_sizes: u32,
    /// The device's `fma` is fused and fast.
    pub fused_fma: bool,
    /// Single-precision denormals are kept.
    pub denormals: bool,
    /// The device has an instruction that converts `float` to `half` with rounding to nearest, including denormals.
    pub rounds_to_half: bool,
    /// Half-precision denormals are kept.
    pub half_denormals: bool,
    /// 16-bit elements in global memory are loaded and stored directly, not as parts of words.
    pub short_elements: bool,
    /// Size limit in bytes of the local memory of a work-group.
    pub max_local_memory: u32,
    /// Kernels can read a clock that the whole device shares.
    pub device_clock: bool,
    /// Kernels can read a clock that a subgroup shares.
    pub subgroup_clock: bool,
    /// Kernels may enqueue kernels: blocks, queues, events and NDRanges of the device.
    pub device_enqueue: bool,
    pub images: bool,
    /// Extensions that the device reports, in order: each is a predefined macro.
    pub extensions: Vec<String>,
    /// OpenCL C 3.0 feature macros that the device reports.
    pub features: Vec<String>,
    /// Extensions that the user hides (`-name`) or adds (`+name`), whatever the device supports.
    pub extension_changes: Vec<String>,
}

/// The features that are emulated although the device may have them ([`Target::emulating`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emulated {
    /// 64-bit integers, emulated with 32-bit integers.
    pub int64: bool,
    /// Doubles, emulated with 64-bit integers.
    pub fp64: bool,
    /// 64-bit atomics, emulated with locks.
    pub int64_atomics: bool,
}

/// How accesses before and after an atomic operation are ordered, for all work-groups of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AtomicOrder {
    /// Only barriers order accesses: the device does not report acquire and release.
    Nothing,
    /// Fences before and after the operation.
    Fences,
    /// Each atomic read-modify-write operation orders accesses. A fence would wait for the other work-items of the
    /// group, so none is emitted.
    ReadModifyWrite,
    /// All memory accesses are sequentially consistent.
    Total,
}

impl Target {
    /// Bytes of a pointer and of `size_t`.
    pub const fn pointer_size(&self) -> u32 {
        if self.language.int64 { 8 } else { 4 }
    }

    /// Whether doubles are emulated with integers (`crate::doubles`).
    pub const fn soft_doubles(&self) -> bool {
        self.language.fp64 && !self.shaders.fp64
    }

    /// Whether `fma` and `mad` of doubles are fused and as fast as a product and a sum. This holds for native doubles
    /// with fused `fma`, and for emulated doubles.
    pub const fn fuses_doubles(&self) -> bool {
        self.language.fp64 && (self.language.fused_fma || self.soft_doubles())
    }

    /// The same device with some features emulated. Emulated 64-bit integers disable native doubles and native 64-bit
    /// atomics, which are then emulated only if `what` requests it.
    #[must_use]
    pub fn emulating(self, what: Emulated) -> Self {
        self.changed(|target| {
            if what.int64 {
                target.shaders.int64 = false;
                target.shaders.addresses = false;
                target.language.fp64 = false;
            }
            target.shaders.int64_atomics &= !what.int64 && !what.int64_atomics;
            target.language.int64_atomics = target.shaders.int64_atomics || (what.int64_atomics && target.shaders.fences);
            target.shaders.fp64 &= !what.int64 && !what.fp64;
            target.language.fp64 |= what.fp64;
        })
    }

    /// Whether the device reports an extension.
    pub fn has_extension(&self, name: &str) -> bool {
        self.language.extensions.iter().any(|known| known == name)
    }

    /// Whether the device reports an optional feature of OpenCL C 3.0, given by its macro.
    pub fn has_feature(&self, name: &str) -> bool {
        self.language.features.iter().any(|known| known == name)
    }

    /// The target with extensions that the user hides or adds; see [`Language::extension_changes`].
    #[must_use]
    pub fn with_extension_changes(self, changes: Vec<String>) -> Self {
        self.changed(|target| target.language.extension_changes = changes)
    }

    /// A copy of the target with a change; updates the reported extensions and features. For tests and tools.
    #[must_use]
    pub fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.with_extensions()
    }

    /// The same device used through wgpu's portable interface only, like Metal, DX12 and WebGPU: strictly valid naga,
    /// in which only barriers order atomics.
    #[must_use]
    pub fn without_spirv(mut self) -> Self {
        self.shaders.spirv = false;
        self.shaders.exact = false;
        self.shaders.addresses = false;
        self.shaders.float_controls = FloatControls::default();
        self.language.atomic_order = AtomicOrder::Nothing;
        self.language.short_elements = false;
        self.language.device_clock = false;
        self.language.subgroup_clock = false;
        self.language.device_enqueue = false;
        // The target language decides how `fma` is compiled.
        self.language.fused_fma = false;
        self.language.rounds_to_half = false;
        self.with_extensions()
    }

    /// The inlining of this device's functions.
    pub const fn call_limits(&self) -> Inlining {
        let takes_buffer_addresses = self.inlining.takes_buffer_addresses && self.shaders.addresses;
        Inlining { takes_buffer_addresses, ..self.inlining }
    }

    /// The same device without `fma` instructions: the library then uses variants that are as accurate without them.
    #[must_use]
    pub const fn without_fused_fma(mut self) -> Self {
        self.language.fused_fma = false;
        self
    }

    /// The same device with another subgroup size, a power of two, and another set of sizes that kernels may require.
    #[must_use]
    pub const fn with_subgroups_of(mut self, items: u32, sizes: u32) -> Self {
        self.language.subgroup_size = items;
        self.language.subgroup_sizes = items | sizes;
        self
    }

    /// The same target with the extensions and features that follow from it; see [`Language::with_extensions`].
    #[must_use]
    pub fn with_extensions(self) -> Self {
        Self { language: self.language.with_extensions(), ..self }
    }
}

impl Language {
    /// Whether atomics with acquire and release order other accesses.
    pub fn ordered_atomics(&self) -> bool {
        self.atomic_order != AtomicOrder::Nothing
    }

    /// Whether sequentially consistent atomics and fences have one total order that every work-item sees. Vulkan has
    /// none: its memory model forbids sequential consistency, and nothing else orders a store before a load of other
    /// memory.
    pub fn sequential_atomics(&self) -> bool {
        self.atomic_order == AtomicOrder::Total
    }

    /// Whether `atomic_double` exists; it is implemented with 64-bit integer atomics.
    pub const fn double_atomics(&self) -> bool {
        self.fp64 && self.int64_atomics
    }

    /// Whether the device has every feature that OpenCL C 3.1 makes mandatory. Only subgroups can be missing.
    pub const fn opencl_c_31(&self) -> bool {
        self.subgroups
    }

    /// Whether the device has every feature of OpenCL C 2.0 that 3.0 made optional (OpenCL API, appendix "OpenCL 3.0
    /// Backwards Compatibility"). If so, it accepts `-cl-std=CL2.0`.
    pub fn opencl_c_20(&self) -> bool {
        let has = |name: &str| self.features.iter().any(|known| known == name);
        self.int64
            && [
                "__opencl_c_atomic_order_acq_rel",
                "__opencl_c_atomic_order_seq_cst",
                "__opencl_c_atomic_scope_device",
                "__opencl_c_atomic_scope_all_devices",
                "__opencl_c_device_enqueue",
                "__opencl_c_generic_address_space",
                "__opencl_c_pipes",
                "__opencl_c_program_scope_global_variables",
                "__opencl_c_read_write_images",
                "__opencl_c_work_group_collective_functions",
            ]
            .into_iter()
            .all(has)
    }

    /// Whether a kernel may require this subgroup size.
    pub const fn has_subgroups_of(&self, size: u32) -> bool {
        self.subgroups && size.is_power_of_two() && self.subgroup_sizes & size != 0
    }

    /// Whether the user hides an extension.
    pub fn hides_extension(&self, name: &str) -> bool {
        is_hidden(&self.extension_changes, name)
    }

    /// Whether `#pragma OPENCL EXTENSION` accepts a name. Some programs conclude from the macro or
    /// the name of `cl_nv_pragma_unroll` that the compiler is NVIDIA's, and use inline PTX. So it is accepted, but not
    /// reported.
    pub(crate) fn accepts_extension(&self, name: &str) -> bool {
        name == "cl_nv_pragma_unroll" || self.extensions.iter().any(|known| known == name)
    }

    /// Fills in `extensions` and `features` from the other fields. Nothing else decides what is reported.
    #[must_use]
    pub fn with_extensions(mut self) -> Self {
        self.fp64 &= !self.hides_extension("cl_khr_fp64");
        self.fp16 &= !self.hides_extension("cl_khr_fp16");
        let mut extensions = self.supported_extensions();
        let added = self.extension_changes.iter().filter_map(|change| change.strip_prefix('+'));
        extensions.extend(added.filter(|name| !extensions.contains(name)).collect::<Vec<_>>());
        extensions.retain(|name| !self.hides_extension(name));
        self.extensions = extensions.into_iter().map(str::to_owned).collect();
        self.features = self.supported_features().into_iter().map(str::to_owned).collect();
        self
    }

    fn has_sub_group_clock(&self) -> bool {
        self.subgroup_clock && self.subgroups
    }

    fn supported_extensions(&self) -> Vec<&'static str> {
        let mut extensions = vec![
            "cl_ext_float_atomics",
            "cl_khr_async_work_group_copy_fence",
            "cl_khr_byte_addressable_store",
            // A split barrier is implemented as an ordinary barrier at the wait.
            "cl_intel_split_work_group_barrier",
            "cl_khr_extended_async_copies",
            "cl_khr_extended_bit_ops",
            "cl_khr_global_int32_base_atomics",
            "cl_khr_global_int32_extended_atomics",
            "cl_khr_integer_dot_product",
            "cl_khr_local_int32_base_atomics",
            "cl_khr_local_int32_extended_atomics",
            // Implemented like the other collective functions: with local memory only.
            "cl_khr_work_group_uniform_arithmetic",
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
        if self.images {
            extensions.extend([
                "cl_khr_3d_image_writes",
                "cl_khr_depth_images",
                "cl_khr_image2d_from_buffer",
                "cl_khr_mipmap_image",
                "cl_khr_mipmap_image_writes",
                "cl_khr_srgb_image_writes",
                "cl_ext_image_unorm_int_2_101010",
            ]);
        }
        if self.device_clock || self.has_sub_group_clock() {
            extensions.push("cl_khr_kernel_clock");
        }
        if self.subgroups {
            extensions.extend([
                "cl_khr_subgroup_ballot",
                "cl_khr_subgroup_clustered_reduce",
                "cl_khr_subgroup_extended_types",
                "cl_khr_subgroup_non_uniform_arithmetic",
                "cl_khr_subgroup_non_uniform_vote",
                "cl_khr_subgroup_rotate",
                "cl_khr_subgroup_shuffle",
                "cl_khr_subgroup_shuffle_relative",
                "cl_intel_subgroups",
                "cl_intel_subgroups_char",
                "cl_intel_subgroups_short",
            ]);
            if self.int64 {
                extensions.push("cl_intel_subgroups_long");
            }
            if self.subgroup_sizes != 0 {
                extensions.push("cl_intel_required_subgroup_size");
            }
        }
        extensions
    }

    fn supported_features(&self) -> Vec<&'static str> {
        let mut features = vec![
            "__opencl_c_generic_address_space",
            "__opencl_c_integer_dot_product_input_4x8bit",
            "__opencl_c_integer_dot_product_input_4x8bit_packed",
            // Pipes need only ordinary memory and 32-bit atomics.
            "__opencl_c_pipes",
            "__opencl_c_program_scope_global_variables",
        ];
        if self.images {
            features.extend([
                "__opencl_c_images",
                "__opencl_c_3d_image_writes",
                "__opencl_c_read_write_images",
                "__opencl_c_ext_image_unorm_int_2_101010",
            ]);
        }
        if self.int64 {
            features.push("__opencl_c_int64");
        }
        if self.fp64 {
            features.push("__opencl_c_fp64");
        }
        self.push_float_atomics(&mut features);
        if self.device_clock {
            // A work-group's clock may be any clock that the whole work-group sees.
            features.extend(["__opencl_c_kernel_clock_scope_device", "__opencl_c_kernel_clock_scope_work_group"]);
        }
        if self.has_sub_group_clock() {
            features.push("__opencl_c_kernel_clock_scope_sub_group");
        }
        // Implemented with local memory only, for groups of any size.
        features.push("__opencl_c_work_group_collective_functions");
        if self.subgroups {
            // This is not cl_khr_subgroups, which promises that subgroups make progress independently of each other
            // (CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS). Vulkan, Metal and DX12 do not promise this, and the
            // feature does not require it.
            features.push("__opencl_c_subgroups");
        }
        if self.ordered_atomics() {
            // Without atomics in shared virtual memory, the scope "all devices" means this device (OpenCL API,
            // CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES).
            features.extend(["__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_scope_device", "__opencl_c_atomic_scope_all_devices"]);
        }
        if self.device_enqueue {
            features.push("__opencl_c_device_enqueue");
        }
        if self.sequential_atomics() {
            features.push("__opencl_c_atomic_order_seq_cst");
        }
        features
    }

    /// Adds the features of cl_ext_float_atomics. Without native instructions these functions are loops of
    /// compare-and-exchange; in shaders, on the word that contains the half.
    fn push_float_atomics(&self, features: &mut Vec<&'static str>) {
        features.extend([
            "__opencl_c_ext_fp32_global_atomic_add",
            "__opencl_c_ext_fp32_local_atomic_add",
            "__opencl_c_ext_fp32_global_atomic_min_max",
            "__opencl_c_ext_fp32_local_atomic_min_max",
        ]);
        if self.fp16 {
            features.extend([
                "__opencl_c_ext_fp16_global_atomic_load_store",
                "__opencl_c_ext_fp16_local_atomic_load_store",
                "__opencl_c_ext_fp16_global_atomic_add",
                "__opencl_c_ext_fp16_local_atomic_add",
                "__opencl_c_ext_fp16_global_atomic_min_max",
                "__opencl_c_ext_fp16_local_atomic_min_max",
            ]);
        }
        if self.double_atomics() {
            features.extend([
                "__opencl_c_ext_fp64_global_atomic_add",
                "__opencl_c_ext_fp64_local_atomic_add",
                "__opencl_c_ext_fp64_global_atomic_min_max",
                "__opencl_c_ext_fp64_local_atomic_min_max",
            ]);
        }
    }
}

/// Whether a list of changes hides an extension ([`Language::extension_changes`]).
pub fn is_hidden(changes: &[String], name: &str) -> bool {
    changes.iter().any(|change| change.strip_prefix('-') == Some(name))
}
