//! Rows of the collective functions of work-groups (OpenCL C 6.15.16) and of subgroups (6.15.19). Also rows of the
//! extensions `cl_khr_subgroup_*` and `cl_intel_subgroups*`, and of the dot products of bytes.

use super::super::table::{Row, combine, extension, intrinsic, when};
use super::super::{Combine, GroupFn, Intrinsic, MaskKind};
use crate::target::Target;

const CORE: &[Combine] = &[Combine::Add, Combine::Min, Combine::Max];
const NUMBERS: &[Combine] = &[Combine::Add, Combine::Mul, Combine::Min, Combine::Max];
const BITS: &[Combine] = &[Combine::And, Combine::Or, Combine::Xor];
const LOGIC: &[Combine] = &[Combine::LogicalAnd, Combine::LogicalOr, Combine::LogicalXor];

const VOTE: &str = "cl_khr_subgroup_non_uniform_vote";
const BALLOT: &str = "cl_khr_subgroup_ballot";
const SHUFFLE: &str = "cl_khr_subgroup_shuffle";
const SHUFFLE_RELATIVE: &str = "cl_khr_subgroup_shuffle_relative";
const ARITHMETIC: &str = "cl_khr_subgroup_non_uniform_arithmetic";
const CLUSTERED: &str = "cl_khr_subgroup_clustered_reduce";
const ROTATE: &str = "cl_khr_subgroup_rotate";
const EXTENDED_TYPES: &str = "cl_khr_subgroup_extended_types";
const UNIFORM: &str = "cl_khr_work_group_uniform_arithmetic";
const INTEL: &str = "cl_intel_subgroups";
const INTEL_SHORT: &str = "cl_intel_subgroups_short";
const DOT_PRODUCT: &str = "cl_khr_integer_dot_product";

/// A function of a scalar: an integer of at least 32 bits, or a floating-point number. Smaller integers convert to
/// `int`.
const NUMBER: &[&str] = &["N(N)|1"];
/// A function of a scalar of any size.
const ANY: &[&str] = &["G(G)|1"];
const INDEXED: &[&str] = &["G(G,uint)|1"];
const PREDICATE: &[&str] = &["int(int)"];
const QUERY: &[&str] = &["uint()"];
const BALLOT_QUERY: &[&str] = &["uint(uint4)"];
const MASK: &[&str] = &["uint4()"];

fn has_collectives(version: u32, target: &Target) -> bool {
    version >= 200 && target.has_feature("__opencl_c_work_group_collective_functions")
}

fn has_arithmetic(version: u32, target: &Target) -> bool {
    has_collectives(version, target) || target.has_extension(UNIFORM)
}

/// Whether the language version and the device have subgroup functions.
pub(crate) fn has_subgroups(version: u32, target: &Target) -> bool {
    target.has_extension("cl_khr_subgroups")
        || target.has_extension("cl_intel_subgroups")
        || (version >= 200 && target.has_feature("__opencl_c_subgroups"))
}

const fn work_row(name: &'static str, function: GroupFn, signatures: &'static [&'static str]) -> Row {
    when(has_collectives, intrinsic(name, Intrinsic::WorkGroup(function), signatures))
}

const fn sub_row(name: &'static str, function: GroupFn, signatures: &'static [&'static str]) -> Row {
    when(has_subgroups, intrinsic(name, Intrinsic::SubGroup(function), signatures))
}

const fn query(name: &'static str, query: Intrinsic) -> Row {
    when(has_subgroups, intrinsic(name, query, QUERY))
}

/// The row of a subgroup function that an extension adds.
const fn subgroup_extension(extends: &'static str, name: &'static str, function: GroupFn, signatures: &'static [&'static str]) -> Row {
    extension(extends, intrinsic(name, Intrinsic::SubGroup(function), signatures))
}

pub(super) static ROWS: &[Row] = &[
    work_row("work_group_all", GroupFn::All, PREDICATE),
    work_row("work_group_any", GroupFn::Any, PREDICATE),
    work_row("work_group_broadcast", GroupFn::Broadcast, &["N(N,uint,?uint,?uint)|1"]),
    query("get_sub_group_size", Intrinsic::GetSubGroupSize),
    query("get_max_sub_group_size", Intrinsic::GetMaxSubGroupSize),
    query("get_enqueued_num_sub_groups", Intrinsic::GetEnqueuedNumSubGroups),
    query("get_num_sub_groups", Intrinsic::GetNumSubGroups),
    query("get_sub_group_id", Intrinsic::GetSubGroupId),
    query("get_sub_group_local_id", Intrinsic::GetSubGroupLocalId),
    sub_row("sub_group_barrier", GroupFn::Barrier, &["void(uint,?scope)"]),
    sub_row("sub_group_all", GroupFn::All, PREDICATE),
    sub_row("sub_group_any", GroupFn::Any, PREDICATE),
    sub_row("sub_group_broadcast", GroupFn::Broadcast, &["N(N,uint)|1"]),
    extension(EXTENDED_TYPES, sub_row("sub_group_broadcast", GroupFn::Broadcast, &["G(G,uint)"])),
    subgroup_extension(VOTE, "sub_group_elect", GroupFn::Elect, &["int()"]),
    subgroup_extension(VOTE, "sub_group_non_uniform_all", GroupFn::All, PREDICATE),
    subgroup_extension(VOTE, "sub_group_non_uniform_any", GroupFn::Any, PREDICATE),
    subgroup_extension(VOTE, "sub_group_non_uniform_all_equal", GroupFn::AllEqual, &["int(G)|1"]),
    subgroup_extension(BALLOT, "sub_group_non_uniform_broadcast", GroupFn::Broadcast, &["G(G,uint)"]),
    subgroup_extension(BALLOT, "sub_group_broadcast_first", GroupFn::BroadcastFirst, ANY),
    subgroup_extension(BALLOT, "sub_group_ballot", GroupFn::Ballot, &["uint4(int)"]),
    subgroup_extension(BALLOT, "sub_group_inverse_ballot", GroupFn::InverseBallot, &["int(uint4)"]),
    subgroup_extension(BALLOT, "sub_group_ballot_bit_extract", GroupFn::BallotBitExtract, &["int(uint4,uint)"]),
    subgroup_extension(BALLOT, "sub_group_ballot_bit_count", GroupFn::BallotBitCount, BALLOT_QUERY),
    subgroup_extension(BALLOT, "sub_group_ballot_inclusive_scan", GroupFn::BallotInclusiveScan, BALLOT_QUERY),
    subgroup_extension(BALLOT, "sub_group_ballot_exclusive_scan", GroupFn::BallotExclusiveScan, BALLOT_QUERY),
    subgroup_extension(BALLOT, "sub_group_ballot_find_lsb", GroupFn::BallotFindLsb, BALLOT_QUERY),
    subgroup_extension(BALLOT, "sub_group_ballot_find_msb", GroupFn::BallotFindMsb, BALLOT_QUERY),
    subgroup_extension(BALLOT, "get_sub_group_eq_mask", GroupFn::Mask(MaskKind::Eq), MASK),
    subgroup_extension(BALLOT, "get_sub_group_ge_mask", GroupFn::Mask(MaskKind::Ge), MASK),
    subgroup_extension(BALLOT, "get_sub_group_gt_mask", GroupFn::Mask(MaskKind::Gt), MASK),
    subgroup_extension(BALLOT, "get_sub_group_le_mask", GroupFn::Mask(MaskKind::Le), MASK),
    subgroup_extension(BALLOT, "get_sub_group_lt_mask", GroupFn::Mask(MaskKind::Lt), MASK),
    subgroup_extension(SHUFFLE, "sub_group_shuffle", GroupFn::Shuffle, INDEXED),
    subgroup_extension(SHUFFLE, "sub_group_shuffle_xor", GroupFn::ShuffleXor, INDEXED),
    subgroup_extension(SHUFFLE_RELATIVE, "sub_group_shuffle_up", GroupFn::ShuffleUp, INDEXED),
    subgroup_extension(SHUFFLE_RELATIVE, "sub_group_shuffle_down", GroupFn::ShuffleDown, INDEXED),
    subgroup_extension(ROTATE, "sub_group_rotate", GroupFn::Rotate, INDEXED),
    subgroup_extension(ROTATE, "sub_group_clustered_rotate", GroupFn::ClusteredRotate, &["G(G,uint,uint)|1"]),
    clustered(NUMBERS, INDEXED),
    clustered(BITS, &["I(I,uint)|1"]),
    clustered(LOGIC, &["int(int,uint)"]),
    subgroup_extension(INTEL, "intel_sub_group_shuffle", GroupFn::Shuffle, &["G(G,uint)"]),
    subgroup_extension(INTEL, "intel_sub_group_shuffle_xor", GroupFn::ShuffleXor, &["G(G,uint)"]),
    subgroup_extension(INTEL, "intel_sub_group_shuffle_down", GroupFn::ShuffleDownInto, &["G(G,G,uint)"]),
    subgroup_extension(INTEL, "intel_sub_group_shuffle_up", GroupFn::ShuffleUpFrom, &["G(G,G,uint)"]),
    intel_short(intrinsic("intel_sub_group_broadcast", Intrinsic::SubGroup(GroupFn::Broadcast), &["N(N,uint)|1"])),
    intel_short_typed(intrinsic("intel_sub_group_broadcast", Intrinsic::SubGroup(GroupFn::Broadcast), &["G(G,uint)"])),
    // 6.15.3
    dot("dot", &["uint(uchar4,uchar4)", "int(char4,char4)", "int(uchar4,char4)", "int(char4,uchar4)"]),
    dot("dot_acc_sat", &["uint(uchar4,uchar4,uint)", "int(char4,char4,int)", "int(uchar4,char4,int)", "int(char4,uchar4,int)"]),
    dot("dot_4x8packed_uu_uint", &["uint(uint:uchar4,uint:uchar4)"]),
    dot("dot_4x8packed_ss_int", &["int(uint:char4,uint:char4)"]),
    dot("dot_4x8packed_us_int", &["int(uint:uchar4,uint:char4)"]),
    dot("dot_4x8packed_su_int", &["int(uint:char4,uint:uchar4)"]),
    dot("dot_acc_sat_4x8packed_uu_uint", &["uint(uint:uchar4,uint:uchar4,uint)"]),
    dot("dot_acc_sat_4x8packed_ss_int", &["int(uint:char4,uint:char4,int)"]),
    dot("dot_acc_sat_4x8packed_us_int", &["int(uint:uchar4,uint:char4,int)"]),
    dot("dot_acc_sat_4x8packed_su_int", &["int(uint:char4,uint:uchar4,int)"]),
];

const fn dot(name: &'static str, signatures: &'static [&'static str]) -> Row {
    extension(DOT_PRODUCT, intrinsic(name, Intrinsic::IntegerDot, signatures))
}

/// The rows of a reduction, an inclusive scan and an exclusive scan, for each list of operations.
macro_rules! arithmetic {
    ($prefix:literal, $group:path, [$reduce:path, $inclusive:path, $exclusive:path], [$(($wrap:path, $operations:expr, $signatures:expr)),*]) => {
        &[$(
            $wrap(combine(concat!($prefix, "reduce_%"), $operations, |by| $group($reduce(by)), $signatures)),
            $wrap(combine(concat!($prefix, "scan_inclusive_%"), $operations, |by| $group($inclusive(by)), $signatures)),
            $wrap(combine(concat!($prefix, "scan_exclusive_%"), $operations, |by| $group($exclusive(by)), $signatures)),
        )*]
    };
}

const fn if_work_group_arithmetic(row: Row) -> Row {
    when(has_arithmetic, row)
}

const fn uniform(row: Row) -> Row {
    extension(UNIFORM, row)
}

const fn if_subgroups(row: Row) -> Row {
    when(has_subgroups, row)
}

const fn typed(row: Row) -> Row {
    extension(EXTENDED_TYPES, when(has_subgroups, row))
}

const fn non_uniform(row: Row) -> Row {
    extension(ARITHMETIC, row)
}

const fn intel_short(row: Row) -> Row {
    extension(INTEL_SHORT, row)
}

const fn intel_short_typed(row: Row) -> Row {
    extension(EXTENDED_TYPES, when(|_, target| target.has_extension(INTEL_SHORT), row))
}

pub(super) static WORK_GROUP: &[Row] = arithmetic!(
    "work_group_",
    Intrinsic::WorkGroup,
    [GroupFn::Reduce, GroupFn::ScanInclusive, GroupFn::ScanExclusive],
    [
        (if_work_group_arithmetic, CORE, NUMBER),
        (uniform, &[Combine::Mul], NUMBER),
        (uniform, BITS, &["M(M)|1"]),
        (uniform, LOGIC, PREDICATE)
    ]
);
pub(super) static SUB_GROUP: &[Row] = arithmetic!(
    "sub_group_",
    Intrinsic::SubGroup,
    [GroupFn::Reduce, GroupFn::ScanInclusive, GroupFn::ScanExclusive],
    [(if_subgroups, CORE, NUMBER), (typed, CORE, ANY)]
);
pub(super) static NON_UNIFORM: &[Row] = arithmetic!(
    "sub_group_non_uniform_",
    Intrinsic::SubGroup,
    [GroupFn::ActiveReduce, GroupFn::ActiveInclusive, GroupFn::ActiveExclusive],
    [(non_uniform, NUMBERS, ANY), (non_uniform, BITS, &["I(I)|1"]), (non_uniform, LOGIC, PREDICATE)]
);
pub(super) static INTEL_ARITHMETIC: &[Row] = arithmetic!(
    "intel_sub_group_",
    Intrinsic::SubGroup,
    [GroupFn::Reduce, GroupFn::ScanInclusive, GroupFn::ScanExclusive],
    [(intel_short, CORE, NUMBER), (intel_short_typed, CORE, ANY)]
);

const fn clustered(operations: &'static [Combine], signatures: &'static [&'static str]) -> Row {
    let by = combine("sub_group_clustered_reduce_%", operations, |by| Intrinsic::SubGroup(GroupFn::ClusteredReduce(by)), signatures);
    extension(CLUSTERED, by)
}

/// The rows of the block reads and writes of buffers and images. The number in the name is the number of elements per
/// work-item.
macro_rules! blocks {
    ($extension:literal, $suffix:literal, $unsigned:literal, $signed:literal) => {
        [
            subgroup_extension(
                $extension,
                concat!("intel_sub_group_block_read", $suffix),
                GroupFn::BlockRead,
                &[
                    concat!($unsigned, "#(g*const ", $unsigned, ")"),
                    concat!($unsigned, "#(g*const ", $signed, ")"),
                    concat!($unsigned, "#(read image2d,int2)"),
                ],
            ),
            subgroup_extension(
                $extension,
                concat!("intel_sub_group_block_write", $suffix),
                GroupFn::BlockWrite,
                &[
                    concat!("void(g*", $unsigned, ",", $unsigned, "#)"),
                    concat!("void(g*", $signed, ",", $unsigned, "#)"),
                    concat!("void(written image2d,int2,", $unsigned, "#)"),
                ],
            ),
        ]
    };
}

pub(super) static BLOCKS: &[[Row; 2]] = &[
    blocks!("cl_intel_subgroups", "{,2,4,8}", "uint", "int"),
    blocks!("cl_intel_subgroups", "_ui{,2,4,8}", "uint", "int"),
    blocks!("cl_intel_subgroups_char", "_uc{,2,4,8,16}", "uchar", "char"),
    blocks!("cl_intel_subgroups_short", "_us{,2,4,8,16}", "ushort", "short"),
    blocks!("cl_intel_subgroups_long", "_ul{,2,4,8}", "ulong", "long"),
];
