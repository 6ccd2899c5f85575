//! The intermediate representation: typed, in SSA form over structured control flow, with real pointers in named
//! address spaces.
//!
//! # Shape
//! A [`Module`] has functions and module-level memory objects ([`GlobalVar`]). A [`Function`] has parameters, private
//! variables ([`VarData`], memory of one work-item) and a body. The body is a [`Region`], a list of instructions. The
//! instructions `if`, `loop` and `switch` contain nested regions. There are no basic blocks, no phis, and no jumps
//! except `break`, `continue` and `return`. The results of an `if` or `switch` are the values of the `yield` at the end
//! of each region. A `loop` has parameters (loop-carried values, initially its operands, then the values of `continue`)
//! and results (the values of `break`).
//!
//! # Rules (the verifier checks them)
//! * A value is defined once, before its uses, in the same region or in an enclosing one.
//! * Every region ends in exactly one terminator. `yield` is only valid in the regions of `if` and `switch`, `break`
//!   and `continue` only in a loop, `return` and `unreachable` anywhere. `break` and `continue` refer to the innermost
//!   *loop*: a `switch` is not a target of `break`, and cases never fall through. The body of a loop does not end in
//!   `yield`. The body of a function ends in `return` or `unreachable`.
//! * The values of `yield`, `break`, `continue` and `return` match the results or parameters of their target in number
//!   and type.
//! * Integers are signless. `bool` (and vectors of it) is a separate type, distinct from `i8`.
//! * Operands of element-wise operations have one type. A `select` may have a scalar `bool` condition for vectors.
//! * An access specifies its alignment in bytes, a power of two. The front end guarantees that the address has this
//!   alignment.
//! * `private` memory is accessed through [`Op::VarAddr`], module memory through [`Op::GlobalAddr`], buffers through
//!   the parameters of kernels.
//!
//! # Two stages
//! The front end writes *memory form*: every OpenCL C variable is a private variable with loads and stores, and
//! regions yield nothing. `passes::inline` and `passes::sroa` convert it to SSA form. Both forms follow the rules
//! above.
//!
//! # Semantics
//! Shift amounts are taken modulo the width (OpenCL C 6.5.10). Integer division by zero and `INT_MIN / -1` give an
//! unspecified value and never trap. Pointers are byte addresses; [`Op::PtrAdd`] wraps. Loads from private variables
//! without a previous store give unspecified values.

#![allow(missing_docs, reason = "the names need no documentation")]

pub mod build;
mod identity;
pub mod image;
pub mod names;
pub mod read;
pub mod types;
mod undefined_use;
pub mod verify;
pub mod visit;
pub mod write;

pub use build::{Build, Cursor};
pub use types::{Scalar, Space, Type};
pub use undefined_use::UndefinedUse;

use crate::diag::Span;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum nesting of regions. The front end rejects deeper sources, and passes do not inline beyond the limit, so
/// recursion over regions is safe.
pub const MAX_NESTING: usize = 256;

/// Nesting at which the front ends (OpenCL C and SPIR-V) stop nesting the code after a jump. They guard that code with
/// a flag instead. Drivers limit the nesting: lavapipe ignores the conditions of more than 78 nested `if`s and loops.
pub(crate) const PREFERRED_NESTING: usize = 24;

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            /// The index of the entity in its table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

/// The number of the entity at an index of its table.
///
/// # Panics
///
/// Panics if the index exceeds 2^32 - 1, so that two entities never get the same number.
pub(crate) fn number(index: usize) -> u32 {
    assert!(index <= u32::MAX as usize, "a function or module has more than 2^32 values, variables or instructions");
    index as u32
}

entity!(
    /// An SSA value of a function.
    Value, "%"
);
entity!(
    /// A private variable of a function.
    Var, "$"
);
entity!(
    /// A module-level memory object.
    Global, "@g"
);
entity!(
    /// A function of the module.
    Func, "@f"
);

/// A compiled program, or a kernel and its helpers after launch specialisation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Module {
    /// Helper functions and kernels, indexed by [`Func`].
    pub functions: Vec<Function>,
    /// Memory objects, indexed by [`Global`].
    pub globals: Vec<GlobalVar>,
}

/// A memory object of the module: a program-scope variable, a string literal, or a `__local` variable of a kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GlobalVar {
    /// Source name, for dumps and messages.
    pub name: String,
    /// `Local`, `Global` or `Constant`. After `resolve_pointers` also `Private`, for variables of a function that other
    /// functions access. Each work-item has its own memory.
    pub space: Space,
    pub size: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// Initial contents of `size` bytes. `None` for `Local`, `Private` and for zero-initialised memory.
    pub init: Option<Vec<u8>>,
    /// Addresses of globals in the initial contents (also if `init` is `None`). They are written when the program is
    /// loaded.
    pub relocs: Vec<Reloc>,
}

impl GlobalVar {
    /// Minimum alignment in bytes of a global in the memory of a program. It is that of `vec4<u32>`, so that accesses
    /// of this size are not split.
    pub const MIN_ALIGN: u32 = 16;

    /// Maximum alignment in bytes that an access may assume for a global's memory. A `Local` global is a separate
    /// object with the alignment of host-allocated memory.
    pub fn start_align(&self) -> u32 {
        match self.space {
            Space::Local => KernelParam::MEMORY,
            _ => self.align.max(Self::MIN_ALIGN),
        }
    }
}

/// An address stored in the initial contents of a global.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloc {
    /// Byte offset of the pointer in the memory of the global.
    pub at: u32,
    pub target: Global,
    /// Byte offset of the address in the target.
    pub addend: i64,
}

/// A function, kernel or helper.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Name in the source. Kernels have unique names. Helpers may share a name (overloads).
    pub name: String,
    /// Properties of a kernel. `None` for helpers.
    pub kernel: Option<Kernel>,
    /// The parameters in order. A kernel's struct parameter is a `ptr.constant` to its bytes.
    pub params: Vec<Value>,
    /// Types of the results, none of them `Void`. The front end produces at most one; passes may add more.
    pub returns: Vec<Type>,
    /// The type of every value, indexed by [`Value`].
    pub values: Vec<ValueData>,
    /// Private variables, indexed by [`Var`].
    pub vars: Vec<VarData>,
    pub body: Region,
    /// Whether the source specifies `noinline`. Passes may inline the function if they must.
    pub no_inline: bool,
}

/// Properties of a kernel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Kernel {
    /// How each parameter is passed, in order.
    pub params: Vec<KernelParam>,
    pub reqd_work_group_size: Option<[u32; 3]>,
    /// `__attribute__((intel_reqd_sub_group_size))`. The device supports the size.
    pub reqd_subgroup_size: Option<u32>,
    /// Base-2 logarithm of the number of work-items of dimension 0 per invocation. It is 0 before `passes::coarsen`.
    pub coarsening_log2: u8,
    /// Whether the kernel zeroes its work-group memory at its start (`passes::zeroed`).
    pub zeroed: bool,
    /// Whether the kernel calls functions with pointers to global memory. Shaders pass such pointers as addresses, so
    /// buffers must be accessed by address.
    pub requires_addresses: bool,
    /// Whether each load and store assumes at most the alignment of its base object. True after
    /// `passes::infer_alignment`; the verifier checks it.
    pub aligned: bool,
}

impl Kernel {
    /// The subgroup size on a device whose default size is `usual`.
    pub fn subgroup_size(&self, usual: u32) -> u32 {
        self.reqd_subgroup_size.unwrap_or(usual)
    }
}

/// How a kernel's parameter is passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KernelParam {
    /// A scalar or vector, in the argument buffer.
    Value,
    /// A struct or union with this size and alignment, in the argument buffer. The parameter is a `ptr.constant` to it.
    Bytes {
        size: u32,
        /// Alignment in bytes, a power of two.
        align: u32,
    },
    /// A pointer to a buffer (`__global` or `__constant`).
    Buffer {
        /// `Global` or `Constant`.
        space: Space,
        /// Whether the source declares that nothing is written through the pointer (`const`, or constant space).
        read_only: bool,
        restrict: bool,
    },
    /// A pointer to work-group memory. The host sets its size.
    Local {
        /// Alignment of the pointee in bytes.
        align: u32,
    },
    /// A sampler. Its value is in the launch key.
    Sampler,
    /// An image. Its format is in the launch key, its sizes are in the argument buffer.
    Image,
}

impl KernelParam {
    /// Minimum alignment in bytes of a structure in the argument buffer. Kernels read it as words.
    pub const STRUCTURE: u32 = 4;
    /// Alignment in bytes of memory that the host allocates: that of the largest type, `long16`
    /// (CL_DEVICE_MEM_BASE_ADDR_ALIGN).
    pub const MEMORY: u32 = 128;

    /// Maximum alignment in bytes that an access may assume for the memory of a pointer parameter.
    pub fn align(&self) -> u32 {
        match self {
            Self::Bytes { align, .. } => (*align).max(Self::STRUCTURE),
            Self::Value | Self::Buffer { .. } | Self::Local { .. } | Self::Sampler | Self::Image => Self::MEMORY,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ValueData {
    pub ty: Type,
}

/// A private variable: memory of one work-item.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VarData {
    /// Name in the source. Empty for temporaries.
    pub name: String,
    pub size: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
}

/// A list of instructions that ends in a terminator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Region {
    /// In order of execution.
    pub insts: Vec<Inst>,
}

/// An operation, its results, and its source location.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inst {
    pub op: Op,
    /// Values that the instruction defines: at most one, but `if`, `switch`, `loop` and `call` may define several.
    pub results: Vec<Value>,
    #[serde(skip)]
    pub span: Span,
}

/// The value of a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Const {
    /// The zero-extended bits of a scalar: IEEE bits of a float, 0 or 1 for a `bool`.
    Bits(u64),
    /// One entry per lane, like [`Self::Bits`].
    Lanes(Vec<u64>),
    /// The null pointer.
    Null,
    /// An unspecified value, on which the program does not depend.
    Undef,
}

/// Element-wise operations with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnOp {
    /// Bitwise complement. Logical negation of a `bool`.
    Not,
    /// Two's complement negation.
    Neg,
    /// Negation of a float. It also changes the sign of a NaN.
    FNeg,
}

/// Element-wise operations with two operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    SDiv,
    UDiv,
    /// Signed remainder with the sign of the dividend.
    SRem,
    URem,
    /// Shift left by the amount modulo the width.
    Shl,
    /// Logical shift right by the amount modulo the width.
    LShr,
    /// Arithmetic shift right by the amount modulo the width.
    AShr,
    /// Also for `bool`.
    And,
    /// Also for `bool`.
    Or,
    /// Also for `bool`.
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    SMin,
    UMin,
    SMax,
    UMax,
    /// IEEE minNum: if one operand is a NaN, the result is the other operand (`fmin`).
    FMin,
    FMax,
    /// High half of the signed full product (`mul_hi`).
    SMulHi,
    UMulHi,
    /// Saturating additions and subtractions (`add_sat`, `sub_sat`).
    SAddSat,
    UAddSat,
    SSubSat,
    USubSat,
    /// Rotate left by the amount modulo the width (`rotate`).
    Rotate,
}

/// Comparisons. The result is a `bool`, or a vector of `bool`s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CmpOp {
    /// For integers, bools and pointers.
    Eq,
    Ne,
    SLt,
    SLe,
    SGt,
    SGe,
    ULt,
    ULe,
    UGt,
    UGe,
    /// Ordered, like all comparisons of floats except [`Self::FNe`]: false if an operand is a NaN.
    FEq,
    /// Unordered comparison: true if an operand is a NaN (C's `!=`).
    FNe,
    FLt,
    FLe,
    FGt,
    FGe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CastOp {
    /// To a narrower integer.
    Trunc,
    /// From a narrower integer or `bool` (to 0 or 1).
    ZExt,
    /// From a narrower integer or `bool` (to 0 or -1).
    SExt,
    /// Float to signed integer, truncated. The result is unspecified if the value does not fit the integer type.
    FToS,
    FToU,
    /// Signed integer to float, rounded to nearest even.
    SToF,
    UToF,
    /// Between float types, rounded to nearest even.
    FToF,
    /// The same bits as another type of the same size: integers, floats, and vectors with other lane counts.
    Bitcast,
    /// Pointer to integer of the pointer's size.
    PtrToInt,
    /// Integer of the pointer's size to pointer.
    IntToPtr,
    /// Between a specific address space and generic.
    SpaceCast,
}

/// Element-wise mathematical functions that the device implements or that passes lower. The library uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MathOp {
    FAbs,
    Floor,
    Ceil,
    FTrunc,
    /// Rounding to the nearest integer, ties to even.
    Rint,
    /// With the accuracy of the device's square root.
    Sqrt,
    RSqrt,
    /// Fused multiply-add with one rounding (emulated if the device does not fuse).
    Fma,
    /// `a * b + c` (`mad`, and contraction in an expression). Fused if a fused operation is fast on the device,
    /// otherwise rounded twice.
    FMulAdd,
    /// The device's native function, without accuracy requirements.
    NativeSin,
    NativeCos,
    NativeTan,
    NativeExp2,
    NativeLog2,
    NativeRecip,
    /// `x / y` with the device's fastest division.
    NativeDivide,
    NativePow,
    /// Absolute value of a signed integer, as an unsigned integer.
    SAbs,
    /// Number of leading zeros. For 0, the width.
    Clz,
    /// Number of trailing zeros. For 0, the width.
    Ctz,
    Popcount,
    ReverseBits,
}

/// Queries of a work-item. Some have a dimension, 0 to 2. Results are unsigned `i32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WorkItem {
    /// Includes the global offset.
    GlobalId(u8),
    LocalId(u8),
    GroupId(u8),
    GlobalSize(u8),
    /// The enqueued local size. `LocalSize` differs in a smaller last group.
    EnqueuedLocalSize(u8),
    LocalSize(u8),
    NumGroups(u8),
    GlobalOffset(u8),
    WorkDim,
    SubgroupSize,
    SubgroupLocalId,
    SubgroupId,
    NumSubgroups,
    /// The identity of the buffer that is bound to the parameter with this index (see `crate::pointer::identity`).
    ArgIdentity(u32),
    /// Offset in bytes of the argument in its allocation.
    ArgBase(u32),
    /// The lower half of the size of the argument in bytes.
    ArgSize(u32),
    /// The upper half of the size of the argument in bytes.
    ArgSizeHigh(u32),
    /// One 32-bit half of the address of the argument's memory, if this memory is accessed by address.
    ArgAddress {
        /// Index of the parameter.
        param: u32,
        /// Whether the query returns the upper half.
        high: bool,
    },
    /// Offset in bytes of a merged argument in the common buffer.
    ArgMergedOffset(u32),
    /// Offset in bytes from the start of the argument's buffer range to the pointer that the host passed.
    ArgStart(u32),
    /// A word of `image::ImageDescriptor::words` for an image parameter.
    ArgImage {
        /// Index of the parameter.
        param: u32,
        /// Index of the word.
        word: u8,
    },
}

/// Atomic operations. [`Op::Atomic`] specifies the type of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AtomicOp {
    Add,
    Sub,
    And,
    Or,
    Xor,
    SMin,
    SMax,
    UMin,
    UMax,
    Xchg,
    /// Addition of floats. `passes::legalize` lowers it to compare-and-exchange if the device lacks it.
    FAdd,
    FMin,
    FMax,
    Load,
    Store,
}

/// Collective operations. All work-items of a work-group must execute a work-group operation. The active work-items of
/// a subgroup execute a subgroup operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GroupOp {
    /// True if a `bool` is true for all work-items.
    All,
    Any,
    /// Operands: value, index in the group (`i32`, uniform). The result is the value of the work-item with this index.
    Broadcast,
    /// Combines all values, in any order.
    Reduce(BinOp),
    /// Combines the values of the work-items up to and including this one, in the order of their indices.
    ScanInclusive(BinOp),
    /// Combines the values of the work-items before this one. The first work-item gets the identity of the operation.
    ScanExclusive(BinOp),
    /// Subgroups only. Operands: value, cluster size (`i32`, a power of two, uniform). Combines the values of the
    /// active work-items in each cluster, in the order of their indices.
    ActiveReduce(BinOp),
    /// Like `ActiveReduce`, but only for the work-items up to and including this one.
    ActiveInclusive(BinOp),
    /// Like `ActiveReduce`, but only for the work-items before this one. The first one gets the identity of the
    /// operation.
    ActiveExclusive(BinOp),
    /// Subgroups only. The value of the first active work-item.
    BroadcastFirst,
    /// Subgroups only. A mask of the active work-items for which a `bool` is true, as four words.
    Ballot,
    /// Subgroups only. Operands: value, index. The value of the work-item with this index; unspecified if it is not
    /// active.
    Shuffle,
    /// Like `Shuffle`. The index is that of this work-item exclusive-or the second operand.
    ShuffleXor,
    /// Like `Shuffle`. The index is that of this work-item minus the second operand.
    ShuffleUp,
    /// Like `Shuffle`. The index is that of this work-item plus the second operand.
    ShuffleDown,
    /// Subgroups only. A barrier for all kinds of memory, without operands.
    Barrier,
}

/// The memory that a barrier or fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fence {
    pub local: bool,
    pub global: bool,
    pub image: bool,
}

impl Fence {
    /// Whether the fence orders accesses that other work-groups can observe.
    pub const fn reaches_other_groups(self) -> bool {
        self.global || self.image
    }
}

/// The operation of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Op {
    Const(Const),
    Un(UnOp, Value),
    Bin(BinOp, Value, Value),
    Cmp(CmpOp, Value, Value),
    /// A conversion. The type of the result is the target type.
    Cast(CastOp, Value),
    /// Operands: condition, value if true, value if false.
    Select(Value, Value, Value),
    Math(MathOp, Vec<Value>),
    /// True if all lanes of a `bool` vector (or the scalar) are true.
    All(Value),
    Any(Value),

    /// A vector of scalars, one per lane.
    Construct(Vec<Value>),
    Splat(Value),
    Extract(Value, u8),
    /// The lane with a run-time index (`i32`). Unspecified if the index is out of range.
    ExtractDyn(Value, Value),
    /// Operands: vector, lane, scalar.
    Insert(Value, u8, Value),
    /// Operands: vector, index, scalar.
    InsertDyn(Value, Value, Value),
    /// Selects lanes of the concatenation of two vectors (or scalars) of one type. `None` lanes are unspecified.
    Shuffle(Value, Value, Vec<Option<u8>>),

    WorkItem(WorkItem),

    VarAddr(Var),
    GlobalAddr(Global),
    /// The start of the memory of the kernel's parameter with this index, in functions that the kernel calls. Only
    /// `resolve_pointers` creates this operation.
    ParamAddr(u32),
    /// Operands: pointer, byte offset (`i32` or `i64`, signed).
    PtrAdd(Value, Value),
    Load {
        ptr: Value,
        align: u32,
        volatile: bool,
    },
    Store {
        ptr: Value,
        value: Value,
        align: u32,
        volatile: bool,
    },
    /// Copies `size` bytes. The source and the destination are identical or do not overlap.
    Copy {
        dst: Value,
        src: Value,
        size: u32,
        align: u32,
    },
    /// Zeroes `size` bytes.
    Zero {
        dst: Value,
        size: u32,
        align: u32,
    },
    /// A relaxed atomic operation with device scope. [`Op::MemFence`] adds an order. The result is the old value.
    /// `Store` has no result, `Load` has no operand.
    Atomic {
        op: AtomicOp,
        ptr: Value,
        value: Option<Value>,
        /// Type of the memory: `i32`, `i64`, `f32` or `f64`. For halves: `i16` or `f16`.
        ty: Scalar,
    },
    /// The result is the old value.
    CmpXchg {
        ptr: Value,
        expected: Value,
        desired: Value,
        ty: Scalar,
    },
    /// A work-group barrier with memory fences.
    Barrier(Fence),
    /// A memory fence without an execution barrier.
    MemFence(Fence),
    /// A work-group operation, or with `sub` a subgroup operation. The result has the type of the first operand, except
    /// for `Ballot` (`i32x4`).
    Group {
        sub: bool,
        op: GroupOp,
        args: Vec<Value>,
    },
    /// A read or write of an image; see [`image`].
    Image {
        call: image::ImageCall,
        args: Vec<Value>,
    },
    /// A word (`i32`) of `image::ImageDescriptor::words` of an image, or the word `image::PARAMETER_WORD`.
    ImageWord {
        image: Value,
        word: u8,
    },
    /// `printf` of a format and arguments. The format is a constant global; without a global, the first argument is a
    /// pointer to the format in constant memory. The result is an `i32`.
    Printf {
        format: Option<Global>,
        args: Vec<Value>,
    },

    /// For instrumented kernels: reports a component of the first value that is a NaN although the components from
    /// which it was computed are not. All values are floats of one scalar type. The other values have as many
    /// components as the first one, or one component. Component `i` of the first value is compared with component `i`
    /// of the others, or with their only component. If the first value is one component of a vector in the source,
    /// `part` is its index.
    NanCheck {
        values: Vec<Value>,
        part: Option<u8>,
    },

    /// For instrumented kernels: reports a component of a float whose integral part the integer type `to` cannot
    /// represent, and a NaN ([`Scalar::convertible_doubles`]).
    ConversionCheck {
        value: Value,
        to: Scalar,
        signed: bool,
    },

    /// For instrumented kernels: reports the use of a value that depends on bytes of these private variables to which
    /// nothing was stored.
    UndefinedUse {
        what: UndefinedUse,
        names: Vec<String>,
    },

    /// For instrumented kernels: the work-item begins an asynchronous copy with this event (`i32`), up to
    /// [`Self::AsyncCopyEnd`]. The result is the event, or a new one if the operand is 0.
    AsyncCopyBegin(Value),
    /// For instrumented kernels: the work-item has copied its part of an asynchronous copy.
    AsyncCopyEnd,
    /// For instrumented kernels: the work-item waits for the asynchronous copies with this event.
    AsyncCopyWait(Value),

    /// The current value of the device's clock, or with `sub` of the subgroup's clock. The result is two words, the low
    /// word first (`i32x2`).
    Clock {
        sub: bool,
    },

    Call(Func, Vec<Value>),

    If {
        cond: Value,
        then: Region,
        els: Region,
    },
    /// A loop. Only a `break` or `return` leaves it.
    Loop {
        init: Vec<Value>,
        params: Vec<Value>,
        body: Region,
        /// A hint from the source (`opencl_unroll_hint`): `Some(0)` unrolls completely, `Some(1)` never.
        unroll: Option<u32>,
    },
    /// The selector is an integer. Each case has the values that select its region.
    Switch {
        selector: Value,
        cases: Vec<(Vec<u64>, Region)>,
        default: Region,
    },

    Yield(Vec<Value>),
    Break(Vec<Value>),
    Continue(Vec<Value>),
    Return(Vec<Value>),
    Unreachable,
}

impl Op {
    /// Whether this operation terminates a region.
    pub const fn is_terminator(&self) -> bool {
        matches!(self, Self::Yield(_) | Self::Break(_) | Self::Continue(_) | Self::Return(_) | Self::Unreachable)
    }
}

impl Function {
    /// Creates a function with an empty body.
    pub fn new(name: impl Into<String>, ret: Type) -> Self {
        Self {
            name: name.into(),
            kernel: None,
            params: Vec::new(),
            returns: Vec::from_iter((ret != Type::Void).then_some(ret)),
            values: Vec::new(),
            vars: Vec::new(),
            body: Region::default(),
            no_inline: false,
        }
    }

    /// Creates a value of a type. Its definition must follow.
    pub fn new_value(&mut self, ty: Type) -> Value {
        let value = Value(number(self.values.len()));
        self.values.push(ValueData { ty });
        value
    }

    /// Creates a private variable.
    pub fn new_var(&mut self, name: impl Into<String>, size: u32, align: u32) -> Var {
        let var = Var(number(self.vars.len()));
        self.vars.push(VarData { name: name.into(), size, align });
        var
    }

    /// The type of the single returned value. `Void` if the function returns none.
    pub fn returned(&self) -> Type {
        self.returns.first().copied().unwrap_or(Type::Void)
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }
}
