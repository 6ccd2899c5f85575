//! The intermediate representation: typed, in SSA form over structured control flow, with real pointers in named
//! address spaces.
//!
//! # Shape
//! A [`Module`] has functions and module-level memory objects ([`GlobalVar`]). A [`Function`] has parameters, private
//! variables ([`VarData`], memory of one work-item) and a body. The body is a [`Region`]: a list of instructions that
//! own nested regions (`if`, `loop`, `switch`). There are no basic blocks, no phis, and no jumps except `break`,
//! `continue` and `return`. An `if` or `switch` has results, which the `yield` at the end of each region provides. A
//! `loop` has parameters (loop-carried values, initially its operands, then the values of `continue`) and results
//! (the values of `break`).
//!
//! # Rules (the verifier checks them)
//! * A value is defined once, before its uses, in the same region or in an enclosing one.
//! * Every region ends in exactly one terminator: `yield` in the regions of `if` and `switch`; `break`, `continue`,
//!   `return`, `unreachable` anywhere (the first two inside a loop; they refer to the innermost *loop*: a `switch` is
//!   not a target of `break`, and cases never fall through). The body of a loop never ends in `yield`; the body of a
//!   function ends in `return` or `unreachable`.
//! * The values of `yield`, `break`, `continue` and `return` match the results or parameters in number and type.
//! * Integers are signless. `bool` (and vectors of it) is a separate type, distinct from `i8`.
//! * Operands of element-wise operations have one type. A `select` may have a scalar `bool` condition for vectors.
//! * An access names its alignment in bytes, a power of two. The front end guarantees it.
//! * `private` memory is accessed through [`Op::VarAddr`], module memory through [`Op::GlobalAddr`], buffers through
//!   the parameters of kernels.
//!
//! # Two stages
//! The front end writes *memory form*: every OpenCL C variable is a private variable with loads and stores, and
//! regions yield nothing. `passes::inline` and `passes::sroa` convert it to SSA form. Both forms follow the rules
//! above.
//!
//! # Semantics
//! Shift amounts are taken modulo the width (OpenCL C 6.3.j). Integer division by zero and `INT_MIN / -1` give an
//! unspecified value and never trap. Pointers are byte addresses; [`Op::PtrAdd`] wraps. Loads from private variables
//! without a previous store give unspecified values.

#![allow(missing_docs, reason = "the names need no documentation")]

pub mod build;
mod identity;
pub mod image;
pub mod names;
pub mod read;
pub mod types;
pub mod verify;
pub mod visit;
pub mod write;

pub use build::{Build, Cursor};
pub use types::{Scalar, Space, Type};

use crate::diag::Span;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Limit for the nesting of regions: the front end rejects deeper sources, and passes do not inline beyond it, so
/// recursion over regions is safe.
pub const MAX_NESTING: usize = 256;

/// At this nesting both front ends stop nesting the code after a jump and guard it with a flag instead. Drivers limit
/// nesting: lavapipe ignores the conditions of more than 80 nested `if`s.
pub(crate) const PREFERRED_NESTING: usize = 24;

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            /// The index in the table of this entity.
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
/// If the table has more than 2^32 entries, so that two entities never get the same number.
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

/// A compiled program before it is specialised for a launch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Module {
    /// Functions, indexed by [`Func`]. Helper functions and kernels alike.
    pub functions: Vec<Function>,
    /// Program-scope variables and `__local` variables, indexed by [`Global`].
    pub globals: Vec<GlobalVar>,
}

/// A memory object of the module: a program-scope variable, a string literal, or a `__local` variable of a kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GlobalVar {
    /// Source name, for dumps and messages.
    pub name: String,
    /// `Local`, `Global` or `Constant`.
    pub space: Space,
    pub size: u32,
    /// In bytes, a power of two.
    pub align: u32,
    /// Initial contents: `None` for `Local` and for zero-initialised memory; otherwise `size` bytes.
    pub init: Option<Vec<u8>>,
    /// Offsets in `init` (and in zero memory) with addresses of other globals: written when the program is loaded.
    pub relocs: Vec<Reloc>,
}

impl GlobalVar {
    /// Minimum alignment in bytes of a global in a program's memory: one `vec4<u32>`, so that accesses of this size
    /// are not split.
    pub const MIN_ALIGN: u32 = 16;

    /// An upper bound for the alignment in bytes of a global's memory: a `Local` one is a separate object.
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
    /// Byte offset of the pointer in the global's memory.
    pub at: u32,
    pub target: Global,
    /// Byte offset in the target.
    pub addend: i64,
}

/// A function, kernel or helper.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Source name. Unique among kernels; helpers may share names (overloads).
    pub name: String,
    /// Kernel data; `None` for helpers.
    pub kernel: Option<Kernel>,
    /// The parameters in order. A kernel's struct parameter is a `ptr.constant` to its bytes.
    pub params: Vec<Value>,
    /// Types of the results, none of them `Void`. The front end produces at most one; passes may add more.
    pub returns: Vec<Type>,
    /// Type (and more) of every value, indexed by [`Value`].
    pub values: Vec<ValueData>,
    /// Private variables, indexed by [`Var`].
    pub vars: Vec<VarData>,
    pub body: Region,
    /// Whether the source has `noinline`. Passes follow it where possible.
    pub no_inline: bool,
}

/// Properties of a kernel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Kernel {
    /// How each parameter is passed, in order.
    pub params: Vec<KernelParam>,
    pub reqd_work_group_size: Option<[u32; 3]>,
    /// `__attribute__((intel_reqd_sub_group_size))`: a size that the device supports.
    pub reqd_subgroup_size: Option<u32>,
    /// Work-items of dimension 0 per invocation, as a power of two: 0 until `passes::coarsen` changes it.
    pub coarse: u8,
    /// Whether its work-group memory is zeroed when it starts (`passes::zeroed`).
    pub zeroed: bool,
    /// Whether it calls functions with pointers to global memory. Shaders pass the address of the memory, so buffers
    /// must be accessed by address.
    pub by_address: bool,
    /// Whether no access claims more alignment than its base object has: true from `passes::infer_alignment` on; the
    /// verifier checks it.
    pub aligned: bool,
}

impl Kernel {
    /// The subgroup size, on a device with the default size `usual`.
    pub fn subgroup_size(&self, usual: u32) -> u32 {
        self.reqd_subgroup_size.unwrap_or(usual)
    }
}

/// How a kernel's parameter is passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KernelParam {
    /// A scalar or vector, in the argument buffer.
    Value,
    /// A struct or union with this size and alignment, in the argument buffer: the parameter is a `ptr.constant` to
    /// it.
    Bytes {
        size: u32,
        /// In bytes, a power of two.
        align: u32,
    },
    /// A pointer to a buffer (`__global` or `__constant`).
    Buffer {
        /// `Global` or `Constant`.
        space: Space,
        /// Whether the source declares that nothing is written through it (`const`, or constant space).
        read_only: bool,
        restrict: bool,
    },
    /// A pointer to work-group memory; the host sets its size.
    Local {
        /// Alignment of the pointee in bytes.
        align: u32,
    },
    /// A sampler: its value is in the launch key.
    Sampler,
    /// An image: its format is in the launch key, its sizes are in the argument buffer.
    Image,
}

impl KernelParam {
    /// Minimum alignment in bytes of a structure in the argument buffer: kernels read it as words.
    pub const STRUCTURE: u32 = 4;
    /// Alignment in bytes of memory from the host: the alignment of the largest type, `long16`
    /// (CL_DEVICE_MEM_BASE_ADDR_ALIGN).
    pub const MEMORY: u32 = 128;

    /// An upper bound for the alignment in bytes of a pointer parameter's memory.
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
    /// Source name; empty for temporaries.
    pub name: String,
    pub size: u32,
    /// In bytes, a power of two.
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
    /// Values that it defines: none or one; `if`, `switch`, `loop` and `call` may define several.
    pub results: Vec<Value>,
    #[serde(skip)]
    pub span: Span,
}

/// The value of a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Const {
    /// The bits of a scalar, zero-extended; floats by their IEEE bits; `bool` 0 or 1.
    Bits(u64),
    /// One entry per lane.
    Lanes(Vec<u64>),
    /// The null pointer.
    Null,
    /// Any value; the program does not depend on it.
    Undef,
}

/// Element-wise operations with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnOp {
    /// Bitwise complement; negation of `bool`.
    Not,
    /// Two's complement negation.
    Neg,
    /// Sign flip of a float, NaN included.
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
    /// Signed remainder, sign of the dividend.
    SRem,
    URem,
    /// Shift left, amount modulo the width.
    Shl,
    /// Logical shift right, amount modulo the width.
    LShr,
    /// Arithmetic shift right, amount modulo the width.
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
    /// IEEE minNum: the other operand if one is a NaN (`fmin`).
    FMin,
    FMax,
    /// High half of the full product, signed (`mul_hi`).
    SMulHi,
    UMulHi,
    /// Saturating additions and subtractions (`add_sat`, `sub_sat`).
    SAddSat,
    UAddSat,
    SSubSat,
    USubSat,
    /// Rotate left, amount modulo the width (`rotate`).
    Rotate,
}

/// Comparisons; the result is `bool` or a vector of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CmpOp {
    /// Integers, bools and pointers.
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
    /// Ordered comparisons: false if an operand is a NaN.
    FEq,
    /// Unordered: true if an operand is a NaN (C's `!=`).
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
    /// Float to signed integer, toward zero; unspecified if it does not fit.
    FToS,
    FToU,
    /// Signed integer to float, to nearest even.
    SToF,
    UToF,
    /// Between float types, to nearest even.
    FToF,
    /// Same size, other type: between integers and floats, and between vectors with different lane counts.
    Bitcast,
    /// Pointer to integer of the pointer's size.
    PtrToInt,
    /// Integer of the pointer's size to pointer.
    IntToPtr,
    /// Between a named space and generic.
    SpaceCast,
}

/// Element-wise mathematical functions of the device, which the library uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MathOp {
    FAbs,
    Floor,
    Ceil,
    FTrunc,
    /// To nearest even.
    Rint,
    /// Within the device's square root bound.
    Sqrt,
    RSqrt,
    /// Fused multiply-add with one rounding (emulated if the device does not fuse).
    Fma,
    /// `a * b + c`, fused if this is fast on the device, otherwise with two roundings (`mad`, and contraction in an
    /// expression).
    FMulAdd,
    /// The device's own function, without accuracy requirements.
    NativeSin,
    NativeCos,
    NativeTan,
    NativeExp2,
    NativeLog2,
    NativeRecip,
    /// `x / y` with the device's fastest method.
    NativeDivide,
    NativePow,
    /// Absolute value of a signed integer, as unsigned.
    SAbs,
    /// Leading zeros; the width for 0.
    Clz,
    /// Trailing zeros; the width for 0.
    Ctz,
    Popcount,
    ReverseBits,
}

/// Queries of a work-item; with a dimension 0, 1 or 2 where applicable. Results are unsigned `i32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WorkItem {
    /// Includes the global offset.
    GlobalId(u8),
    LocalId(u8),
    GroupId(u8),
    GlobalSize(u8),
    /// The enqueued local size; `LocalSize` is the actual size of a smaller last group.
    EnqueuedLocalSize(u8),
    LocalSize(u8),
    NumGroups(u8),
    GlobalOffset(u8),
    WorkDim,
    SubgroupSize,
    SubgroupLocalId,
    SubgroupId,
    NumSubgroups,
    /// The identity of the buffer passed for the kernel's parameter with this index (see `crate::pointer::identity`).
    ArgIdentity(u32),
    /// The offset in bytes of the argument in its allocation.
    ArgBase(u32),
    /// Size of the argument in bytes, lower half.
    ArgSize(u32),
    /// Size of the argument in bytes, upper half.
    ArgSizeHigh(u32),
    /// Half of the address of the argument's memory, if it is accessed by address.
    ArgAddress {
        /// The parameter's index.
        param: u32,
        /// Whether it is the upper half.
        high: bool,
    },
    /// The offset in bytes of a merged argument in the common buffer.
    ArgMergedOffset(u32),
    /// The offset in bytes of the pointer in the argument's range, if it is not 0.
    ArgStart(u32),
    /// A word of `image::ImageDescriptor::words` of a kernel's image parameter.
    ArgImage {
        /// The parameter's index.
        param: u32,
        /// The word's index.
        word: u8,
    },
}

/// Read-modify-write operations on 32- or 64-bit memory.
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
    /// On floats, if the device supports it.
    FAdd,
    FMin,
    FMax,
    Load,
    Store,
}

/// Collective operations of the work-items of a group, which all of them reach (for a subgroup: the active ones).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GroupOp {
    /// Whether a `bool` is true for all work-items.
    All,
    Any,
    /// value, index in the group (`i32`, uniform): the value of this work-item.
    Broadcast,
    /// Combines all values, in any order.
    Reduce(BinOp),
    /// Combines the values of the work-items up to this one, in order of their index.
    ScanInclusive(BinOp),
    /// Combines the values of the work-items before this one; the operation's identity for the first.
    ScanExclusive(BinOp),
    /// Subgroups only: value, cluster size (`i32`, a power of two, uniform). Combines the values of the active
    /// work-items in each cluster, in order of their index.
    ActiveReduce(BinOp),
    /// Like `ActiveReduce`, up to this work-item.
    ActiveInclusive(BinOp),
    /// Like `ActiveReduce`, before this work-item; the operation's identity for the first.
    ActiveExclusive(BinOp),
    /// Subgroups only: the value of the first active work-item.
    BroadcastFirst,
    /// Subgroups only: the active work-items for which a `bool` is true, as four words.
    Ballot,
    /// Subgroups only: value, index; unspecified if that work-item is not active.
    Shuffle,
    /// The index exclusive-or the second operand.
    ShuffleXor,
    /// The index minus the second operand.
    ShuffleUp,
    /// The index plus the second operand.
    ShuffleDown,
    /// Subgroups only, no operands: a barrier with all fences.
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
    /// Whether it orders accesses that other work-groups observe.
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
    /// The result has the target type.
    Cast(CastOp, Value),
    /// condition, value if true, value if false.
    Select(Value, Value, Value),
    Math(MathOp, Vec<Value>),
    /// Whether all lanes of a `bool` vector (or the scalar) are true.
    All(Value),
    Any(Value),

    /// One scalar per lane.
    Construct(Vec<Value>),
    Splat(Value),
    Extract(Value, u8),
    /// A lane selected by a run-time index (`i32`); unspecified if it is out of range.
    ExtractDyn(Value, Value),
    /// vector, lane, scalar.
    Insert(Value, u8, Value),
    /// vector, index, scalar.
    InsertDyn(Value, Value, Value),
    /// Lanes of the concatenation of two vectors of one type (or scalars); `None` lanes are unspecified.
    Shuffle(Value, Value, Vec<Option<u8>>),

    WorkItem(WorkItem),

    VarAddr(Var),
    GlobalAddr(Global),
    /// pointer, byte offset (`i32` or `i64`, signed).
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
    /// Copies `size` bytes between memories that do not overlap (or are identical).
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
    /// Relaxed, with device scope; [`Op::MemFence`] orders. The result is the old value (`Store` has none, `Load` no
    /// operand).
    Atomic {
        op: AtomicOp,
        ptr: Value,
        value: Option<Value>,
        /// Type of the memory: `i32`, `i64`, `f32`, `f64`; for halves `i16` and `f16`.
        ty: Scalar,
    },
    /// The result is the old value.
    CmpXchg {
        ptr: Value,
        expected: Value,
        desired: Value,
        ty: Scalar,
    },
    /// Work-group barrier with memory fences.
    Barrier(Fence),
    /// Memory fence without execution barrier.
    MemFence(Fence),
    /// A work-group operation or, with `sub`, a subgroup operation. The result has the type of the first operand;
    /// `Ballot`'s is `i32x4`.
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
    /// A word of `image::ImageDescriptor::words` of an image, an `i32`, or `image::PARAMETER_WORD`.
    ImageWord {
        image: Value,
        word: u8,
    },
    /// `printf`: format (a constant global) and arguments; the result is an `i32`. Without a global, the first
    /// argument is a pointer to the format in constant memory.
    Printf {
        format: Option<Global>,
        args: Vec<Value>,
    },

    /// For instrumented kernels: reports if a component of the first value is a NaN although the components that it
    /// was computed from are numbers. All values are floats of one scalar type. A value with as many components as
    /// the first is compared component by component, any other with each. `part`: the component of the source's
    /// vector.
    NanCheck {
        values: Vec<Value>,
        part: Option<u8>,
    },

    /// The current value of the device's clock, or of the subgroup's with `sub`, as words, the low one first
    /// (`i32x2`).
    Clock {
        sub: bool,
    },

    Call(Func, Vec<Value>),

    If {
        cond: Value,
        then: Region,
        els: Region,
    },
    /// The body repeats until `break`.
    Loop {
        init: Vec<Value>,
        params: Vec<Value>,
        body: Region,
        /// A hint from the source (`opencl_unroll_hint`): `Some(0)` full, `Some(1)` never.
        unroll: Option<u32>,
    },
    /// An integer selector; each case has the values that select its region.
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
    /// Whether this terminates a region.
    pub const fn is_terminator(&self) -> bool {
        matches!(self, Self::Yield(_) | Self::Break(_) | Self::Continue(_) | Self::Return(_) | Self::Unreachable)
    }
}

impl Function {
    /// An empty function without body.
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

    /// A new value of a type, without a definition.
    pub fn new_value(&mut self, ty: Type) -> Value {
        let value = Value(number(self.values.len()));
        self.values.push(ValueData { ty });
        value
    }

    /// A new private variable.
    pub fn new_var(&mut self, name: impl Into<String>, size: u32, align: u32) -> Var {
        let var = Var(number(self.vars.len()));
        self.vars.push(VarData { name: name.into(), size, align });
        var
    }

    /// The type of the single returned value; `Void` if none is returned.
    pub fn returned(&self) -> Type {
        self.returns.first().copied().unwrap_or(Type::Void)
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }
}
