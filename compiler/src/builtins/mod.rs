//! The built-in functions of OpenCL C (6.15): names, signatures, and how each is implemented.
//!
//! A built-in is either [`Intrinsic`] (a few IR operations that `lower` writes, for scalars and vectors alike) or a function of the library
//! (`compiler/library/*.cl`), written in OpenCL C for scalars and called for each lane. The signatures are in the table of this module; `sema`
//! resolves overloads with it, by the specification's generic types.

#![allow(missing_docs, reason = "variants named after the functions of the specification")]

pub(crate) mod attributes;
pub(crate) mod gnu;
pub(crate) mod library;
pub mod table;

use crate::ir::AtomicOp;

/// How a conversion rounds (6.4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    Rte,
    Rtz,
    Rtp,
    Rtn,
}

/// Whether a function of that name is built in (`__has_builtin`).
pub(crate) fn is_known(name: &str) -> bool {
    gnu::is_known(name) || table::find(name).is_some() || matches!(name, "__builtin_astype" | "__builtin_offsetof")
}

/// What is asked of an image (6.15.15.6).
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
    /// Which of the kernel's parameters it is: nothing that programs can ask.
    Parameter,
}

/// What a collective function combines values by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// Of truth values.
    LogicalAnd,
    LogicalOr,
    LogicalXor,
}

/// Collective functions of work-groups and subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupFn {
    All,
    Any,
    /// Whether all values are the same.
    AllEqual,
    /// Of work-groups (value, x\[, y\[, z\]\]), of subgroups (value, index).
    Broadcast,
    BroadcastFirst,
    Reduce(Combine),
    ScanInclusive(Combine),
    ScanExclusive(Combine),
    /// Of subgroups, whichever of their work-items get there.
    ActiveReduce(Combine),
    ActiveInclusive(Combine),
    ActiveExclusive(Combine),
    /// (value, cluster size)
    ClusteredReduce(Combine),
    /// (value, delta)
    Rotate,
    /// (value, delta, cluster size)
    ClusteredRotate,
    Shuffle,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    /// (value, value behind it, delta): what is further on than the subgroup has work-items comes of the second.
    ShuffleDownInto,
    /// (value before it, value, delta): what is before the first work-item comes of the first.
    ShuffleUpFrom,
    /// (pointer) or (image, coordinates)
    BlockRead,
    /// (pointer, data) or (image, coordinates, data)
    BlockWrite,
    /// Whether this is the first active work-item.
    Elect,
    Ballot,
    /// (ballot): this work-item's bit.
    InverseBallot,
    /// (ballot, index)
    BallotBitExtract,
    BallotBitCount,
    BallotInclusiveScan,
    BallotExclusiveScan,
    BallotFindLsb,
    BallotFindMsb,
    /// `get_sub_group_eq_mask` and its fellows.
    Mask(MaskKind),
    /// Flags and scope were dropped.
    Barrier,
}

/// Which work-items a mask has, seen from this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskKind {
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
}

/// Built-ins that `lower` turns into IR. Types of arguments and result select the variant (signed, unsigned, float; scalar, vector).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    // 6.15.1 work-item functions: the dimension is an argument and may be computed at run time (out of range: the specification's default).
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

    // 6.15.2 math that is one operation of the device, or a few.
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
    /// `nan(code)`
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
    /// (base, offset, count): the result's sign says what is above the field.
    BitfieldExtract,
    /// The sum of products of four 8-bit lanes; with an accumulator, saturated.
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
    // C11 atomics: the arguments end with the memory order (two of them for AtomicCompareExchange); scopes are dropped by sema after checking.
    AtomicInit,
    /// (object, expected pointer, desired): `bool`.
    AtomicCompareExchange,
    AtomicFlagTestAndSet,
    AtomicFlagClear,
    AtomicWorkItemFence,

    // 6.15.11 async copies: (dst, src, count, event), (dst, src, count, stride, event).
    AsyncCopy,
    /// The stride is the source's where it is global, else the destination's.
    AsyncStridedCopy,
    /// cl_khr_extended_async_copies: the functions' own arguments, without planes or with them.
    AsyncCopy2D,
    AsyncCopy3D,
    WaitGroupEvents,
    Prefetch,

    // 6.15.24 kernel clocks: two words.
    Clock {
        /// Of the subgroup, not of the device.
        sub: bool,
    },

    // 6.13.9 address spaces.
    ToGlobal,
    ToLocal,
    ToPrivate,
    GetFence,

    // 6.15.15 images.
    /// (image[, sampler], coordinates[, level]) or (image, sampler, coordinates, gradient, gradient); the result's type says what the colours are.
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
