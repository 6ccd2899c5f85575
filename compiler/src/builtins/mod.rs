//! The built-in functions of OpenCL C (6.15): names, signatures, implementation.
//!
//! A built-in function is either an [`Intrinsic`] or a library function. `lower` expands an intrinsic to a few IR
//! operations, for scalars and vectors. A library function is written in OpenCL C for scalars (`compiler/library/*.cl`)
//! and called once per lane. The [`table`] contains the signatures, with the generic types of the specification, and
//! the versions and extensions that have each function. `sema` resolves overloads with this table.

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

/// Whether a name is that of a built-in function (`__has_builtin`). Functions that are neither in the [`table`] nor of
/// GNU C do not count, such as `printf` and `convert_int`.
pub(crate) fn is_known(name: &str) -> bool {
    gnu::is_known(name) || !table::find(name).is_empty() || matches!(name, "__builtin_astype" | "__builtin_offsetof")
}

/// An image query (6.15.15.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageQuery {
    Width,
    Height,
    Depth,
    ChannelDataType,
    ChannelOrder,
    Dim,
    ArraySize,
    /// The number of mip levels (cl_khr_mipmap_image).
    NumMipLevels,
    /// The number of samples of a multisample image (cl_khr_gl_msaa_sharing).
    NumSamples,
    /// The index of the image among the parameters of the kernel. Programs cannot query it.
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
    /// Returns the part of function names for the operation, such as `add` in `work_group_reduce_add`.
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
    /// Parameters: (value, x\[, y\[, z\]\]) for work-groups, (value, index) for subgroups.
    Broadcast,
    BroadcastFirst,
    Reduce(Combine),
    ScanInclusive(Combine),
    ScanExclusive(Combine),
    /// A reduction of the active work-items of a subgroup.
    ActiveReduce(Combine),
    ActiveInclusive(Combine),
    ActiveExclusive(Combine),
    /// Parameters: (value, cluster size).
    ClusteredReduce(Combine),
    /// Parameters: (value, delta).
    Rotate,
    /// Parameters: (value, delta, cluster size).
    ClusteredRotate,
    Shuffle,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    /// Parameters: (value, next value, delta). Indices after the end of the subgroup select from the second value.
    ShuffleDownInto,
    /// Parameters: (previous value, value, delta). Indices before the start of the subgroup select from the first
    /// value.
    ShuffleUpFrom,
    /// Parameters: (pointer) or (image, coordinates).
    BlockRead,
    /// Parameters: (pointer, data) or (image, coordinates, data).
    BlockWrite,
    /// Whether this work-item is the first active one.
    Elect,
    Ballot,
    /// Parameter: (ballot). The result is the bit of this work-item.
    InverseBallot,
    /// Parameters: (ballot, index).
    BallotBitExtract,
    BallotBitCount,
    BallotInclusiveScan,
    BallotExclusiveScan,
    BallotFindLsb,
    BallotFindMsb,
    /// `get_sub_group_eq_mask` and similar functions.
    Mask(MaskKind),
    /// A barrier. The parameters of the function, flags and scope, are omitted.
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

/// Built-in functions that `lower` implements as IR. The types of arguments and result select the variant: signed,
/// unsigned or float, and scalar or vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    // 6.15.1 work-item functions. The dimension may be a run-time value. If it is out of range, the result is the
    // default of the specification.
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

    // 6.15.2 math functions that need only a few device operations.
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
    /// The parameter is the NaN code.
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
    /// Parameters: (base, insert, offset, count).
    BitfieldInsert,
    /// Parameters: (base, offset, count). The signedness of the result selects sign or zero extension of the field.
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

    // 6.15.7 vector data. The parameters are (offset, pointer) or (data, offset, pointer).
    VLoad,
    VStore,
    /// `vload_half`, `vload_halfn`. The lane count is that of the result.
    VLoadHalf,
    /// `vloada_halfn`. The address is aligned, and the stride of three lanes is four elements.
    VLoadaHalf,
    /// `None` rounds to nearest even.
    VStoreHalf(Option<Rounding>),
    VStoreaHalf(Option<Rounding>),

    // 6.15.13 shuffles.
    Shuffle,
    Shuffle2,

    // 6.15.8 synchronisation. The parameter contains the fence flags.
    Barrier,
    MemFence,

    // 6.15.12 atomics of OpenCL C 1.x. The parameters are (pointer[, value]).
    Atomic(AtomicOp),
    AtomicInc,
    AtomicDec,
    /// Parameters: (pointer, compare, value).
    AtomicCmpXchg,
    // C11 atomics. The last argument is the memory order. AtomicCompareExchange has two orders, and AtomicInit has
    // none. `sema` checks the scopes and removes them.
    AtomicInit,
    /// Parameters: (object, expected pointer, desired, two orders). The result is a `bool`.
    AtomicCompareExchange,
    AtomicFlagTestAndSet,
    AtomicFlagClear,
    AtomicWorkItemFence,

    // 6.15.11 async copies. The parameters are (dst, src, count, event) or (dst, src, count, stride, event).
    AsyncCopy,
    /// The stride applies to the operand in global memory.
    AsyncStridedCopy,
    /// A function of cl_khr_extended_async_copies, with its parameters.
    AsyncCopy2D,
    AsyncCopy3D,
    WaitGroupEvents,
    Prefetch,

    // 6.15.24 kernel clocks. The result is two 32-bit words.
    Clock {
        /// True for the subgroup clock, false for the device clock, which is also the clock of work-groups.
        sub: bool,
    },

    // 6.15.10 address spaces.
    ToGlobal,
    ToLocal,
    ToPrivate,
    GetFence,

    // 6.15.15 images.
    /// Parameters: (image[, sampler], coordinates[, level]) or (image, sampler, coordinates, gradient, gradient). The
    /// result type selects the colour type.
    ReadImage,
    /// Parameters: (image, coordinates, level).
    ReadImageLevel,
    /// Parameters: (image, coordinates, sample).
    ReadImageSample,
    /// Parameters: (image, coordinates[, level], colour).
    WriteImage,
    GetImage(ImageQuery),
    // 6.15.16 and 6.15.19: collective functions.
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
