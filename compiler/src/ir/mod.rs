//! The intermediate representation: typed, in SSA form over structured control flow, with real pointers in named address spaces.
//!
//! # Shape
//! A [`Module`] has functions and module-level memory objects ([`GlobalVar`]). A [`Function`] has parameters, private variables
//! ([`VarData`], memory of one work-item) and a body. The body is a [`Region`]: a list of instructions that own nested regions
//! (`if`, `loop`, `switch`). There are no basic blocks, no jumps but `break`, `continue` and `return`, and no phis: an `if` or
//! `switch` has results, given by the `yield` that ends each of its regions; a `loop` has parameters (loop-carried values, given by
//! its operands at first and by `continue` later) and results (given by `break`).
//!
//! # Rules (the verifier checks them)
//! * A value is defined once, before its uses, in the same region or in one that encloses it.
//! * Every region ends in exactly one terminator, and nothing follows it: `yield` in the regions of `if` and `switch`;
//!   `break`, `continue`, `return`, `unreachable` anywhere (the first two inside a loop; they mean the innermost *loop*:
//!   a `switch` is no target of `break`, and cases never fall through). The body of a loop never ends in `yield`;
//!   the body of a function ends in `return` or `unreachable`.
//! * The values of `yield`, `break`, `continue` and `return` agree in number and type with the results or parameters that they give.
//! * Integers are signless; `bool` (and vectors of it) is a type of its own, distinct from `i8`.
//! * Operands of element-wise operations have one type. A `select` may have a scalar `bool` condition for vectors.
//! * An access names its alignment in bytes; it is a promise of the front end, and a power of two.
//! * `private` memory is reached through [`Op::VarAddr`], module memory through [`Op::GlobalAddr`], buffers through the parameters
//!   of kernels.
//!
//! # Two stages
//! The front end writes *memory form*: every OpenCL C variable is a private variable with loads and stores, regions yield nothing.
//! `passes::inline` and `passes::sroa` bring it into SSA form. Both forms follow the rules above.
//!
//! # Meaning
//! Shifts take their amount modulo the width (OpenCL C 6.3.j). Integer division by zero and `INT_MIN / -1` give an unspecified value,
//! never a trap. Pointers are byte addresses; [`Op::PtrAdd`] wraps. `load`s from private variables that were never stored
//! give unspecified values.

#![allow(missing_docs, reason = "variants and fields whose name is the whole of their meaning")]

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

/// How deep regions may nest: the front end refuses deeper sources, and passes refuse to inline beyond it, so that walking regions
/// recursively is safe.
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
            /// The index into the table that this entity names an entry of.
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
    /// Memory objects of program scope and `__local` variables, indexed by [`Global`].
    pub globals: Vec<GlobalVar>,
}

/// A memory object that belongs to the module: a program-scope variable, a string literal, or a `__local` variable of a kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GlobalVar {
    /// Source name, for dumps and messages.
    pub name: String,
    /// `Local`, `Global` or `Constant`.
    pub space: Space,
    /// Its size in bytes.
    pub size: u32,
    /// Bytes, a power of two.
    pub align: u32,
    /// Initial contents: `None` for `Local` and for zero-initialised memory; otherwise `size` bytes.
    pub init: Option<Vec<u8>>,
    /// Places in `init` (and in zero memory) that hold addresses of other globals: written when the program is loaded.
    pub relocs: Vec<Reloc>,
}

impl GlobalVar {
    /// Alignment in bytes of a global in a program's memory, at least: one `vec4<u32>`, so that accesses of that size stay whole.
    pub const MIN_ALIGN: u32 = 16;

    /// Alignment in bytes of the memory of a global, at most: a `Local` one is an object of its own.
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
    /// What it points to.
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
    /// Values that hold the parameters, in order. A kernel's struct parameter is a `ptr.constant` to its bytes.
    pub params: Vec<Value>,
    /// Types of what it returns, none of them `Void`: one at most as the front end writes functions, more where passes let results stand for memory.
    pub returns: Vec<Type>,
    /// Type (and more) of every value, indexed by [`Value`].
    pub values: Vec<ValueData>,
    /// Private variables, indexed by [`Var`].
    pub vars: Vec<VarData>,
    pub body: Region,
    /// Whether the source asks for it never to be inlined (`noinline`), as long as that is possible.
    pub no_inline: bool,
}

/// What is special about a kernel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Kernel {
    /// How each parameter is passed, in order of the parameters.
    pub params: Vec<KernelParam>,
    /// `__attribute__((reqd_work_group_size))`.
    pub reqd_work_group_size: Option<[u32; 3]>,
    /// `__attribute__((intel_reqd_sub_group_size))`: a size that the device has.
    pub reqd_subgroup_size: Option<u32>,
    /// Work-items of dimension 0 for which an invocation stands, as a power of two: 0 until `passes::coarsen` says otherwise.
    pub coarse: u8,
    /// Whether its work-group memory is zero when it begins (`passes::zeroed`).
    pub zeroed: bool,
    /// Whether no access claims more alignment than the object has that it starts from: true from `passes::infer_alignment` on, and checked by the verifier.
    pub aligned: bool,
}

impl Kernel {
    /// Work-items of a subgroup, on a device where kernels that require no other size have so many.
    pub fn subgroup_size(&self, usual: u32) -> u32 {
        self.reqd_subgroup_size.unwrap_or(usual)
    }
}

/// How a kernel's parameter is passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KernelParam {
    /// A scalar or vector, in the argument buffer.
    Value,
    /// A struct or union of that size and alignment, in the argument buffer: the parameter is a `ptr.constant` to it.
    Bytes {
        /// Its size in bytes.
        size: u32,
        /// Its alignment in bytes, a power of two.
        align: u32,
    },
    /// A pointer to a buffer (`__global` or `__constant`).
    Buffer {
        /// `Global` or `Constant`.
        space: Space,
        /// Whether the source says that nothing is written through it (`const`, or constant space).
        read_only: bool,
        /// `restrict`.
        restrict: bool,
    },
    /// A pointer to workgroup memory whose size the host gives.
    Local {
        /// Alignment of what it points to, in bytes.
        align: u32,
    },
    /// A sampler: its bits are in the launch key.
    Sampler,
    /// An image: its format is in the launch key, its sizes are in the argument buffer.
    Image,
}

impl KernelParam {
    /// Alignment in bytes of a structure in the argument buffer, at least: kernels read it in words.
    pub const STRUCTURE: u32 = 4;
    /// Alignment in bytes of memory that the host allocates: that of the largest type, `long16` (CL_DEVICE_MEM_BASE_ADDR_ALIGN).
    pub const MEMORY: u32 = 128;

    /// Alignment in bytes of the memory that a pointer parameter leads to, at most.
    pub fn align(&self) -> u32 {
        match self {
            Self::Bytes { align, .. } => (*align).max(Self::STRUCTURE),
            Self::Value | Self::Buffer { .. } | Self::Local { .. } | Self::Sampler | Self::Image => Self::MEMORY,
        }
    }
}

/// What is known of a value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ValueData {
    pub ty: Type,
}

/// A private variable: memory of one work-item.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VarData {
    /// Source name; empty for temporaries.
    pub name: String,
    /// Its size in bytes.
    pub size: u32,
    /// Bytes, a power of two.
    pub align: u32,
}

/// A list of instructions, the last of which is a terminator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Region {
    /// In order of execution.
    pub insts: Vec<Inst>,
}

/// An operation, the values that it gives, and where in the source it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Values that it defines: none or one, but for `if`, `switch`, `loop` and `call`, which may define several.
    pub results: Vec<Value>,
    /// Where it comes from.
    #[serde(skip)]
    pub span: Span,
}

/// What a constant is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Const {
    /// The bits of a scalar, zero-extended; floats by their IEEE bits; `bool` 0 or 1.
    Bits(u64),
    /// One a lane.
    Lanes(Vec<u64>),
    /// The null pointer.
    Null,
    /// Any value: whatever a program does not depend on.
    Undef,
}

/// Operations of one operand, element-wise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnOp {
    /// Bitwise complement; negation of `bool`.
    Not,
    /// Two's complement negation.
    Neg,
    /// Sign flip of a float, NaN included.
    FNeg,
}

/// Operations of two operands of one type, element-wise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// Signed division.
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
    /// Also of `bool`s.
    And,
    /// Also of `bool`s.
    Or,
    /// Also of `bool`s.
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// Signed minimum.
    SMin,
    UMin,
    SMax,
    UMax,
    /// IEEE minNum: the other operand where one is a NaN (`fmin`).
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
    /// Ordered comparisons: false where an operand is a NaN.
    FEq,
    /// Unordered: true where an operand is a NaN (C's `!=`).
    FNe,
    FLt,
    FLe,
    FGt,
    FGe,
}

/// Conversions, element-wise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CastOp {
    /// To a narrower integer.
    Trunc,
    /// From a narrower integer or `bool` (to 0 or 1).
    ZExt,
    /// From a narrower integer or `bool` (to 0 or -1).
    SExt,
    /// Float to signed integer, toward zero; unspecified where it does not fit.
    FToS,
    FToU,
    /// Signed integer to float, to nearest even.
    SToF,
    UToF,
    /// Between float types, to nearest even.
    FToF,
    /// Same size, other type: between integers and floats, and between vectors of other lane counts.
    Bitcast,
    /// Pointer to integer of the pointer's size.
    PtrToInt,
    /// Integer of the pointer's size to pointer.
    IntToPtr,
    /// Between a named space and generic.
    SpaceCast,
}

/// Mathematical functions that a device offers, element-wise. What the library builds upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MathOp {
    FAbs,
    Floor,
    Ceil,
    /// Toward zero.
    FTrunc,
    /// To nearest even.
    Rint,
    /// Within the device's square root bound.
    Sqrt,
    RSqrt,
    /// Truly fused multiply-add, one rounding (emulated where the device does not fuse).
    Fma,
    /// `a * b + c`, fused where the device does so quickly, two roundings otherwise (`mad`, and contraction in an expression).
    FMulAdd,
    /// The device's own function: nothing is promised of its accuracy.
    NativeSin,
    NativeCos,
    NativeTan,
    NativeExp2,
    NativeLog2,
    NativeRecip,
    /// `x / y` by the device's quickest means.
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

/// Questions of a work-item about itself; dimension 0, 1 or 2 where one applies. Results are `i32`, unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WorkItem {
    /// Includes the global offset.
    GlobalId(u8),
    LocalId(u8),
    GroupId(u8),
    GlobalSize(u8),
    /// The enqueued local size; the actual one of a smaller last group with `LocalSize`.
    EnqueuedLocalSize(u8),
    LocalSize(u8),
    NumGroups(u8),
    GlobalOffset(u8),
    WorkDim,
    SubgroupSize,
    SubgroupLocalId,
    SubgroupId,
    NumSubgroups,
    /// The identity of the buffer that a kernel's parameter of that index was given (see `crate::pointer::identity`).
    ArgIdentity(u32),
    /// The byte of that buffer's allocation at which the argument starts.
    ArgBase(u32),
    /// Bytes of the argument.
    ArgSize(u32),
    /// The upper half of the argument's bytes, of which `ArgSize` is the lower one.
    ArgSizeHigh(u32),
    /// A half of the address of the argument's memory, where it is reached by that.
    ArgAddress {
        /// The parameter's index.
        param: u32,
        /// Whether it is the upper half.
        high: bool,
    },
    /// The byte of the common buffer at which a folded argument is.
    ArgFold(u32),
    /// The byte of the argument's range at which the pointer that the host has set points, where that is not the first.
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
    /// On floats, where the device has it.
    FAdd,
    FMin,
    FMax,
    Load,
    Store,
}

/// Operations of the work-items of a group together: all of them (of a subgroup: those that are active) get there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GroupOp {
    /// Whether a `bool` is true for all of them.
    All,
    Any,
    /// value, index in the group (`i32`, the same for all): that work-item's value.
    Broadcast,
    /// Of all values, in any order.
    Reduce(BinOp),
    /// Of the values of the work-items up to this one, in order of their index.
    ScanInclusive(BinOp),
    /// Of the values of the work-items before this one; the operation's identity for the first.
    ScanExclusive(BinOp),
    /// Subgroups only: value, cluster size (`i32`, a power of two, the same for all). Of the values of the active work-items among each so many,
    /// in order of their index.
    ActiveReduce(BinOp),
    /// The same of those up to this one.
    ActiveInclusive(BinOp),
    /// The same of those before this one; the operation's identity for the first.
    ActiveExclusive(BinOp),
    /// Subgroups only: the value of the first active work-item.
    BroadcastFirst,
    /// Subgroups only: for which active work-items a `bool` is true; four times 32 bits.
    Ballot,
    /// Subgroups only: value, index; unspecified where that work-item is not active.
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

/// What a barrier or fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fence {
    /// CLK_LOCAL_MEM_FENCE.
    pub local: bool,
    /// CLK_GLOBAL_MEM_FENCE.
    pub global: bool,
    /// CLK_IMAGE_MEM_FENCE.
    pub image: bool,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Op {
    Const(Const),
    Un(UnOp, Value),
    Bin(BinOp, Value, Value),
    Cmp(CmpOp, Value, Value),
    /// The result's type is the target's.
    Cast(CastOp, Value),
    /// condition, value if true, value if false.
    Select(Value, Value, Value),
    Math(MathOp, Vec<Value>),
    /// Whether all lanes of a `bool` vector (or the scalar) are true.
    All(Value),
    Any(Value),

    /// One scalar a lane.
    Construct(Vec<Value>),
    Splat(Value),
    Extract(Value, u8),
    /// Lane by run-time index (`i32`); unspecified where it is out of range.
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
    /// Copies `size` bytes between memories that do not overlap (or are the same).
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
    /// Relaxed, within the device: [`Op::MemFence`] orders. The result is the old value (`Store` has none, `Load` no operand).
    Atomic {
        op: AtomicOp,
        ptr: Value,
        value: Option<Value>,
        /// Type of the memory: `i32`, `i64`, `f32`, `f64`, and for halves `i16` and `f16`.
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
    /// An operation of a work-group or, with `sub`, of a subgroup. The result has the type of the first operand; `Ballot`'s is `i32x4`.
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
    /// `printf`: format (a constant global) and arguments; the result is an `i32`.
    Printf {
        format: Global,
        args: Vec<Value>,
    },

    /// Tells where kernels are checked for it that a component of the first value is a NaN although those of the others, which it was made of, are numbers. They are floats of one
    /// scalar type; one that has as many components as the first goes with it component by component, any other with each. `part`: of which component of the source's vector this is.
    NanCheck {
        values: Vec<Value>,
        part: Option<u8>,
    },

    /// A clock of the device's at this moment, or of the subgroup's with `sub`: its words, the low one first (`i32x2`).
    Clock {
        sub: bool,
    },

    Call(Func, Vec<Value>),

    If {
        cond: Value,
        then: Region,
        els: Region,
    },
    /// The body runs until `break`.
    Loop {
        init: Vec<Value>,
        params: Vec<Value>,
        body: Region,
        /// A hint from the source (`opencl_unroll_hint`): `Some(0)` full, `Some(1)` never.
        unroll: Option<u32>,
    },
    /// An integer selector; each case has the values for which its region runs.
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
    /// Whether this ends a region.
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

    /// A new value of a type, not yet defined by anything.
    pub fn new_value(&mut self, ty: Type) -> Value {
        let value = Value(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
        self.values.push(ValueData { ty });
        value
    }

    /// A new private variable.
    pub fn new_var(&mut self, name: impl Into<String>, size: u32, align: u32) -> Var {
        let var = Var(u32::try_from(self.vars.len()).unwrap_or(u32::MAX));
        self.vars.push(VarData { name: name.into(), size, align });
        var
    }

    /// The type of the one value that it returns, `Void` where it returns none.
    pub fn returned(&self) -> Type {
        self.returns.first().copied().unwrap_or(Type::Void)
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }
}
