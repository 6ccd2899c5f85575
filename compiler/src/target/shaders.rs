//! What shaders may use on a device, what is quick there, and what its driver gets wrong.

use serde::{Deserialize, Serialize};

/// What decides how a kernel becomes a shader.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shaders {
    /// SPIR-V is written and post-processed here (Vulkan). Otherwise strictly valid naga for Metal, DX12, WebGPU.
    pub spirv: bool,
    /// Float arithmetic is done as it is written: the language can forbid contraction and algebra. Otherwise they are kept from happening (`passes::fp_barriers`).
    pub exact: bool,
    /// What can be asked of floating point in SPIR-V.
    pub float_controls: FloatControls,
    /// 64-bit integers. Without them they are pairs of words (`passes::pairs`).
    pub int64: bool,
    /// `double`. Without it, where the language has it, it is made of 64-bit integers (`crate::doubles`).
    pub fp64: bool,
    /// 16-bit integers in storage and arithmetic.
    pub int16: bool,
    /// Bytes in storage buffers; on Vulkan only.
    pub int8_storage: bool,
    /// Memory can be reached by 64-bit addresses (`bufferDeviceAddress`, SPV_KHR_physical_storage_buffer); on Vulkan only.
    pub addresses: bool,
    /// Native atomic addition of `float` in storage. Without it, and for all else, there is compare-and-exchange.
    pub float_atomics: bool,
    /// Atomic operations of 64 bits. Without them, where the language has them, they are done on two words (`passes::locks`).
    pub int64_atomics: bool,
    /// A fence orders a work-item's accesses and waits for nobody. What naga makes of one for Metal is a barrier, and WGSL has barriers alone.
    pub fences: bool,
    /// Barriers have to stand in control flow that the language's own rules see to be the same for a group (WGSL, 15.2).
    pub uniform_barriers: bool,
    /// How much there is of what.
    pub limits: Limits,
    /// What is quick and what is slow.
    pub costs: Costs,
    /// What the driver gets wrong.
    pub defects: Defects,
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

impl FloatControls {
    /// All of them for all widths.
    pub const ALL: Self = Self { signed_zero_inf_nan_preserve: 7, denorm_preserve: 7, rounding_mode_rte: 7 };
}

/// How much of something one kernel can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits {
    /// Storage buffers.
    pub storage_buffers: u32,
    /// Uniform buffers.
    pub uniform_buffers: u32,
    /// Bytes of a uniform binding.
    pub uniform_size: u32,
    /// Groups of a dispatch in each dimension.
    pub groups: u32,
    /// Work-items of a group.
    pub group_items: u32,
    /// Bytes of private arrays that a work-item has in variables of the function; more go elsewhere.
    pub function_memory: u32,
    /// Instructions of a kernel once functions stand in the place of their calls, which is what drivers make of them.
    pub expanded_instructions: u64,
}

/// What decides between two correct ways, of which one is quicker. Each names what a device is like; the default is a GPU of which nothing special is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Costs {
    /// An access to memory is as much code for each word of it: loops are written out less, what is only read is loaded once, and long rows are stored in loops.
    pub accesses_by_words: bool,
    /// Buffers that a kernel loads from and stores to are reached more quickly by addresses than by bindings ([`Shaders::addresses`]).
    pub updates_by_address: bool,
    /// There is an instruction for every function of three bits, and the driver's compiler finds it for sums of products.
    pub logic_of_three: bool,
    /// Quotients of `float` are rounded correctly, which OpenCL does not ask for, and take several times as long as a product.
    pub exact_quotients: bool,
    /// Rotations of 64 bits are quicker as words that are each cut out of two (a funnel shift) than as two shifts.
    pub rotates_by_words: bool,
    /// Wide accesses are quicker if neighbouring work-items make them together (`exchange`). Only where [`super::Language::subgroups`] is so, all of which have
    /// [`super::Language::subgroup_size`] work-items if a group has enough of them.
    pub lanes_exchange: bool,
}

/// What a driver does wrongly, and silently. The default is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Defects {
    /// It ends all loops of a work-item after so many turns together.
    pub loop_turns: Option<u32>,
    /// It ignores the conditions of control flow that nests deeper than so many levels.
    pub nested_conditions: Option<u32>,
    /// It gets signed comparisons of 64-bit integers wrong where one side was extended from 32 bits and the other one is a constant from -2^31 to 2^31.
    pub long_comparisons: bool,
    /// It leaves out float arithmetic with constant zeros that it thinks to do nothing.
    pub float_zeros: bool,
    /// It reads the index of a private array where the array is accessed, and not where the pointer to its element is made: if the two share a variable with what
    /// the index becomes next (`i + 1`), the access goes to the next element. Only where [`Limits::function_memory`] is no more than
    /// these can index.
    pub late_indices: bool,
    /// It does the turns of several work-items together until the last has left the loop, and takes what a turn leaves behind from the last turn for all of them,
    /// unless the loop can be left in two places.
    pub loop_values: bool,
    /// It takes a float that became a half and a float again for the first one, unrounded (`passes::half_rounding`).
    pub half_rounding: bool,
    /// It loses the smaller of an unsigned integer and a constant where that is stored to a variable which a loop carries: found by comparison it is kept.
    pub unsigned_minima: bool,
    /// Its sines are no better than Vulkan asks: off by up to 2^-11 (`passes::coarse_sines`).
    pub coarse_sines: bool,
    /// It gets quotients and remainders of signed 64-bit integers wrong where a loop within a loop has several.
    pub signed_quotients: bool,
    /// It makes subgroups of the work-items of one row of a group, and numbers them as if rows followed each other: that is the same only where subgroups divide rows.
    pub subgroups_in_rows: bool,
}
