//! The built-in functions of OpenCL C (6.15): names, signatures, implementation.
//!
//! A built-in function is either an [`Intrinsic`] or a library function. `lower` expands an intrinsic to a few IR
//! operations, for scalars and vectors. A library function is written in OpenCL C for scalars (`compiler/library/*.cl`)
//! and called per lane. The [`table`] has the signatures in the generic types of the specification. It states which
//! versions and extensions have a function. `sema` resolves overloads with it.

#![allow(missing_docs, reason = "variants named after the functions of the specification")]

pub(crate) mod attributes;
pub(crate) mod gnu;
pub(crate) mod images;
pub(crate) mod library;
mod rows;
pub(crate) mod signature;
pub mod table;

pub(crate) use rows::groups::has_subgroups;
pub(crate) use rows::memory::has_generic;

use crate::ir::AtomicOp;

/// Rounding mode of a conversion (6.4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    Rte,
    Rtz,
    Rtp,
    Rtn,
}

/// Whether the name is a built-in function (`__has_builtin`).
pub(crate) fn is_known(name: &str) -> bool {
    gnu::is_known(name) || !table::find(name).is_empty() || matches!(name, "__builtin_astype" | "__builtin_offsetof")
}

/// An image query (6.15.15.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageQuery {
    Width,
    Height,
    Depth,
    ChannelDataType,
    ChannelOrder,
    Dim,
    ArraySize,
    /// cl_khr_mipmap_image
    NumMipLevels,
    /// The index of the kernel parameter that is this image. Programs cannot query it.
    Parameter,
}

/// The operation of a reduction or scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// A logical operation on truth values.
    LogicalAnd,
    LogicalOr,
    LogicalXor,
}

impl Combine {
    /// The name in the functions of the specification.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Mul => "mul",
            Self::Min => "min",
            Self::Max => "max",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::LogicalAnd => "logical_and",
            Self::LogicalOr => "logical_or",
            Self::LogicalXor => "logical_xor",
        }
    }
}

/// Collective functions of work-groups and subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupFn {
    All,
    Any,
    /// Whether all values are equal.
    AllEqual,
    /// Work-groups: (value, x\[, y\[, z\]\]). Subgroups: (value, index).
    Broadcast,
    BroadcastFirst,
    Reduce(Combine),
    ScanInclusive(Combine),
    ScanExclusive(Combine),
    /// Subgroup operation on the active work-items.
    ActiveReduce(Combine),
    ActiveInclusive(Combine),
    ActiveExclusive(Combine),
    /// (value, cluster size)
    ClusteredReduce(Combine),
    /// Parameters: value, delta.
    Rotate,
    /// (value, delta, cluster size)
    ClusteredRotate,
    Shuffle,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    /// (value, next value, delta): indices beyond the subgroup select from the second value.
    ShuffleDownInto,
    /// (previous value, value, delta): indices before the subgroup select from the first value.
    ShuffleUpFrom,
    /// (pointer) or (image, coordinates)
    BlockRead,
    /// (pointer, data) or (image, coordinates, data)
    BlockWrite,
    /// Whether this work-item is the first active one.
    Elect,
    Ballot,
    /// (ballot): the bit of this work-item.
    InverseBallot,
    /// Parameters: ballot, index.
    BallotBitExtract,
    BallotBitCount,
    BallotInclusiveScan,
    BallotExclusiveScan,
    BallotFindLsb,
    BallotFindMsb,
    /// `get_sub_group_eq_mask` and similar functions.
    Mask(MaskKind),
    /// Without flags and scope.
    Barrier,
}

/// The work-items in a mask, relative to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskKind {
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
}

/// Built-in functions that `lower` implements as IR. The types of arguments and result select the variant (signed,
/// unsigned, float; scalar, vector).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    // 6.15.1 work-item functions. The dimension may be computed at run time. Out of range, it gives the default of the
    // specification.
    GetWorkDim,
    GetGlobalSize,
    GetGlobalId,
    GetLocalSize,
    GetEnqueuedLocalSize,
    GetLocalId,
    GetNumGroups,
    GetGroupId,
    GetGlobalOffset,
    GetGlobalLinearId,
    GetLocalLinearId,

    // 6.15.2 math functions of one or a few device operations.
    Fabs,
    Floor,
    Ceil,
    Trunc,
    Rint,
    Sqrt,
    Rsqrt,
    Fma,
    Mad,
    Fmin,
    Fmax,
    Copysign,
    /// The parameter is the NaN's code.
    Nan,
    NativeSin,
    NativeCos,
    NativeTan,
    NativeExp2,
    NativeLog2,
    NativeRecip,
    NativeDivide,
    NativePowr,
    NativeSqrt,
    NativeRsqrt,

    // 6.15.3 integer.
    Abs,
    AbsDiff,
    AddSat,
    SubSat,
    Hadd,
    Rhadd,
    Clz,
    Ctz,
    Popcount,
    MulHi,
    MadHi,
    MadSat,
    Mul24,
    Mad24,
    Rotate,
    Upsample,
    ReverseBits,
    /// (base, insert, offset, count)
    BitfieldInsert,
    /// (base, offset, count): the result's sign selects sign or zero extension of the field.
    BitfieldExtract,
    /// The sum of the products of four 8-bit lanes. With an accumulator, the sum saturates.
    IntegerDot,

    // 6.15.3 and 6.15.4: integers and floats.
    Min,
    Max,
    Clamp,

    // 6.15.4 common.
    Degrees,
    Radians,
    Mix,
    Step,
    Smoothstep,
    Sign,

    // 6.15.5 geometric.
    Dot,
    Cross,
    Length,
    Distance,
    Normalize,
    FastLength,
    FastDistance,
    FastNormalize,

    // 6.15.6 relational.
    IsEqual,
    IsNotEqual,
    IsGreater,
    IsGreaterEqual,
    IsLess,
    IsLessEqual,
    IsLessGreater,
    IsFinite,
    IsInf,
    IsNan,
    IsNormal,
    IsOrdered,
    IsUnordered,
    SignBit,
    Any,
    All,
    BitSelect,
    Select,

    // 6.15.7 vector data: (offset, pointer) and (data, offset, pointer).
    VLoad,
    VStore,
    /// `vload_half`, `vload_halfn`: the result's lanes.
    VLoadHalf,
    /// `vloada_halfn`: aligned, three lanes at a stride of four.
    VLoadaHalf,
    /// Rounding `None`: nearest even.
    VStoreHalf(Option<Rounding>),
    VStoreaHalf(Option<Rounding>),

    // 6.15.13 shuffles.
    Shuffle,
    Shuffle2,

    // 6.15.8 synchronisation: flags.
    Barrier,
    MemFence,

    // 6.15.12.? 1.x atomics: (pointer[, value]).
    Atomic(AtomicOp),
    AtomicInc,
    AtomicDec,
    /// (pointer, compare, value)
    AtomicCmpXchg,
    // C11 atomics. The last arguments are the memory order (two orders for AtomicCompareExchange). sema checks and
    // drops scopes.
    AtomicInit,
    /// (object, expected pointer, desired): `bool`.
    AtomicCompareExchange,
    AtomicFlagTestAndSet,
    AtomicFlagClear,
    AtomicWorkItemFence,

    // 6.15.11 async copies: (dst, src, count, event), (dst, src, count, stride, event).
    AsyncCopy,
    /// The stride applies to the operand in global memory.
    AsyncStridedCopy,
    /// cl_khr_extended_async_copies: the arguments of the function.
    AsyncCopy2D,
    AsyncCopy3D,
    WaitGroupEvents,
    Prefetch,

    // 6.15.24 kernel clocks: two words.
    Clock {
        /// The subgroup clock, not the device clock.
        sub: bool,
    },

    // 6.13.9 address spaces.
    ToGlobal,
    ToLocal,
    ToPrivate,
    GetFence,

    // 6.15.15 images.
    /// (image[, sampler], coordinates[, level]) or (image, sampler, coordinates, gradient, gradient). The result type
    /// selects the colour type.
    ReadImage,
    /// (image, coordinates, level)
    ReadImageLevel,
    /// (image, coordinates[, level], colour)
    WriteImage,
    GetImage(ImageQuery),
    // 6.15.16 and 6.15.19: collective functions. (value) or (value, index...).
    WorkGroup(GroupFn),
    SubGroup(GroupFn),

    // Subgroups.
    GetSubGroupSize,
    GetMaxSubGroupSize,
    GetNumSubGroups,
    GetEnqueuedNumSubGroups,
    GetSubGroupId,
    GetSubGroupLocalId,
}
