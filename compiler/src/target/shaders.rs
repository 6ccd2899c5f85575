//! The features of a device for shaders, the costs of operations, and the defects of its driver.

use serde::{Deserialize, Serialize};

/// Properties of a device that control how a kernel is compiled to a shader.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shaders {
    /// Whether this compiler writes and post-processes SPIR-V (Vulkan). Otherwise it creates a naga module that passes
    /// naga's full validation, for wgpu's portable interface (OpenGL ES, Metal, DX12, WebGPU, or `WGCL_PORTABLE`).
    pub spirv: bool,
    /// Whether the target language can forbid contraction and reassociation, so that float arithmetic is compiled as
    /// written. If not, `passes::fp_barriers` prevents contraction and reassociation.
    pub exact: bool,
    /// The float controls that SPIR-V modules may request.
    pub float_controls: FloatControls,
    /// Whether the device has 64-bit integers. If not, they are lowered to pairs of 32-bit integers (`passes::pairs`).
    pub int64: bool,
    /// Whether the device has doubles. If not, but the language has them, they are emulated with 64-bit integers
    /// (`crate::doubles`).
    pub fp64: bool,
    /// Whether the device has 16-bit integers in storage and arithmetic.
    pub int16: bool,
    /// Whether storage buffers may have 8-bit elements. This is possible only on Vulkan.
    pub int8_storage: bool,
    /// Whether memory can be accessed with 64-bit addresses (`bufferDeviceAddress`, SPV_KHR_physical_storage_buffer).
    /// This is possible only on Vulkan.
    pub addresses: bool,
    /// Whether the device has atomic addition of `float` in storage buffers. If not, and for all other float
    /// operations, compare-and-exchange is used.
    pub float_atomics: bool,
    /// Whether the device has 64-bit atomic operations. If not, but the language has them, they are emulated with two
    /// words and a lock (`passes::locks`).
    pub int64_atomics: bool,
    /// Whether a memory fence orders the accesses of a work-item without a barrier. WGSL has only barriers. For Metal,
    /// naga writes a barrier for a fence.
    pub fences: bool,
    /// Whether barriers are valid only in control flow that the uniformity analysis of the language accepts (WGSL,
    /// section 15.2).
    pub uniform_barriers: bool,
    pub limits: Limits,
    pub costs: Costs,
    pub defects: Defects,
}

/// The support of the device for SPV_KHR_float_controls. Each field is a set of widths: 1 for 16 bits, 2 for 32 bits, 4
/// for 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FloatControls {
    /// Preserves signed zeros, infinities and NaNs.
    pub signed_zero_inf_nan_preserve: u8,
    pub denorm_preserve: u8,
    /// Rounds to nearest even.
    pub rounding_mode_rte: u8,
}

impl FloatControls {
    /// Every control for every width.
    pub const ALL: Self = Self { signed_zero_inf_nan_preserve: 7, denorm_preserve: 7, rounding_mode_rte: 7 };
}

/// Resource limits of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits {
    pub storage_buffers: u32,
    pub uniform_buffers: u32,
    /// Maximum size in bytes of a uniform binding.
    pub uniform_size: u32,
    /// Maximum number of work-groups of a dispatch in each dimension.
    pub groups: u32,
    /// Maximum number of work-items of a work-group.
    pub group_items: u32,
    /// Maximum total size in bytes of the private arrays of a work-item that are variables of the shader function. If
    /// all arrays together exceed this size, the largest arrays are in a scratch buffer instead.
    pub function_memory: u32,
    /// Maximum number of instructions of a kernel after inlining. Drivers inline every call.
    pub expanded_instructions: u64,
}

/// Properties of a device that select the faster of two correct lowerings. The default is for GPUs that were not
/// measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Costs {
    /// Whether the driver emits separate code for each word of an access. Then loops with wide accesses are unrolled
    /// less.
    pub per_word_accesses: bool,
    /// Whether buffers that a kernel both loads from and stores to are accessed faster by address than by binding
    /// ([`Shaders::addresses`]).
    pub updates_by_address: bool,
    /// Whether the device has an instruction for every bitwise function of three inputs (LOP3), and the driver selects
    /// it for a disjunction of conjunctions (`passes::majority`).
    pub logic_of_three: bool,
    /// Whether a 64-bit rotation is faster as two funnel shifts of 32-bit words than as two 64-bit shifts.
    pub funnel_shift_rotations: bool,
    /// Whether the low word of a 64-bit shift is one instruction (`passes::funnel_shifts`).
    pub funnel_shifts: bool,
    /// Whether a quotient of `float` is fast, with an error of at most 2.5 ULP, if the shader does not request rounding
    /// to nearest even. (H100, driver 580: the measured kernel takes 0.438 ms with the request and 0.070 ms without.)
    /// Without the request, sums and products are still rounded to nearest even. Divisors of 2^126 or more must be
    /// scaled.
    pub approximate_division: bool,
    /// Whether the square root of a `double` is faster as a sequence of `fma` than as the operation of the driver.
    /// (H200, driver 580.159: a loop with the driver's operation takes 134 us, with `fma` 81 us. The loop takes 67 us
    /// with NVIDIA's OpenCL.)
    pub fused_double_root: bool,
    /// Whether `exp2` of `float` has an error of at most 2.1 ULP, also for large arguments (H100, driver 580: 2.05
    /// ULP). Vulkan permits 3 + 2 |x| ULP.
    pub accurate_exp2: bool,
    /// Whether the driver copies registers at the end of each iteration of a loop that carries many values. (H200,
    /// driver 580.159: 12 copies for 32 sums in a matrix product. With four copies of the body, the kernel takes 500 us
    /// instead of 606 us.)
    pub copies_carried_values: bool,
    /// Whether wide accesses are faster if neighbouring work-items cooperate (`passes::subgroup_coalesce`). Requires
    /// [`super::Language::subgroups`]. Every subgroup must have [`super::Language::subgroup_size`] work-items if the
    /// work-group is large enough.
    pub subgroup_coalescing: bool,
}

/// Operations that a driver miscompiles, executes incorrectly, or rejects. By default, none is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Defects {
    /// Maximum total number of loop iterations of a work-item. After this number, the driver ends the loops.
    pub max_loop_iterations: Option<u32>,
    /// Maximum nesting of control flow. The driver ignores the conditions of deeper control flow, or rejects the shader
    /// (WGSL).
    pub nested_conditions: Option<u32>,
    /// The driver miscompiles some signed comparisons of 64-bit integers: one operand is extended from 32 bits, and the
    /// other operand is a constant from -2^31 to 2^31.
    pub long_comparisons: bool,
    /// The driver removes float arithmetic with constant zeros that it wrongly considers to have no effect.
    pub float_zeros: bool,
    /// The driver reads the index of a private array at the access, not at the access chain. If the index variable is
    /// updated in between (`i + 1`), the access goes to the next element. Relevant only if
    /// [`Limits::function_memory`] allows indexed arrays.
    pub late_indices: bool,
    /// A work-item that has left a loop continues to execute iterations until all work-items of its vector have left
    /// the loop. Values that are used after the loop are then wrong, unless the loop has two exits.
    pub loop_values: bool,
    /// The driver removes a conversion of `float` to `half` and back, and thus the rounding (`passes::half_rounding`).
    pub half_rounding: bool,
    /// The driver miscompiles `umin(x, constant)` if the result is stored to a loop-carried variable. A comparison and
    /// a select are correct.
    pub unsigned_minima: bool,
    /// The driver's sines are only as accurate as Vulkan requires, with an absolute error of up to 2^-11
    /// (`passes::coarse_sines`).
    pub coarse_sines: bool,
    /// The driver's `RoundEven` of doubles rounds towards zero. Its `Trunc` and `RoundEven` lose the sign of a zero.
    pub rounding_of_doubles: bool,
    /// The driver miscompiles quotients and remainders of signed 64-bit integers in nested loops that contain several
    /// of these operations.
    pub signed_quotients: bool,
    /// The driver miscompiles `select(c, x, f(x, y, z))` if `f` is bitwise and `y` or `z` is in memory
    /// (`passes::masked_logic`).
    pub masked_logic: bool,
    /// The driver forms subgroups within dimension 0 of a work-group, but computes subgroup ids as if subgroups had
    /// contiguous local linear ids. The ids are correct only if the subgroup size divides the local size in dimension
    /// 0.
    pub subgroups_within_dimension_0: bool,
    /// The driver executes a `continue` in a `switch` inside another `switch` as a jump out of the inner `switch`. The
    /// GLSL compiler of Mesa 22.3.6 and 25.0.7 has this defect (`control/nested_switch_continue.cl`).
    pub switch_continues: bool,
    /// The driver's compiler fails with internal errors for some loops that contain a `return`.
    pub returns_in_loops: bool,
    /// The driver's compiler fails with internal errors for some `switch`es in loops.
    pub switches: bool,
    /// The driver's compiler rejects stores if it finds that several work-items of a group write different values to
    /// one address (`passes::shared_stores`).
    pub shared_stores: bool,
    /// The driver's compiler wrongly folds unsigned comparisons with a difference that may wrap around
    /// (`passes::wrapped_differences`).
    pub wrapped_differences: bool,
    /// The driver's compiler reads the 64-bit integer literals that naga writes as 32-bit literals. naga writes the
    /// suffixes `L` and `uL`, but DXC requires `LL` and `uLL` (DXC 1.9.0.5517, naga 30).
    pub narrow_literals: bool,
    /// The driver's compiler removes barriers for global memory that only loads precede (`passes::kept_barriers`).
    pub removed_barriers: bool,
}

impl Defects {
    /// Adds and removes defects by their names: `NAME`, `-NAME` or `-all`, separated by commas. Returns the names that
    /// are not valid. A defect with a numeric value can be removed, but not added.
    pub fn change(&mut self, list: &str) -> Vec<String> {
        let mut unknown = Vec::new();
        for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match (word.strip_prefix('-'), word) {
                (Some("all"), _) => *self = Self::default(),
                (Some("max_loop_iterations"), _) => self.max_loop_iterations = None,
                (Some("nested_conditions"), _) => self.nested_conditions = None,
                (removed, _) => match self.flag(removed.unwrap_or(word)) {
                    Some(flag) => *flag = removed.is_none(),
                    None => unknown.push(word.to_owned()),
                },
            }
        }
        unknown
    }

    fn flag(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "long_comparisons" => &mut self.long_comparisons,
            "float_zeros" => &mut self.float_zeros,
            "late_indices" => &mut self.late_indices,
            "loop_values" => &mut self.loop_values,
            "half_rounding" => &mut self.half_rounding,
            "unsigned_minima" => &mut self.unsigned_minima,
            "coarse_sines" => &mut self.coarse_sines,
            "rounding_of_doubles" => &mut self.rounding_of_doubles,
            "signed_quotients" => &mut self.signed_quotients,
            "masked_logic" => &mut self.masked_logic,
            "subgroups_within_dimension_0" => &mut self.subgroups_within_dimension_0,
            "switch_continues" => &mut self.switch_continues,
            "returns_in_loops" => &mut self.returns_in_loops,
            "switches" => &mut self.switches,
            "shared_stores" => &mut self.shared_stores,
            "wrapped_differences" => &mut self.wrapped_differences,
            "narrow_literals" => &mut self.narrow_literals,
            "removed_barriers" => &mut self.removed_barriers,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Defects;

    #[test]
    fn defects_are_added_and_removed_by_name() {
        let mut defects = Defects::lavapipe();
        assert_eq!(defects.change("-all, masked_logic,-late_indices"), Vec::<String>::new());
        assert_eq!(defects, Defects { masked_logic: true, ..Defects::default() });
        assert_eq!(defects.change("max_loop_iterations,-none"), ["max_loop_iterations", "-none"]);
    }
}
