//! The spelling of operations in the text form. The writer and the reader use the same tables, except for group
//! reductions and scans (`read.rs`).
//!
//! Example: `BinOp::UDiv` is `udiv`.

use super::{AtomicOp, BinOp, CastOp, CmpOp, GroupOp, MathOp, UnOp};

macro_rules! names {
    ($ty:ident { $($variant:ident => $name:literal),* $(,)? }) => {
        impl $ty {
            /// The name in the text form.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the operation with this name. `None` if there is none.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

/// Names of the collective operations without a nested operation.
const GROUP: [(&str, GroupOp); 10] = [
    ("all", GroupOp::All),
    ("any", GroupOp::Any),
    ("broadcast", GroupOp::Broadcast),
    ("broadcast_first", GroupOp::BroadcastFirst),
    ("ballot", GroupOp::Ballot),
    ("shuffle", GroupOp::Shuffle),
    ("shuffle_xor", GroupOp::ShuffleXor),
    ("shuffle_up", GroupOp::ShuffleUp),
    ("shuffle_down", GroupOp::ShuffleDown),
    ("barrier", GroupOp::Barrier),
];

impl GroupOp {
    /// The name in the text form, without the operation of a reduction or scan.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reduce(_) => "reduce",
            Self::ScanInclusive(_) => "scan_inclusive",
            Self::ScanExclusive(_) => "scan_exclusive",
            Self::ActiveReduce(_) => "active_reduce",
            Self::ActiveInclusive(_) => "active_inclusive",
            Self::ActiveExclusive(_) => "active_exclusive",
            plain => GROUP.iter().find(|(_, op)| *op == plain).map_or("", |(name, _)| name),
        }
    }

    /// The operation of a reduction or scan. `None` for other operations.
    pub const fn combining_op(self) -> Option<BinOp> {
        match self {
            Self::Reduce(op)
            | Self::ScanInclusive(op)
            | Self::ScanExclusive(op)
            | Self::ActiveReduce(op)
            | Self::ActiveInclusive(op)
            | Self::ActiveExclusive(op) => Some(op),
            _ => None,
        }
    }

    /// Returns the operation with this name. `None` for names of reductions and scans, and for unknown names.
    pub fn plain(name: &str) -> Option<Self> {
        GROUP.iter().find(|(known, _)| *known == name).map(|(_, op)| *op)
    }
}

names!(UnOp { Not => "not", Neg => "neg", FNeg => "fneg" });

names!(BinOp {
    Add => "add",
    Sub => "sub",
    Mul => "mul",
    SDiv => "sdiv",
    UDiv => "udiv",
    SRem => "srem",
    URem => "urem",
    Shl => "shl",
    LShr => "lshr",
    AShr => "ashr",
    And => "and",
    Or => "or",
    Xor => "xor",
    FAdd => "fadd",
    FSub => "fsub",
    FMul => "fmul",
    FDiv => "fdiv",
    SMin => "smin",
    UMin => "umin",
    SMax => "smax",
    UMax => "umax",
    FMin => "fmin",
    FMax => "fmax",
    SMulHi => "smulhi",
    UMulHi => "umulhi",
    SAddSat => "saddsat",
    UAddSat => "uaddsat",
    SSubSat => "ssubsat",
    USubSat => "usubsat",
    Rotate => "rotate",
});

names!(CmpOp {
    Eq => "eq",
    Ne => "ne",
    SLt => "slt",
    SLe => "sle",
    SGt => "sgt",
    SGe => "sge",
    ULt => "ult",
    ULe => "ule",
    UGt => "ugt",
    UGe => "uge",
    FEq => "feq",
    FNe => "fne",
    FLt => "flt",
    FLe => "fle",
    FGt => "fgt",
    FGe => "fge",
});

names!(CastOp {
    Trunc => "trunc",
    ZExt => "zext",
    SExt => "sext",
    FToS => "ftos",
    FToU => "ftou",
    SToF => "stof",
    UToF => "utof",
    FToF => "ftof",
    Bitcast => "bitcast",
    PtrToInt => "ptrtoint",
    IntToPtr => "inttoptr",
    SpaceCast => "spacecast",
});

names!(MathOp {
    FAbs => "math.fabs",
    Floor => "math.floor",
    Ceil => "math.ceil",
    FTrunc => "math.trunc",
    Rint => "math.rint",
    Sqrt => "math.sqrt",
    RSqrt => "math.rsqrt",
    Fma => "math.fma",
    FMulAdd => "math.fmuladd",
    NativeSin => "math.native_sin",
    NativeCos => "math.native_cos",
    NativeTan => "math.native_tan",
    NativeExp2 => "math.native_exp2",
    NativeLog2 => "math.native_log2",
    NativeRecip => "math.native_recip",
    NativeDivide => "math.native_divide",
    NativePow => "math.native_pow",
    SAbs => "math.sabs",
    Clz => "math.clz",
    Ctz => "math.ctz",
    Popcount => "math.popcount",
    ReverseBits => "math.reverse_bits",
});

names!(AtomicOp {
    Add => "atomic.add",
    Sub => "atomic.sub",
    And => "atomic.and",
    Or => "atomic.or",
    Xor => "atomic.xor",
    SMin => "atomic.smin",
    SMax => "atomic.smax",
    UMin => "atomic.umin",
    UMax => "atomic.umax",
    Xchg => "atomic.xchg",
    FAdd => "atomic.fadd",
    FMin => "atomic.fmin",
    FMax => "atomic.fmax",
    Load => "atomic.load",
    Store => "atomic.store",
});
