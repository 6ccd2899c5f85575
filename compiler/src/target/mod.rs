//! What the compiler has to know of a device: what programs may use ([`Language`]) and what shaders may use, and at what cost ([`Shaders`]).
//!
//! Nothing here names a device. What a driver does well or wrongly stands in a field that says just that ([`Costs`], [`Defects`]), and the [`profiles`] put
//! together what is known of the devices that were measured. The driver, `wgclc --device`, tests and fuzzers all start from the same profiles; a test of the
//! backend holds each against the real device.

pub mod profiles;
mod shaders;

use serde::{Deserialize, Serialize};

pub use shaders::{Costs, Defects, FloatControls, Limits, Shaders};

/// Bytes of the largest variable in global space that a program may have (CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE).
pub const MAX_GLOBAL_VARIABLE: u64 = 64 << 20;
/// Bytes of all of them together: they are one storage binding, and this is the least that a device of WebGPU's limits can bind.
pub const MAX_GLOBAL_VARIABLES: u64 = 128 << 20;

/// A device as the compiler sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// What programs may use: decides what the front end accepts and what is reported.
    pub language: Language,
    /// What shaders may use: decides how a kernel is specialised and emitted. Without meaning for a device that runs none.
    pub shaders: Shaders,
    /// Which functions stay functions.
    pub inlining: Inlining,
    /// Whether kernels become machine code of the host ([`crate::vectorize`]) and not shaders.
    pub native: bool,
    /// Whether kernels tell where the source's operators and built-in functions make a NaN of numbers ([`crate::ir::Op::NanCheck`]).
    pub nan_checks: bool,
    /// Memory that kernels find zeroed: a wish of the context that builds a program (cl_khr_initialize_memory), and not the device's.
    pub zeroed: Zeroed,
}

/// Memory that is zero when a kernel begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Zeroed {
    /// That of work-groups.
    pub local: bool,
    /// That of work-items.
    pub private: bool,
}

/// Which functions that take pointers to private memory stay functions, where the language of the device's code allows it: those whose copies would be too much code. They are
/// given the memory by value, which no function gains from that a device could have had inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inlining {
    /// Instructions of all copies of a function together, along all chains of calls from kernels.
    pub most_copies: u64,
    /// A function of fewer instructions is copied all the same: handing memory over would be as much.
    pub worth_a_call: usize,
}

impl Default for Inlining {
    /// hashcat's kernels of many rounds are 1.6 million instructions (m01800) and 300,000 (m22000) where everything is inlined, and 54,000 and 46,000 so. Functions that were copied a
    /// few times are as before.
    fn default() -> Self {
        Self { most_copies: 20_000, worth_a_call: 300 }
    }
}

impl Inlining {
    /// Whatever can stay does: for tests.
    pub const NONE: Self = Self { most_copies: 0, worth_a_call: 0 };
}

/// What OpenCL C programs may use on a device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Language {
    /// 64-bit integers. Without them pointers have 32 bits and `long` is refused.
    pub int64: bool,
    /// `double`.
    pub fp64: bool,
    /// `half` arithmetic.
    pub fp16: bool,
    /// Memory objects may have more than 2 GiB: an index of 32 bits may lead to an offset of more.
    pub far_offsets: bool,
    /// 64-bit integer atomics in global and local memory: the device's own, or on two words under a lock (`passes::locks`), for which it needs fences that are no barriers.
    pub int64_atomics: bool,
    /// What orders other memory accesses around an atomic one.
    pub atomic_order: AtomicOrder,
    /// Subgroup operations.
    pub subgroups: bool,
    /// Work-items of a subgroup, the last one of a work-group excepted, of kernels that require no other size: a power of two. The most that one may have where
    /// the device chooses.
    pub subgroup_size: u32,
    /// The sizes that a kernel may require its subgroups to have, each the bit of that value; none where the device chooses.
    pub subgroup_sizes: u32,
    /// The device's `fma` is fused and quick.
    pub fused_fma: bool,
    /// Single-precision denormals are kept.
    pub denormals: bool,
    /// `float` becomes `half` by rounding to the nearest, denormals included, as an instruction of the device.
    pub rounds_to_half: bool,
    /// Half-precision denormals are kept.
    pub half_denormals: bool,
    /// Elements of 16 bits in global memory are loaded and stored as they are, and not as parts of words.
    pub short_elements: bool,
    /// Bytes of local memory that a work-group may have.
    pub max_local_memory: u32,
    /// Kernels can read a clock that all of the device has in common.
    pub device_clock: bool,
    /// Kernels can read a clock that a subgroup has in common.
    pub subgroup_clock: bool,
    /// Kernels may enqueue kernels: blocks, queues, events and NDRanges of the device.
    pub device_enqueue: bool,
    /// Images (`__IMAGE_SUPPORT__`).
    pub images: bool,
    /// Extensions that the device reports, in order: each is a predefined macro.
    pub extensions: Vec<String>,
    /// OpenCL C 3.0 feature macros that the device reports.
    pub features: Vec<String>,
}

/// What a device is made to do by other means although it may have it ([`Target::emulating`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emulated {
    /// 64-bit integers, by words.
    pub int64: bool,
    /// Doubles, by 64-bit integers.
    pub fp64: bool,
    /// Atomics of 64 bits, by locks.
    pub int64_atomics: bool,
}

/// What orders the accesses before and after an atomic one, among all work-groups of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AtomicOrder {
    /// Nothing but barriers: acquire and release are not reported.
    Nothing,
    /// Fences before and after it.
    Fences,
    /// Every atomic that reads and writes; fences would wait for the other work-items of the group, so that none is made.
    ReadModifyWrite,
    /// Everything: the accesses of all work-items happen one after the other, each work-item's in the order of its program.
    Total,
}

impl Target {
    /// Bytes of a pointer and of `size_t`.
    pub const fn pointer_size(&self) -> u32 {
        if self.language.int64 { 8 } else { 4 }
    }

    /// Whether doubles are made of integers (`crate::doubles`).
    pub const fn soft_doubles(&self) -> bool {
        self.language.fp64 && !self.shaders.fp64
    }

    /// Whether `fma` and `mad` of doubles are fused, and as quick as a product and a sum: as the device does them, and where integers do.
    pub const fn fuses_doubles(&self) -> bool {
        self.language.fp64 && (self.language.fused_fma || self.soft_doubles())
    }

    /// The same device with what kernels do by other means. Without integers of 64 bits there are doubles only by integers, and atomics of 64 bits only by locks.
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

    /// Whether an extension is reported.
    pub fn has_extension(&self, name: &str) -> bool {
        self.language.extensions.iter().any(|known| known == name)
    }

    /// Whether an optional feature of OpenCL C 3.0 is reported, by its macro.
    pub fn has_feature(&self, name: &str) -> bool {
        self.language.features.iter().any(|known| known == name)
    }

    /// The same target with something changed, and what follows from that reported: for tests and tools.
    #[must_use]
    pub fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.with_extensions()
    }

    /// The same device reached by wgpu's portable interface alone, as Metal, DX12 and WebGPU are: strictly valid naga, in which nothing but barriers orders atomics.
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
        // What `fma` becomes is for the languages in between to say.
        self.language.fused_fma = false;
        self.language.rounds_to_half = false;
        self.with_extensions()
    }

    /// The same device without instructions for `fma`: the library's functions take ways that are as accurate without.
    #[must_use]
    pub const fn without_fused_fma(mut self) -> Self {
        self.language.fused_fma = false;
        self
    }

    /// The same device with subgroups of so many work-items, a power of two, and of such sizes for kernels that require them.
    #[must_use]
    pub const fn with_subgroups_of(mut self, items: u32, sizes: u32) -> Self {
        self.language.subgroup_size = items;
        self.language.subgroup_sizes = items | sizes;
        self
    }

    /// The same target with the extensions and features that follow from it, see [`Language::with_extensions`].
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

    /// Whether there is one order of all atomics and fences that ask for it, which every work-item sees. Vulkan has none: its memory model forbids to
    /// ask for sequential consistency, and nothing else orders a store before a load of other memory.
    pub fn sequential_atomics(&self) -> bool {
        self.atomic_order == AtomicOrder::Total
    }

    /// Whether `atomic_double` exists: by 64-bit integer atomics.
    pub const fn double_atomics(&self) -> bool {
        self.fp64 && self.int64_atomics
    }

    /// Whether the device has all that OpenCL C 3.1 made mandatory: subgroups. The rest every device has.
    pub const fn opencl_c_31(&self) -> bool {
        self.subgroups
    }

    /// Whether the device has all that OpenCL C 2.0 asks for, which 3.0 made optional (OpenCL API, appendix "OpenCL 3.0 Backwards Compatibility"): then 2.0 is
    /// a language of it.
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

    /// Whether a kernel may require subgroups of that size.
    pub const fn has_subgroups_of(&self, size: u32) -> bool {
        self.subgroups && size.is_power_of_two() && self.subgroup_sizes & size != 0
    }

    /// Fills in `extensions` and `features` from the other fields: the one place that says what is reported when.
    #[must_use]
    pub fn with_extensions(mut self) -> Self {
        let mut extensions = vec![
            "cl_ext_float_atomics",
            "cl_khr_async_work_group_copy_fence",
            "cl_khr_byte_addressable_store",
            // A barrier where work-items wait for it.
            "cl_intel_split_work_group_barrier",
            "cl_nv_pragma_unroll",
            "cl_khr_extended_async_copies",
            "cl_khr_extended_bit_ops",
            "cl_khr_global_int32_base_atomics",
            "cl_khr_global_int32_extended_atomics",
            "cl_khr_integer_dot_product",
            "cl_khr_local_int32_base_atomics",
            "cl_khr_local_int32_extended_atomics",
            // As the collective functions themselves: on local memory alone.
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
        let mut features = vec![
            "__opencl_c_generic_address_space",
            "__opencl_c_integer_dot_product_input_4x8bit",
            "__opencl_c_integer_dot_product_input_4x8bit_packed",
            // Memory like any other, and 32-bit atomics.
            "__opencl_c_pipes",
            "__opencl_c_program_scope_global_variables",
        ];
        if self.images {
            extensions.extend([
                "cl_khr_3d_image_writes",
                "cl_khr_depth_images",
                "cl_khr_image2d_from_buffer",
                "cl_khr_mipmap_image",
                "cl_khr_mipmap_image_writes",
                "cl_khr_srgb_image_writes",
            ]);
            extensions.push("cl_ext_image_unorm_int_2_101010");
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
        // Without native ones they are loops of compare-and-exchange, in shaders of the word that holds a half.
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
        if self.device_clock {
            // A work-group's clock may be any that all of it sees.
            features.extend(["__opencl_c_kernel_clock_scope_device", "__opencl_c_kernel_clock_scope_work_group"]);
        }
        if self.subgroup_clock && self.subgroups {
            features.push("__opencl_c_kernel_clock_scope_sub_group");
        }
        if self.device_clock || (self.subgroup_clock && self.subgroups) {
            extensions.push("cl_khr_kernel_clock");
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
            extensions.extend(["cl_intel_subgroups", "cl_intel_subgroups_char", "cl_intel_subgroups_short"]);
            if self.int64 {
                extensions.push("cl_intel_subgroups_long");
            }
            if self.subgroup_sizes != 0 {
                extensions.push("cl_intel_required_subgroup_size");
            }
        }
        if self.ordered_atomics() {
            // Without atomics in shared virtual memory all devices are this one (OpenCL API, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES).
            features.extend(["__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_scope_device", "__opencl_c_atomic_scope_all_devices"]);
        }
        if self.device_enqueue {
            features.push("__opencl_c_device_enqueue");
        }
        if self.sequential_atomics() {
            features.push("__opencl_c_atomic_order_seq_cst");
        }
        self.extensions = extensions.into_iter().map(str::to_owned).collect();
        self.features = features.into_iter().map(str::to_owned).collect();
        self
    }
}
