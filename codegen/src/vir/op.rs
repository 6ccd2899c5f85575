//! Operations of the vector IR.

use smallvec::SmallVec;

use super::entities::{Block, Func, Value};
use super::types::Elem;

/// The memory formats of loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mem {
    /// A byte. In a register, it is an `i32`. A load clears the upper bits, and a store ignores them.
    I8,
    /// Two bytes, extended like [`Mem::I8`].
    I16,
    /// An element that has the same size in memory as in a register.
    Elem(Elem),
}

impl Mem {
    /// Returns the size in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::I8 => 1,
            Self::I16 => 2,
            Self::Elem(elem) => elem.bytes(),
        }
    }

    /// Returns the element in a register.
    pub const fn elem(self) -> Elem {
        match self {
            Self::I8 | Self::I16 => Elem::I32,
            Self::Elem(elem) => elem,
        }
    }
}

/// An address: `base + index * scale + disp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Addr {
    /// An `i64` value.
    pub base: Value,
    /// An `i64` value, and a scale of 1, 2, 4 or 8.
    pub index: Option<(Value, u8)>,
    /// A displacement in bytes.
    pub disp: i32,
}

impl Addr {
    /// Returns the address that a value contains.
    pub const fn of(base: Value) -> Self {
        Self { base, index: None, disp: 0 }
    }

    /// Returns the address that a value contains, plus `disp` bytes.
    pub const fn offset(base: Value, disp: i32) -> Self {
        Self { base, index: None, disp }
    }
}

/// The rounding mode of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names need no documentation")]
pub enum Rounding {
    NearestEven,
    Down,
    Up,
    Zero,
}

/// Operations with one operand. The result has the operand's type unless the variant says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    /// Complement of an integer or mask.
    Not,
    /// Two's complement negation of an integer.
    Neg,
    /// Square root, correctly rounded.
    Sqrt,
    /// Rounds a float to an integral float.
    Round(Rounding),
    /// Number of leading zeros of an integer. For 0, this is the width in bits.
    Clz,
    /// Number of trailing zeros of an integer scalar. For 0, this is the width in bits.
    Ctz,
    /// Number of set bits.
    Popcnt,
    /// Converts the bits of a half (an `i32`, upper bits ignored) to `f32`.
    HalfToFloat,
    /// Converts an `f32` to the bits of a half, rounded to nearest even. The result is an `i32` with zero upper bits.
    FloatToHalf,
    /// Approximation of `1 / x` with a relative error of at most 1.5 * 2^-12. `f32` only.
    RecipApprox,
    /// Approximation of `1 / sqrt(x)` with a relative error of at most 1.5 * 2^-12. `f32` only.
    RsqrtApprox,
}

/// Operations with two operands of the result's type.
///
/// A 32-bit lane can contain packed bytes or 16-bit words. Bitwise operations and the operations from `AddBytes` to
/// `MulWords` support packed elements. Other operations require the elements to be extended to lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names need no documentation")]
pub enum BinOp {
    Add,
    Sub,
    /// The low half of the product.
    Mul,
    /// The product of the low 32 bits of each 64-bit lane, unsigned. `i64` vectors and scalars.
    MulWideU,
    /// The signed form of [`BinOp::MulWideU`].
    MulWideS,
    /// The high half of the unsigned product. For 64 bits, scalars only.
    MulHiU,
    /// The high half of the signed product. For 64 bits, scalars only.
    MulHiS,
    /// Unsigned division of scalars.
    UDiv,
    /// Signed division of scalars.
    SDiv,
    /// Unsigned remainder of scalars.
    URem,
    /// Signed remainder of scalars.
    SRem,
    /// Bitwise, for every type including masks and floats.
    And,
    /// Bitwise, for every type.
    Or,
    /// Bitwise, for every type.
    Xor,
    /// `a & !b`, for every type.
    AndNot,
    /// Shift left. Each lane has its own amount.
    Shl,
    /// Logical shift right.
    LShr,
    /// Arithmetic shift right.
    AShr,
    /// Rotation to the left. The amount is modulo the width.
    Rotl,
    SMin,
    SMax,
    UMin,
    UMax,
    /// Adds the four bytes of each `i32` lane separately, without carries between them. The operations from `AddBytes`
    /// to `MulWords` support vectors only.
    AddBytes,
    SubBytes,
    /// The low halves of the products of bytes.
    MulBytes,
    /// Adds the two 16-bit words of each `i32` lane separately.
    AddWords,
    SubWords,
    /// The low halves of the products of 16-bit words.
    MulWords,
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// `a < b ? a : b`
    FMin,
    /// `a > b ? a : b`
    FMax,
}

/// Operations with three float operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TernOp {
    /// `a * b + c`
    Fma,
    /// `a * b - c`
    Fms,
    /// `c - a * b`
    Fnma,
}

/// Comparisons. The result is an `i32` (0 or 1) for scalars, and a mask for vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names need no documentation")]
pub enum CmpOp {
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
    /// Equal; false if one operand is a NaN.
    FEq,
    /// Not equal; true if one operand is a NaN.
    FNe,
    FLt,
    FLe,
    FGt,
    FGe,
}

/// Conversions of elements to the type of the result. Vector conversions that change the element size use [`Op::Widen`]
/// and [`Op::Narrow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastOp {
    /// Reinterprets the bits as another type of the same size.
    Bitcast,
    /// Sign extension of `i32` to `i64`.
    SExt,
    /// Zero extension of `i32` to `i64`.
    ZExt,
    /// Truncates `i64` to `i32`.
    Trunc,
    /// Signed integer to float.
    SToF,
    /// Unsigned integer to float.
    UToF,
    /// Float to signed integer, rounded toward zero. The result is unspecified if it does not fit.
    FToS,
    /// Float to unsigned integer, rounded toward zero. The result is unspecified if it does not fit.
    FToU,
    /// Conversion between `f32` and `f64`.
    FToF,
}

/// The operation of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// The bits of a scalar, or of every lane of a vector. A mask has all lanes set unless the number is 0.
    Const(u64),
    /// The bits of each lane of a vector.
    Lanes(Box<[u64]>),
    /// An unspecified value.
    Undef,
    /// A parameter of the function. Allowed in block 0 only.
    Param(u8),
    Un(UnOp, Value),
    Bin(BinOp, Value, Value),
    Tern(TernOp, Value, Value, Value),
    Cmp(CmpOp, Value, Value),
    /// Condition, value if true, value if false. The condition of a scalar is an `i32` (true if not 0). The condition
    /// of a vector or mask is a mask.
    Select(Value, Value, Value),
    /// Conversion of scalars, or of vectors to elements of the same size.
    Cast(CastOp, Value),
    /// Converts the 32-bit lanes from `part * n` on of a vector to `n` lanes of 64 bits, where `n` is the lane count of
    /// the result. If the source has `n` lanes, `part` is 0.
    Widen(CastOp, Value, u8),
    /// Converts one or two vectors of 64-bit lanes to one vector of 32-bit lanes. The result has as many lanes as all
    /// operands together.
    Narrow(CastOp, SmallVec<[Value; 2]>),
    /// Broadcasts a scalar to all lanes.
    Splat(Value),
    /// Reads one lane of a vector.
    Extract(Value, u8),
    /// Converts the lanes from `part * n` on of a mask for 32-bit lanes to a mask for `n` 64-bit lanes.
    MaskPart(Value, u8),
    /// Joins one or two masks for 64-bit lanes into a mask for 32-bit lanes.
    MaskJoin(SmallVec<[Value; 2]>),
    /// Selects lanes of the concatenation of two vectors, by constant indices. See `IsaCaps::has_cheap_shuffles`.
    Shuffle(Value, Value, Box<[u8]>),
    /// Selects lanes of a vector of 32-bit elements, by a vector of `i32` indices. The indices are modulo the number of
    /// lanes.
    Permute(Value, Value),
    /// Converts a mask to an `i32`: bit `n` is lane `n`. The upper bits are 0.
    MaskBits(Value),
    /// Converts an `i32` to a mask: lane `n` is bit `n`. The upper bits are ignored.
    MaskOf(Value),
    /// Loads a scalar.
    Load(Mem, Addr),
    /// Stores a scalar.
    Store(Mem, Addr, Value),
    /// Loads contiguous lanes, at any alignment.
    LoadVector {
        mem: Mem,
        /// The address of lane 0, even if that lane is inactive.
        addr: Addr,
        /// The loaded lanes; `None` means all.
        mask: Option<Value>,
    },
    /// Loads 16 bytes from each of several addresses, at any alignment, and concatenates them. The result has more than
    /// 16 bytes. Requires `IsaCaps::has_piece_loads`.
    LoadPieces(Elem, Box<[Addr]>),
    /// Stores contiguous lanes, at any alignment.
    StoreVector {
        mem: Mem,
        /// The address of lane 0, even if that lane is inactive.
        addr: Addr,
        value: Value,
        /// The stored lanes; `None` means all.
        mask: Option<Value>,
    },
    /// Loads each lane from its own address, `base + index * scale`. 32- and 64-bit elements only.
    Gather {
        elem: Elem,
        /// An `i64`; `None` means 0.
        base: Option<Value>,
        /// One vector of `i32` (sign-extended) or `i64` with the lane count of the result. Or two vectors of `i64` that
        /// together have that count.
        index: SmallVec<[Value; 2]>,
        /// 1, 2, 4 or 8.
        scale: u8,
        /// The loaded lanes; `None` means all.
        mask: Option<Value>,
    },
    /// Stores each lane to its own address, in the order of the lanes. Requires `IsaCaps::has_scatter`.
    Scatter {
        elem: Elem,
        base: Option<Value>,
        index: SmallVec<[Value; 2]>,
        scale: u8,
        value: Value,
        /// The stored lanes; `None` means all.
        mask: Option<Value>,
    },
    /// Atomic addition to a scalar of 32 or 64 bits. Returns the old value. All atomic operations are sequentially
    /// consistent.
    AtomicAdd(Mem, Addr, Value),
    /// Atomic exchange. Returns the old value.
    AtomicExchange(Mem, Addr, Value),
    /// Atomic compare and exchange: expected value, new value. Returns the old value. Also supports [`Mem::I16`], for
    /// which the upper bits of the expected value must be zero.
    AtomicCompareExchange(Mem, Addr, Value, Value),
    /// Prefetches a cache line for writing. The address may be invalid.
    PrefetchWrite(Addr),
    /// Orders all earlier memory accesses before all later ones.
    Fence,
    /// Reads the processor's clock counter, an `i64`.
    Clock,
    /// Calls a function of the module.
    Call(Func, SmallVec<[Value; 6]>),
    /// Calls a host function. The operands are its address (an `i64`) and its arguments.
    CallHelper(Value, SmallVec<[Value; 6]>),
}

/// A position in the source of a kernel. The code that builds vector IR defines its meaning; 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLoc(pub u32);

/// An operation and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    pub op: Op,
    /// The defined value. `None` for stores, prefetches, fences and calls of functions without a result.
    pub result: Option<Value>,
    pub source: SourceLoc,
}

/// A target block and the arguments for its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub block: Block,
    /// One argument per parameter.
    pub args: SmallVec<[Value; 4]>,
}

impl Target {
    /// Creates a target with arguments.
    pub fn new(block: Block, args: impl IntoIterator<Item = Value>) -> Self {
        Self { block, args: args.into_iter().collect() }
    }
}

/// The condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cond {
    /// A comparison of two scalars in general registers.
    Cmp(CmpOp, Value, Value),
    /// Whether an `i32` is not 0.
    NonZero(Value),
    /// Whether any lane of a mask is set.
    Any(Value),
    /// Whether all lanes of a mask are set.
    All(Value),
}

/// The end of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Continues at the target.
    Jump(Target),
    /// Continues at the first target if the condition holds, otherwise at the second.
    Branch(Cond, Target, Target),
    /// Returns from the function.
    Return(Option<Value>),
    /// Traps if it is executed.
    Unreachable,
}

impl Op {
    /// Calls `f` with every operand.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        self.clone().map_operands(|value| {
            f(value);
            value
        });
    }

    /// Replaces every operand.
    pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
        let addr = |addr: &mut Addr, f: &mut dyn FnMut(Value) -> Value| {
            addr.base = f(addr.base);
            if let Some((index, _)) = &mut addr.index {
                *index = f(*index);
            }
        };
        match self {
            Self::Const(_) | Self::Lanes(_) | Self::Undef | Self::Param(_) | Self::Fence | Self::Clock => {}
            Self::Un(_, a)
            | Self::Cast(_, a)
            | Self::Widen(_, a, _)
            | Self::Splat(a)
            | Self::Extract(a, _)
            | Self::MaskPart(a, _)
            | Self::MaskBits(a)
            | Self::MaskOf(a) => *a = f(*a),
            Self::Bin(_, a, b) | Self::Cmp(_, a, b) | Self::Shuffle(a, b, _) | Self::Permute(a, b) => {
                *a = f(*a);
                *b = f(*b);
            }
            Self::Tern(_, a, b, c) | Self::Select(a, b, c) => {
                *a = f(*a);
                *b = f(*b);
                *c = f(*c);
            }
            Self::Narrow(_, list) | Self::MaskJoin(list) => list.iter_mut().for_each(|value| *value = f(*value)),
            Self::Load(_, place) | Self::PrefetchWrite(place) => addr(place, &mut f),
            Self::LoadPieces(_, places) => places.iter_mut().for_each(|place| addr(place, &mut f)),
            Self::Store(_, place, value) | Self::AtomicAdd(_, place, value) | Self::AtomicExchange(_, place, value) => {
                addr(place, &mut f);
                *value = f(*value);
            }
            Self::AtomicCompareExchange(_, place, expected, desired) => {
                addr(place, &mut f);
                *expected = f(*expected);
                *desired = f(*desired);
            }
            Self::LoadVector { addr: place, mask, .. } => {
                addr(place, &mut f);
                mask.iter_mut().for_each(|mask| *mask = f(*mask));
            }
            Self::StoreVector { addr: place, value, mask, .. } => {
                addr(place, &mut f);
                *value = f(*value);
                mask.iter_mut().for_each(|mask| *mask = f(*mask));
            }
            Self::Gather { base, index, mask, .. } => {
                base.iter_mut().chain(index).chain(mask).for_each(|value| *value = f(*value));
            }
            Self::Scatter { base, index, value, mask, .. } => {
                base.iter_mut().chain(index).chain([value]).chain(mask).for_each(|value| *value = f(*value));
            }
            Self::Call(_, args) => args.iter_mut().for_each(|value| *value = f(*value)),
            Self::CallHelper(function, args) => {
                *function = f(*function);
                args.iter_mut().for_each(|value| *value = f(*value));
            }
        }
    }

    /// Whether the operation has no effect and cannot trap, and its result depends on its operands alone.
    pub const fn is_pure(&self) -> bool {
        !matches!(
            self,
            Self::Load(..)
                | Self::Store(..)
                | Self::LoadVector { .. }
                | Self::LoadPieces(..)
                | Self::StoreVector { .. }
                | Self::Gather { .. }
                | Self::Scatter { .. }
                | Self::AtomicAdd(..)
                | Self::AtomicExchange(..)
                | Self::AtomicCompareExchange(..)
                | Self::PrefetchWrite(..)
                | Self::Fence
                | Self::Clock
                | Self::Call(..)
                | Self::CallHelper(..)
                | Self::Bin(BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, ..)
        )
    }

    /// Whether the operation can have a result. For calls, this depends on the called function.
    pub const fn has_result(&self) -> bool {
        !matches!(self, Self::Store(..) | Self::StoreVector { .. } | Self::Scatter { .. } | Self::PrefetchWrite(..) | Self::Fence)
    }
}

impl Terminator {
    pub fn targets(&self) -> SmallVec<[&Target; 2]> {
        match self {
            Self::Jump(target) => SmallVec::from_iter([target]),
            Self::Branch(_, then, els) => SmallVec::from_iter([then, els]),
            Self::Return(_) | Self::Unreachable => SmallVec::new(),
        }
    }

    /// Calls `f` with every operand, including the arguments of targets.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        match self {
            Self::Branch(cond, ..) => match *cond {
                Cond::Cmp(_, a, b) => {
                    f(a);
                    f(b);
                }
                Cond::NonZero(value) | Cond::Any(value) | Cond::All(value) => f(value),
            },
            Self::Return(Some(value)) => f(*value),
            Self::Jump(_) | Self::Return(None) | Self::Unreachable => {}
        }
        self.targets().iter().for_each(|target| target.args.iter().for_each(|arg| f(*arg)));
    }
}
