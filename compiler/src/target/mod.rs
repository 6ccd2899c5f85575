//! The properties of a device that the compiler uses: the features for programs ([`Language`]), and the features, costs
//! and defects for shaders ([`Shaders`]).
//!
//! These types do not name devices. Each field describes one property of a driver ([`Costs`], [`Defects`]). The
//! [`profiles`] contain the fields for the devices that were measured, and for some that were not. The driver,
//! `wgclc --device`, tests and fuzzers all use these profiles. A test of each back end compares the profiles with the
//! real device.

pub mod profiles;
mod shaders;

use serde::{Deserialize, Serialize};

pub use shaders::{Costs, Defects, FloatControls, Limits, Shaders};

/// Maximum size in bytes of one variable in global space (CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE).
pub const MAX_GLOBAL_VARIABLE: u64 = 64 << 20;
/// Maximum total size in bytes of all variables in global space. They share one storage binding. WebGPU guarantees that
/// a binding may have this size.
pub const MAX_GLOBAL_VARIABLES: u64 = 128 << 20;

/// The extension of named barriers.
const NAMED_BARRIERS: &str = "cl_khr_subgroup_named_barrier";

/// The properties of a device on which compilation depends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// The features for programs. They determine which programs the front end accepts, and what the device reports.
    pub language: Language,
    /// The features for shaders. They determine how a kernel is specialised and emitted. Unused for a device that does
    /// not run shaders.
    pub shaders: Shaders,
    /// The limits that determine which functions are inlined.
    pub inlining: Inlining,
    /// Whether kernels are compiled to machine code of the host ([`crate::vectorize`]) instead of to shaders.
    pub native: bool,
    /// The checks of values that kernels contain.
    pub value_checks: ValueChecks,
    /// Whether kernels report where asynchronous copies begin and end ([`crate::ir::Op::AsyncCopyBegin`]).
    pub marks_async_copies: bool,
    /// Memory that is zeroed before a kernel starts. The context of a program requests this (cl_khr_initialize_memory).
    /// It is not a property of the device.
    pub zeroed: Zeroed,
}

/// The checks of values that lowering adds to the kernels of an application, for the sanitizer (`WGCL_CHECK`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ValueChecks {
    /// Operators and built-in functions that compute a NaN from operands that are not NaN
    /// ([`crate::ir::Op::NanCheck`]).
    pub nans: bool,
    /// Conversions of floats to integers that cannot represent the result ([`crate::ir::Op::ConversionCheck`]).
    pub conversions: bool,
    /// Uses of uninitialised private variables ([`crate::ir::Op::UndefinedUse`]). A pass adds these checks.
    pub undefined: bool,
}

impl ValueChecks {
    pub const NONE: Self = Self { nans: false, conversions: false, undefined: false };

    /// Whether lowering adds checks, so that expressions must be evaluated only where the source evaluates them.
    pub const fn any(self) -> bool {
        self.nans || self.conversions
    }
}

/// Memory that is zeroed when a kernel starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Zeroed {
    pub local: bool,
    pub private: bool,
}

/// Limits for inlining. Calls are slower than inlined code. A function is called only if its copies would have too many
/// instructions, and if the device's language permits the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inlining {
    /// Maximum number of instructions of all copies of one function, over all call chains from kernels.
    pub max_copied_instructions: u64,
    /// A function with fewer instructions is always inlined. A call that passes its memory would cost as much as the
    /// function.
    pub min_call_instructions: usize,
    /// Whether functions may have pointer parameters and results, access all memory, and query the work-item. True for
    /// machine code and the interpreter. Otherwise private memory is passed by value, and functions with other pointers
    /// are inlined.
    pub takes_addresses: bool,
    /// Whether functions of shaders may have buffer addresses as parameters, query the work-item, and call atomic
    /// functions and `printf`. Only effective if the device has such addresses ([`Shaders::addresses`]).
    pub takes_buffer_addresses: bool,
}

impl Default for Inlining {
    /// If everything is inlined, hashcat's kernels m01800 and m22000, which have many rounds, have 1.6 million and
    /// 300,000 instructions. With these limits they have 54,000 and 46,000. Functions with few copies are still
    /// inlined.
    fn default() -> Self {
        Self { max_copied_instructions: 20_000, min_call_instructions: 300, takes_addresses: false, takes_buffer_addresses: true }
    }
}

impl Inlining {
    /// Inlines only the functions that cannot be called. For tests.
    pub const NONE: Self =
        Self { max_copied_instructions: 0, min_call_instructions: 0, takes_addresses: false, takes_buffer_addresses: false };

    /// Returns the same limits, except that only the functions that cannot be called are inlined.
    #[must_use]
    pub const fn keeping_all(self) -> Self {
        Self { max_copied_instructions: 0, min_call_instructions: 0, ..self }
    }

    /// Whether only the functions that cannot be called are inlined.
    pub const fn inlines_only_required(self) -> bool {
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
    /// Memory objects may have more than 2 GiB. So the byte offset of an element may need more than 32 bits even if its
    /// index does not.
    pub large_objects: bool,
    /// 64-bit integer atomics in global and local memory. They are native, or emulated with two words and a lock
    /// (`passes::locks`). The lock requires memory fences outside of barriers.
    pub int64_atomics: bool,
    /// Atomic operations on `half` are reported. In shaders they are loops, so this is false if the driver stops loops
    /// ([`Defects::max_loop_iterations`](shaders::Defects::max_loop_iterations)).
    pub half_atomics: bool,
    /// How an atomic operation orders other memory accesses.
    pub atomic_order: AtomicOrder,
    pub subgroups: bool,
    /// Number of work-items per subgroup in kernels without a required size, a power of two. The last subgroup of a
    /// work-group may be smaller. If the device selects the size, this is the maximum.
    pub subgroup_size: u32,
    /// The subgroup sizes that a kernel may require, as the bitwise OR of the sizes. 0 if only the device selects the
    /// size.
    pub subgroup_sizes: u32,
    /// The subgroup size that the user requests for kernels that do not require one (`WGCL_SUBGROUP`). Only code for
    /// CPUs depends on it: it otherwise uses the number of lanes of a vector.
    pub requested_subgroup_size: Option<u32>,
    /// Subgroups of a work-group make independent progress: a subgroup can wait for a value that another one writes.
    pub independent_subgroups: bool,
    /// The device's `fma` is fused and fast.
    pub fused_fma: bool,
    /// The device preserves single-precision denormals.
    pub denormals: bool,
    /// The device has an instruction that converts `float` to `half` with rounding to nearest, including denormals.
    pub rounds_to_half: bool,
    /// The device preserves half-precision denormals.
    pub half_denormals: bool,
    /// 16-bit elements in global memory are loaded and stored directly, not as halves of words.
    pub short_elements: bool,
    /// Maximum size in bytes of the local memory of a work-group.
    pub max_local_memory: u32,
    /// Kernels can read a clock that all work-items of the device share.
    pub device_clock: bool,
    /// Kernels can read a clock that the work-items of a subgroup share.
    pub subgroup_clock: bool,
    /// Kernels may enqueue kernels: blocks, queues, events and NDRanges in device code.
    pub device_enqueue: bool,
    pub images: bool,
    /// Applications can create multisample images from textures of OpenGL.
    pub multisample_images: bool,
    /// The reported extensions, in order. Each is a predefined macro.
    pub extensions: Vec<String>,
    /// The reported feature macros of OpenCL C 3.0.
    pub features: Vec<String>,
    /// Extensions that the user hides (`-name`) or adds (`+name`), independent of the support by the device.
    pub extension_changes: Vec<String>,
}

/// The features that [`Target::emulating`] emulates although the device may have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emulated {
    /// 64-bit integers, emulated with 32-bit integers.
    pub int64: bool,
    /// Doubles, emulated with 64-bit integers.
    pub fp64: bool,
    /// 64-bit atomics, emulated with locks.
    pub int64_atomics: bool,
}

/// The operations that order the accesses of all work-groups before and after an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AtomicOrder {
    /// Only barriers order accesses. The device does not report acquire and release.
    Nothing,
    /// Memory fences before and after the operation.
    Fences,
    /// Each atomic read-modify-write operation orders accesses. No fences are emitted, because on these devices a fence
    /// would wait for the other work-items of the work-group.
    ReadModifyWrite,
    /// Memory fences before and after the operation. All atomic operations and fences have one total order.
    Total,
}

impl Target {
    /// Returns the size in bytes of a pointer and of `size_t`.
    pub const fn pointer_size(&self) -> u32 {
        if self.language.int64 { 8 } else { 4 }
    }

    /// Whether doubles are emulated with integers (`crate::doubles`).
    pub const fn emulates_doubles(&self) -> bool {
        self.language.fp64 && !self.shaders.fp64
    }

    /// Whether `fma` and `mad` of doubles are fused and as fast as a product and a sum. This holds for native doubles
    /// with fused `fma`, and for emulated doubles.
    pub const fn fuses_doubles(&self) -> bool {
        self.language.fp64 && (self.language.fused_fma || self.emulates_doubles())
    }

    /// Returns the same device with some features emulated. If 64-bit integers are emulated, native doubles and native
    /// 64-bit atomics are removed. They are emulated only if `what` requests it.
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

    /// Whether the device reports an optional feature of OpenCL C 3.0. `name` is the feature macro.
    pub fn has_feature(&self, name: &str) -> bool {
        self.language.features.iter().any(|known| known == name)
    }

    /// Returns the target with other changes of the reported extensions, see [`Language::extension_changes`].
    #[must_use]
    pub fn with_extension_changes(self, changes: Vec<String>) -> Self {
        self.changed(|target| target.language.extension_changes = changes)
    }

    /// Applies a change to the target, and updates the reported extensions and features. For tests and tools.
    #[must_use]
    pub fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.with_extensions()
    }

    /// Returns the same device with the restrictions of wgpu's portable interface, as for OpenGL ES, Metal, DX12 and
    /// WebGPU. The naga module must pass full validation, and only barriers order atomics.
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
        // It is unknown whether the compiler of the target language fuses `fma`, so assume that it does not.
        self.language.fused_fma = false;
        self.language.rounds_to_half = false;
        self.with_extensions()
    }

    /// Returns the limits for inlining that are effective on this device.
    pub const fn effective_inlining(&self) -> Inlining {
        let takes_buffer_addresses = self.inlining.takes_buffer_addresses && self.shaders.addresses;
        Inlining { takes_buffer_addresses, ..self.inlining }
    }

    /// Returns the same device without fused `fma`. The library then uses equally accurate functions that do not need
    /// it.
    #[must_use]
    pub const fn without_fused_fma(mut self) -> Self {
        self.language.fused_fma = false;
        self
    }

    /// Returns the same device with the subgroup size `items`, a power of two. Kernels may also require the sizes in
    /// the bit set `sizes`.
    #[must_use]
    pub const fn with_subgroups_of(mut self, items: u32, sizes: u32) -> Self {
        self.language.subgroup_size = items;
        self.language.subgroup_sizes = items | sizes;
        self
    }

    /// Returns the same device with the subgroup size `items` for kernels that do not require a size. `items` must be
    /// one of its sizes.
    #[must_use]
    pub const fn with_requested_subgroups_of(mut self, items: u32) -> Self {
        self.language.subgroup_size = items;
        self.language.requested_subgroup_size = Some(items);
        self
    }

    /// Returns the same device with subgroups that may not wait for each other. The sanitizer runs one work-item after
    /// the other.
    #[must_use]
    pub fn without_independent_subgroups(mut self) -> Self {
        self.language.independent_subgroups = false;
        self.with_extensions()
    }

    /// Returns the same target with updated extensions and features, see [`Language::with_extensions`].
    #[must_use]
    pub fn with_extensions(self) -> Self {
        Self { language: self.language.with_extensions(), ..self }
    }
}

impl Language {
    /// Whether acquire and release atomics order other accesses.
    pub fn has_ordered_atomics(&self) -> bool {
        self.atomic_order != AtomicOrder::Nothing
    }

    /// Whether sequentially consistent atomics and fences have one total order that every work-item observes. This is
    /// impossible with Vulkan: its memory model has no sequential consistency, and Vulkan has no other way to order a
    /// store before a load of other memory.
    pub fn has_sequential_atomics(&self) -> bool {
        self.atomic_order == AtomicOrder::Total
    }

    /// Whether the device has `atomic_double`. The compiler implements it with 64-bit integer atomics.
    pub const fn has_double_atomics(&self) -> bool {
        self.fp64 && self.int64_atomics
    }

    /// Whether the device reports atomic operations on `half`.
    pub const fn has_half_atomics(&self) -> bool {
        self.fp16 && self.half_atomics
    }

    /// Whether the device has every feature that OpenCL C 3.1 makes mandatory. Only subgroups may be missing.
    pub const fn supports_opencl_c_31(&self) -> bool {
        self.subgroups
    }

    /// Whether the device has every feature of OpenCL C 2.0 that 3.0 made optional (OpenCL API, appendix "OpenCL 3.0
    /// Backwards Compatibility"). Such a device accepts `-cl-std=CL2.0`.
    pub fn supports_opencl_c_20(&self) -> bool {
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

    /// Whether SPIR-V modules may use named barriers. A subgroup waits in a loop for the others.
    pub fn has_named_barriers(&self) -> bool {
        self.extensions.iter().any(|name| name == NAMED_BARRIERS)
    }

    /// Whether the user hides an extension.
    pub fn hides_extension(&self, name: &str) -> bool {
        is_hidden(&self.extension_changes, name)
    }

    /// Whether `#pragma OPENCL EXTENSION` accepts an extension. `cl_nv_pragma_unroll` is accepted but not reported:
    /// some programs conclude from its macro or its name that the compiler is NVIDIA's, and use inline PTX.
    pub(crate) fn accepts_extension(&self, name: &str) -> bool {
        name == "cl_nv_pragma_unroll" || self.extensions.iter().any(|known| known == name)
    }

    /// Sets `extensions` and `features`, which depend only on the other fields. Clears `fp64` and `fp16` if the user
    /// hides their extensions.
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
            // A split barrier is an ordinary barrier at the wait.
            "cl_intel_split_work_group_barrier",
            "cl_khr_extended_async_copies",
            "cl_khr_extended_bit_ops",
            "cl_khr_global_int32_base_atomics",
            "cl_khr_global_int32_extended_atomics",
            "cl_khr_integer_dot_product",
            "cl_khr_local_int32_base_atomics",
            "cl_khr_local_int32_extended_atomics",
            // Implemented with local memory, like the other collective functions of work-groups.
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
        // The extension requires the others.
        let requires = ["cl_khr_depth_images", "cl_khr_gl_sharing", "cl_khr_gl_depth_images"];
        if self.images && self.multisample_images && !requires.iter().any(|name| self.hides_extension(name)) {
            extensions.push("cl_khr_gl_msaa_sharing");
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
            if self.independent_subgroups {
                extensions.extend(["cl_khr_subgroups", NAMED_BARRIERS]);
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
            // Pipes require only ordinary memory and 32-bit atomics.
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
            // The clock of a work-group may be any clock that all work-items of the work-group share.
            features.extend(["__opencl_c_kernel_clock_scope_device", "__opencl_c_kernel_clock_scope_work_group"]);
        }
        if self.has_sub_group_clock() {
            features.push("__opencl_c_kernel_clock_scope_sub_group");
        }
        // Implemented with local memory, for work-groups of any size.
        features.push("__opencl_c_work_group_collective_functions");
        if self.subgroups {
            // This feature does not require the independent forward progress of subgroups that cl_khr_subgroups
            // requires (CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS). Vulkan, Metal and DX12 do not guarantee this
            // progress.
            features.push("__opencl_c_subgroups");
        }
        // Every atomic operation is atomic for the whole device, even if the device has only the relaxed order. Without
        // atomics in shared virtual memory, the scope "all devices" is this device (OpenCL API,
        // CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES).
        features.extend(["__opencl_c_atomic_scope_device", "__opencl_c_atomic_scope_all_devices"]);
        if self.has_ordered_atomics() {
            features.push("__opencl_c_atomic_order_acq_rel");
        }
        if self.device_enqueue {
            features.push("__opencl_c_device_enqueue");
        }
        if self.has_sequential_atomics() {
            features.push("__opencl_c_atomic_order_seq_cst");
        }
        features
    }

    /// Adds the features of cl_ext_float_atomics. Without native instructions, these functions are loops of
    /// compare-and-exchange. In shaders the loop for a `half` accesses the word that contains it.
    fn push_float_atomics(&self, features: &mut Vec<&'static str>) {
        features.extend([
            "__opencl_c_ext_fp32_global_atomic_add",
            "__opencl_c_ext_fp32_local_atomic_add",
            "__opencl_c_ext_fp32_global_atomic_min_max",
            "__opencl_c_ext_fp32_local_atomic_min_max",
        ]);
        if self.has_half_atomics() {
            features.extend([
                "__opencl_c_ext_fp16_global_atomic_load_store",
                "__opencl_c_ext_fp16_local_atomic_load_store",
                "__opencl_c_ext_fp16_global_atomic_add",
                "__opencl_c_ext_fp16_local_atomic_add",
                "__opencl_c_ext_fp16_global_atomic_min_max",
                "__opencl_c_ext_fp16_local_atomic_min_max",
            ]);
        }
        if self.has_double_atomics() {
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
