//! Operations of the vector IR.

use smallvec::SmallVec;

use super::entities::{Block, Func, Value};
use super::types::Elem;

/// What is in memory: the formats of loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mem {
    /// A byte; `i32` in a register, the upper bits zero after a load, ignored by a store.
    I8,
    /// Two bytes; as [`Mem::I8`].
    I16,
    /// What a register's element holds.
    Elem(Elem),
}

impl Mem {
    /// Bytes of one.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::I8 => 1,
            Self::I16 => 2,
            Self::Elem(elem) => elem.bytes(),
        }
    }

    /// What it is in a register.
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
    /// An `i64`.
    pub base: Value,
    /// An `i64`, and 1, 2, 4 or 8.
    pub index: Option<(Value, u8)>,
    /// Bytes.
    pub disp: i32,
}

impl Addr {
    /// The address that a value is.
    pub const fn of(base: Value) -> Self {
        Self { base, index: None, disp: 0 }
    }

    /// So many bytes behind the address that a value is.
    pub const fn offset(base: Value, disp: i32) -> Self {
        Self { base, index: None, disp }
    }
}

/// Where a float is rounded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Rounding {
    NearestEven,
    Down,
    Up,
    Zero,
}

/// Operations of one operand; the result has the operand's type unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    /// Complement of an integer or mask.
    Not,
    /// Two's complement negation of an integer.
    Neg,
    /// Correctly rounded.
    Sqrt,
    /// A float to an integral float.
    Round(Rounding),
    /// Leading zeros of an integer; the width for 0.
    Clz,
    /// Trailing zeros of an integer scalar; the width for 0. Scalars only.
    Ctz,
    /// Bits that are set.
    Popcnt,
    /// The float that a half's bits are: `i32` (upper bits ignored) to `f32`.
    HalfToFloat,
    /// A float as a half's bits, rounded to nearest even: `f32` to `i32`, upper bits zero.
    FloatToHalf,
    /// About `1 / x`, to 12 bits at least; `f32` only.
    RecipApprox,
    /// About `1 / sqrt(x)`, to 12 bits at least; `f32` only.
    RsqrtApprox,
}

/// Operations of two operands of the result's type.
///
/// Bytes and 16-bit words that lie side by side may be computed side by side, as parts of lanes of 32 bits: what has no
/// operation of its own here is the same for all sizes (logic) or must be widened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BinOp {
    Add,
    Sub,
    /// The low half of the product.
    Mul,
    /// The product of the low 32 bits of each 64-bit lane, without sign. `i64`, vectors and scalars.
    MulWideU,
    /// With sign.
    MulWideS,
    /// The high half of the product, without sign. Of 64 bits scalars only.
    MulHiU,
    /// With sign. Of 64 bits scalars only.
    MulHiS,
    /// Scalars only.
    UDiv,
    /// Scalars only.
    SDiv,
    /// Scalars only.
    URem,
    /// Scalars only.
    SRem,
    /// Of anything, masks and floats included.
    And,
    /// Of anything.
    Or,
    /// Of anything.
    Xor,
    /// `a & !b`, of anything.
    AndNot,
    /// Each lane by an amount of its own.
    Shl,
    /// Logical.
    LShr,
    /// Arithmetic.
    AShr,
    /// Rotation to the left, amount modulo the width.
    Rotl,
    SMin,
    SMax,
    UMin,
    UMax,
    /// Of each of the four bytes of an `i32` lane by itself. Vectors only, as are the next five.
    AddBytes,
    SubBytes,
    /// The low halves of the products.
    MulBytes,
    /// Of each of the two 16-bit words of an `i32` lane by itself.
    AddWords,
    SubWords,
    /// The low halves of the products.
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

/// Operations of three floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TernOp {
    /// `a * b + c`
    Fma,
    /// `a * b - c`
    Fms,
    /// `c - a * b`
    Fnma,
}

/// Comparisons: `i32` 0 or 1 of scalars, masks of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
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
    /// Floats: ordered, false where one is a NaN.
    FEq,
    /// Floats: true where one is a NaN.
    FNe,
    FLt,
    FLe,
    FGt,
    FGe,
}

/// Conversions between elements. The result's type says what to; between elements of two sizes see [`Op::Widen`] and
/// [`Op::Narrow`] for vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastOp {
    /// The same bits as another type of the same size.
    Bitcast,
    /// `i32` to `i64`, with sign.
    SExt,
    /// `i32` to `i64`, without sign.
    ZExt,
    /// `i64` to `i32`.
    Trunc,
    /// Signed integer to float.
    SToF,
    /// Unsigned integer to float.
    UToF,
    /// Float to signed integer, toward zero; unspecified where it does not fit.
    FToS,
    /// Float to unsigned integer, toward zero; unspecified where it does not fit.
    FToU,
    /// Between `f32` and `f64`.
    FToF,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// The bits of a scalar, or of every lane of a vector. For a mask: all lanes (not 0) or none (0).
    Const(u64),
    /// The bits of each lane of a vector.
    Lanes(Box<[u64]>),
    /// Any value.
    Undef,
    /// A parameter of the function. Stands in block 0 only.
    Param(u8),
    /// Element-wise.
    Un(UnOp, Value),
    /// Element-wise.
    Bin(BinOp, Value, Value),
    /// Element-wise.
    Tern(TernOp, Value, Value, Value),
    /// Element-wise.
    Cmp(CmpOp, Value, Value),
    /// condition, value if true, value if false: the condition of a scalar is an `i32` (not 0), that of a vector a mask
    /// for it.
    Select(Value, Value, Value),
    /// Of scalars, or of vectors between elements of one size.
    Cast(CastOp, Value),
    /// `i32` or `f32` lanes `part * n ..` of a vector to `n` lanes of 64 bits (as many as the result has); the source
    /// may have exactly so many (`part` is 0 then).
    Widen(CastOp, Value, u8),
    /// Vectors of 64-bit lanes, one or two, to one vector of 32-bit lanes, as many as all operands have.
    Narrow(CastOp, SmallVec<[Value; 2]>),
    /// A scalar in all lanes.
    Splat(Value),
    /// One lane of a vector.
    Extract(Value, u8),
    /// Lanes `part * n ..` of a mask for 32-bit lanes as a mask for `n` 64-bit lanes.
    MaskPart(Value, u8),
    /// Masks for 64-bit lanes, one or two, as a mask for 32-bit lanes.
    MaskJoin(SmallVec<[Value; 2]>),
    /// Lanes of two vectors of one type, one behind the other, by their numbers; see `IsaCaps::shuffles_any`.
    Shuffle(Value, Value, Box<[u8]>),
    /// Lanes of a vector of 32-bit elements by numbers of which only the low bits are looked at, as many as tell its
    /// lanes apart: an `i32` each.
    Permute(Value, Value),
    /// A mask as the low bits of an `i32`.
    MaskBits(Value),
    /// The low bits of an `i32` as a mask.
    MaskOf(Value),
    /// A scalar.
    Load(Mem, Addr),
    /// A scalar.
    Store(Mem, Addr, Value),
    /// Lanes that stand one behind the other in memory, at any alignment.
    LoadVector {
        /// What stands there.
        mem: Mem,
        /// Where lane 0 is, whether it is alive or not.
        addr: Addr,
        /// Which lanes are loaded; all without one.
        mask: Option<Value>,
    },
    /// The same for a store.
    StoreVector {
        /// What is to stand there.
        mem: Mem,
        /// Where lane 0 is, whether it is alive or not.
        addr: Addr,
        /// What is stored.
        value: Value,
        /// Which lanes are stored; all without one.
        mask: Option<Value>,
    },
    /// Each lane from an address of its own: `base + index * scale`. 32- and 64-bit elements only.
    Gather {
        /// The element.
        elem: Elem,
        /// An `i64`, 0 without one.
        base: Option<Value>,
        /// One vector of `i32` (with sign) or `i64` that has as many lanes as the result, or two of `i64` that have
        /// together.
        index: SmallVec<[Value; 2]>,
        /// 1, 2, 4 or 8.
        scale: u8,
        /// Which lanes are loaded; all without one.
        mask: Option<Value>,
    },
    /// Each lane to an address of its own, in the order of the lanes. Only where `IsaCaps::has_scatter`.
    Scatter {
        /// The element.
        elem: Elem,
        /// As in a gather.
        base: Option<Value>,
        /// As in a gather.
        index: SmallVec<[Value; 2]>,
        /// As in a gather.
        scale: u8,
        /// What is stored.
        value: Value,
        /// Which lanes are stored; all without one.
        mask: Option<Value>,
    },
    /// Atomic addition to a scalar of 32 or 64 bits; the old value. Sequentially consistent, as are the next two.
    AtomicAdd(Mem, Addr, Value),
    /// Atomic exchange; the old value.
    AtomicExchange(Mem, Addr, Value),
    /// Atomic comparison with the first value and, if equal, exchange with the second; the old value. Of two bytes
    /// ([`Mem::I16`]) as well: there the upper bits of the first value are zero.
    AtomicCompareExchange(Mem, Addr, Value, Value),
    /// Asks for the line of memory at an address that is written next. The address may be any: nothing is accessed.
    PrefetchWrite(Addr),
    /// Orders all accesses before it before all accesses behind it.
    Fence,
    /// The time-stamp counter, an `i64`.
    Clock,
    /// Calls a function of the module.
    Call(Func, SmallVec<[Value; 6]>),
    /// Calls a function of the host: its address (an `i64`), and its arguments.
    CallHelper(Value, SmallVec<[Value; 6]>),
}

/// An operation and the value that it gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// The value that it defines: none for stores, fences and calls of functions that return nothing.
    pub result: Option<Value>,
}

/// A block and what is handed to its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The block.
    pub block: Block,
    /// One a parameter.
    pub args: SmallVec<[Value; 4]>,
}

impl Target {
    /// A block with parameters.
    pub fn new(block: Block, args: impl IntoIterator<Item = Value>) -> Self {
        Self { block, args: args.into_iter().collect() }
    }
}

/// What a branch asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cond {
    /// A comparison of two scalars in general registers.
    Cmp(CmpOp, Value, Value),
    /// Whether an `i32` is not 0.
    NonZero(Value),
    /// Whether a lane of a mask is on.
    Any(Value),
    /// Whether all lanes of a mask are on.
    All(Value),
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Goes on there.
    Jump(Target),
    /// Goes on to the first if the condition holds, else to the second.
    Branch(Cond, Target, Target),
    /// Leaves the function.
    Return(Option<Value>),
    /// Is never reached; stops the process if it is.
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

    /// Whether it does nothing but give a value that depends on its operands alone.
    pub const fn is_pure(&self) -> bool {
        !matches!(
            self,
            Self::Load(..)
                | Self::Store(..)
                | Self::LoadVector { .. }
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

    /// Whether it has a result, other than calls (whose function says so).
    pub const fn has_result(&self) -> bool {
        !matches!(self, Self::Store(..) | Self::StoreVector { .. } | Self::Scatter { .. } | Self::PrefetchWrite(..) | Self::Fence)
    }
}

impl Terminator {
    /// Where it may lead.
    pub fn targets(&self) -> SmallVec<[&Target; 2]> {
        match self {
            Self::Jump(target) => SmallVec::from_iter([target]),
            Self::Branch(_, then, els) => SmallVec::from_iter([then, els]),
            Self::Return(_) | Self::Unreachable => SmallVec::new(),
        }
    }

    /// Calls `f` with every operand, the arguments of targets included.
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
