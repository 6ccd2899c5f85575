//! Profiles of the devices that were measured, and of devices that were not available for measurements.
//!
//! A driver for a real device uses the [`Costs`] and [`Defects`] of its profile, and queries the other properties.

use super::{AtomicOrder, Costs, Defects, FloatControls, Inlining, Language, Limits, Shaders, Target, ValueChecks, Zeroed};

/// Maximum size in bytes of the private arrays of a work-item in the shader function. NVIDIA's Vulkan driver 580.159
/// reports a lost device for sizes between 12 and 16 KiB, independent of the number of work-items.
pub const FUNCTION_MEMORY: u32 = 8 * 1024;

/// Maximum number of instructions of a kernel after inlining. Mesa's drivers and the compilers of Direct3D inline every
/// function. Some kernels below this limit are already too large for a driver. With 1.6 million instructions (hashcat's
/// m01800), lavapipe uses 2.6 GiB after one minute, and does not finish within four minutes.
pub const EXPANDED_INSTRUCTIONS: u64 = 2_000_000;

/// lavapipe has a stack with 80 entries for conditions. It needs two of the entries itself.
const LAVAPIPE_CONDITIONS: u32 = 78;

/// WGSL limits the nesting of braces to 127 (WebGPU Shading Language 2.4). A loop with its condition needs two levels.
const WGSL_CONDITIONS: u32 = 60;

/// FXC's limit for nested control flow.
const FXC_CONDITIONS: u32 = 60;

/// lavapipe's limit for the total number of iterations of all loops of a work-item.
const LAVAPIPE_LOOP_ITERATIONS: u32 = 65_535;

/// The name of a profile, and its constructor.
pub type Profile = (&'static str, fn() -> Target);

/// All profiles. `wgclc --device` and tests use these names.
pub const PROFILES: &[Profile] = &[
    ("full", Target::full),
    ("cpu", Target::cpu),
    ("nvidia", Target::nvidia),
    ("lavapipe", Target::lavapipe),
    ("portable", Target::portable),
    ("gles", Target::gles),
    ("metal", Target::metal),
    ("dx12", Target::dx12),
    ("dx12-sm5", Target::dx12_sm5),
    ("webgpu", Target::webgpu),
];

impl Target {
    /// Returns the profile with this name, or `None` if there is no such profile.
    pub fn profile(name: &str) -> Option<Self> {
        PROFILES.iter().find(|(known, _)| *known == name).map(|(_, make)| make())
    }

    /// Returns the profile of a device with every feature and no special costs, which is the default of `wgclc`.
    pub fn full() -> Self {
        let language = Language {
            int64: true,
            fp64: true,
            fp16: true,
            int64_atomics: true,
            half_atomics: true,
            atomic_order: AtomicOrder::Fences,
            subgroups: true,
            subgroup_size: 128,
            subgroup_sizes: 0,
            requested_subgroup_size: None,
            independent_subgroups: false,
            fused_fma: false,
            denormals: true,
            rounds_to_half: false,
            half_denormals: true,
            large_objects: false,
            short_elements: true,
            max_local_memory: 32768,
            device_clock: true,
            subgroup_clock: true,
            device_enqueue: true,
            images: true,
            multisample_images: true,
            extensions: Vec::new(),
            features: Vec::new(),
            extension_changes: Vec::new(),
        };
        let shaders = Shaders {
            spirv: true,
            exact: true,
            float_controls: FloatControls::default(),
            int64: true,
            fp64: true,
            int16: true,
            int8_storage: true,
            addresses: true,
            float_atomics: true,
            int64_atomics: true,
            fences: true,
            uniform_barriers: false,
            limits: Limits {
                storage_buffers: 32,
                uniform_buffers: 12,
                uniform_size: 65536,
                groups: 65535,
                group_items: u32::MAX,
                function_memory: FUNCTION_MEMORY,
                expanded_instructions: EXPANDED_INSTRUCTIONS,
            },
            costs: Costs::default(),
            defects: Defects::default(),
        };
        Self {
            language,
            shaders,
            inlining: Inlining::default(),
            native: false,
            value_checks: ValueChecks::NONE,
            marks_async_copies: false,
            zeroed: Zeroed::default(),
        }
        .with_extensions()
    }

    /// Returns the profile of the host's CPU with wgcl's code generator. Pointers are addresses, and atomics and fences
    /// have one total order.
    pub fn cpu() -> Self {
        let full = Self::full();
        let language = Language {
            atomic_order: AtomicOrder::Total,
            large_objects: true,
            subgroup_size: 16,
            subgroup_sizes: 4 | 8 | 16,
            independent_subgroups: true,
            fused_fma: true,
            rounds_to_half: true,
            max_local_memory: 1 << 20,
            ..full.language
        };
        let inlining = Inlining { takes_addresses: true, ..full.inlining };
        Self { language, inlining, native: true, ..full }.with_extensions()
    }

    /// Returns the profile of NVIDIA's GPUs with their Vulkan driver (measured with 580.159 on an H100). The driver
    /// flushes single-precision denormals.
    pub fn nvidia() -> Self {
        let full = Self::full();
        let language = Language {
            fused_fma: true,
            denormals: false,
            rounds_to_half: true,
            large_objects: true,
            subgroup_size: 32,
            subgroup_sizes: 32,
            max_local_memory: 48 << 10,
            ..full.language
        };
        let shaders = Shaders {
            float_controls: FloatControls { denorm_preserve: 1, ..FloatControls::ALL },
            limits: Limits { storage_buffers: 256, uniform_buffers: 256, group_items: 1024, ..full.shaders.limits },
            costs: Costs::nvidia(),
            defects: Defects::nvidia(),
            ..full.shaders
        };
        Self { language, shaders, ..full }.with_extensions()
    }

    /// Returns the profile of lavapipe, Mesa's Vulkan driver for CPUs (22.3), on a CPU with 256-bit vectors.
    pub fn lavapipe() -> Self {
        let full = Self::full();
        let language = Language {
            half_atomics: false,
            atomic_order: AtomicOrder::ReadModifyWrite,
            subgroup_size: 8,
            subgroup_sizes: 8,
            ..full.language
        };
        let shaders = Shaders {
            float_controls: FloatControls { denorm_preserve: 0, ..FloatControls::ALL },
            limits: Limits { uniform_buffers: 15, group_items: 1024, ..full.shaders.limits },
            costs: Costs::llvmpipe(),
            defects: Defects::lavapipe(),
            ..full.shaders
        };
        Self { language, shaders, ..full }.with_extensions()
    }

    /// Returns the profile of a device with every type that OpenCL has, which wgpu accesses through its portable
    /// interface (OpenGL ES, Metal, DX12, WebGPU). The naga module must pass full validation, and only barriers order
    /// atomics.
    pub fn portable() -> Self {
        Self::full().without_spirv()
    }

    /// Returns the profile of OpenGL ES 3.1 with the features of most drivers. It has no subgroups, no `double` and no
    /// `half`. 64-bit and 16-bit integers are emulated with 32-bit words.
    pub fn gles() -> Self {
        Self::full()
            .changed(|target| {
                target.language.multisample_images = false;
                target.language.fp64 = false;
                target.shaders.fp64 = false;
                target.language.fp16 = false;
                target.language.int64_atomics = false;
                target.shaders.int64_atomics = false;
                target.language.subgroups = false;
                target.shaders.int64 = false;
                target.shaders.int16 = false;
                target.shaders.int8_storage = false;
                target.shaders.float_atomics = false;
                target.shaders.limits.storage_buffers = 8;
            })
            .without_spirv()
    }

    /// Returns the profile of Apple's GPUs: no `double`, no 64-bit atomics, subgroups of 32. A stage has 31 buffers, of
    /// which wgpu reserves two.
    pub fn metal() -> Self {
        Self::full()
            .changed(|target| {
                target.language.multisample_images = false;
                target.language.fp64 = false;
                target.shaders.fp64 = false;
                target.language.int64_atomics = false;
                target.shaders.int64_atomics = false;
                target.shaders.fences = false;
                target.language.subgroup_size = 32;
                target.language.subgroup_sizes = 32;
                target.shaders.int8_storage = false;
                target.shaders.limits.storage_buffers = 20;
                target.shaders.limits.uniform_buffers = 9;
                target.shaders.limits.group_items = 1024;
            })
            .without_spirv()
    }

    /// Returns the profile of Direct3D 12 with shader model 6.2 and resource binding tier 2. A stage has at most 16
    /// storage buffers, out of 64 unordered access views. There are 14 constant buffers. There are no subgroups,
    /// because the driver selects the wave size. There is no `double`, because naga's HLSL back end cannot convert its
    /// bits.
    pub fn dx12() -> Self {
        Self::full()
            .changed(|target| {
                target.language.fp64 = false;
                target.shaders.fp64 = false;
                target.language.int64_atomics = false;
                target.shaders.int64_atomics = false;
                target.language.subgroups = false;
                target.shaders.int8_storage = false;
                target.shaders.float_atomics = false;
                target.shaders.limits.storage_buffers = 16;
                target.shaders.limits.uniform_buffers = 14;
                target.shaders.limits.group_items = 1024;
                target.shaders.defects.narrow_literals = true;
            })
            .without_spirv()
    }

    /// Direct3D 12 with shader model 5.1, for which FXC compiles. It has no 16-bit and 64-bit types.
    pub fn dx12_sm5() -> Self {
        Self::dx12().changed(|target| {
            target.language.fp16 = false;
            target.shaders.int64 = false;
            target.shaders.int16 = false;
            target.shaders.restrict_to_fxc();
        })
    }

    /// Returns the profile of WebGPU with the features of every browser: no native 64-bit and 16-bit types, and no
    /// subgroups.
    pub fn webgpu() -> Self {
        Self::gles().changed(|target| {
            target.language.max_local_memory = 16384;
            target.shaders.limits.group_items = 256;
            target.shaders.fences = false;
            target.shaders.uniform_barriers = true;
            target.shaders.defects.nested_conditions = Some(WGSL_CONDITIONS);
        })
    }
}

impl Costs {
    /// Returns the costs of NVIDIA's GPUs. If each of 32 work-items accesses 32 bytes or more, half of the bandwidth is
    /// lost. The compiler of the Vulkan driver emits four shifts for a 64-bit rotation. For some bit functions of three
    /// inputs, it emits two instructions where one is enough.
    pub fn nvidia() -> Self {
        Self {
            subgroup_coalescing: true,
            updates_by_address: true,
            funnel_shift_rotations: true,
            funnel_shifts: true,
            logic_of_three: true,
            approximate_division: true,
            fused_double_root: true,
            copies_carried_values: true,
            accurate_exp2: true,
            ..Self::default()
        }
    }

    /// Returns the costs of Mesa's drivers for CPUs. Each word of an access is a separate load or store for each
    /// work-item. Some LLVM passes need quadratic time in the number of these accesses.
    pub fn llvmpipe() -> Self {
        Self { per_word_accesses: true, ..Self::default() }
    }
}

impl Defects {
    /// Returns the defects of lavapipe in Mesa 22.3. `backend-wgpu/src/adapter/mesa.rs` removes the defects that later
    /// versions do not have.
    pub const fn lavapipe() -> Self {
        Self {
            max_loop_iterations: Some(LAVAPIPE_LOOP_ITERATIONS),
            nested_conditions: Some(LAVAPIPE_CONDITIONS),
            float_zeros: true,
            late_indices: true,
            loop_values: true,
            // Mesa 22.3.6 (LLVM 15), 25.0.7 (LLVM 19) and 26.2.6 (LLVM 22) have this defect, on an x86-64 processor
            // with AVX2 and without AVX-512: tests/cl/types/double_places.cl.
            rounding_of_doubles: true,
            ..Self::mesa()
        }
    }

    /// Returns the defects of NVIDIA's driver for Vulkan (580.159, an H100 and an H200). Reason for `late_indices`: one
    /// of 3,000 random programs with private arrays had wrong results on an H200 (`WGCL_FUZZ_KIND=arrays
    /// WGCL_FUZZ_SEED=7711093 WGCL_FUZZ_ITEMS=16`). The cost of the workaround in kernels with private arrays has not
    /// been measured.
    pub fn nvidia() -> Self {
        Self { half_rounding: true, late_indices: true, signed_quotients: true, ..Self::default() }
    }

    /// Returns the defects of every driver in Mesa 22.3. `backend-wgpu/src/adapter/mesa.rs` removes the defects that
    /// later versions do not have. Reason for `long_comparisons`: in comparisons of 64-bit integers, NIR drops the sign
    /// of the smallest 32-bit integer.
    pub const fn mesa() -> Self {
        Self {
            max_loop_iterations: None,
            nested_conditions: None,
            long_comparisons: true,
            float_zeros: false,
            late_indices: false,
            loop_values: false,
            half_rounding: false,
            unsigned_minima: false,
            coarse_sines: false,
            rounding_of_doubles: false,
            signed_quotients: false,
            masked_logic: false,
            subgroups_within_dimension_0: true,
            switch_continues: false,
            returns_in_loops: false,
            switches: false,
            shared_stores: false,
            wrapped_differences: false,
            narrow_literals: false,
            removed_barriers: false,
        }
    }
}

impl Shaders {
    /// Adds the restrictions of FXC, the HLSL compiler for shader models up to 5.1. Like WGSL, it rejects barriers in
    /// control flow that it does not know to be uniform.
    pub fn restrict_to_fxc(&mut self) {
        self.uniform_barriers = true;
        let defects = &mut self.defects;
        defects.nested_conditions = Some(defects.nested_conditions.unwrap_or(u32::MAX).min(FXC_CONDITIONS));
        defects.returns_in_loops = true;
        defects.switches = true;
        defects.shared_stores = true;
        defects.wrapped_differences = true;
        defects.removed_barriers = true;
    }
}

#[cfg(test)]
mod tests {
    use super::{PROFILES, Target};

    #[test]
    fn profiles_are_found_by_name() {
        for (name, make) in PROFILES {
            assert_eq!(Target::profile(name).as_ref(), Some(&make()), "{name}");
        }
        assert_eq!(Target::profile("no device"), None);
    }

    #[test]
    fn reported_features_follow_from_the_target() {
        assert!(Target::lavapipe().has_feature("__opencl_c_atomic_order_acq_rel"));
        assert!(!Target::portable().has_feature("__opencl_c_atomic_order_acq_rel"));
    }
}
