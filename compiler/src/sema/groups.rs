//! Collective functions of work-groups (OpenCL C 6.15.16) and of subgroups (6.15.19 and the extensions
//! `cl_khr_subgroup_*`).

use super::{Sema, is_float};
use crate::ast::{Name, ScalarKind};
use crate::builtins::{Combine, GroupFn, Intrinsic, MaskKind};
use crate::diag::Span;
use crate::thir::Expr;

/// The extension of [`uniform_arithmetic`].
const UNIFORM_ARITHMETIC: &str = "cl_khr_work_group_uniform_arithmetic";

/// A collective function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) sub: bool,
    pub(super) function: GroupFn,
}

impl Group {
    const fn intrinsic(self) -> Intrinsic {
        if self.sub { Intrinsic::SubGroup(self.function) } else { Intrinsic::WorkGroup(self.function) }
    }
}

fn combined(name: &str, prefix: &str, make: fn(Combine) -> GroupFn) -> Option<GroupFn> {
    Some(make(match name.strip_prefix(prefix)? {
        "add" => Combine::Add,
        "min" => Combine::Min,
        "max" => Combine::Max,
        _ => return None,
    }))
}

/// Like `combined`, with the operations that only subgroups support.
fn combined_by_any(name: &str, prefix: &str, make: fn(Combine) -> GroupFn) -> Option<GroupFn> {
    Some(make(match name.strip_prefix(prefix)? {
        "mul" => Combine::Mul,
        "and" => Combine::And,
        "or" => Combine::Or,
        "xor" => Combine::Xor,
        "logical_and" => Combine::LogicalAnd,
        "logical_or" => Combine::LogicalOr,
        "logical_xor" => Combine::LogicalXor,
        _ => return combined(name, prefix, make),
    }))
}

/// Functions of both work-groups and subgroups.
pub(super) fn collective(name: &str) -> Option<GroupFn> {
    match name {
        "all" => Some(GroupFn::All),
        "any" => Some(GroupFn::Any),
        "broadcast" => Some(GroupFn::Broadcast),
        _ => combined(name, "reduce_", GroupFn::Reduce)
            .or_else(|| combined(name, "scan_inclusive_", GroupFn::ScanInclusive))
            .or_else(|| combined(name, "scan_exclusive_", GroupFn::ScanExclusive)),
    }
}

/// Functions of `cl_khr_work_group_uniform_arithmetic`.
fn uniform_arithmetic(name: &str) -> Option<GroupFn> {
    combined_by_any(name, "reduce_", GroupFn::Reduce)
        .or_else(|| combined_by_any(name, "scan_inclusive_", GroupFn::ScanInclusive))
        .or_else(|| combined_by_any(name, "scan_exclusive_", GroupFn::ScanExclusive))
}

/// Functions of an extension, and the extension.
fn extended(name: &str) -> Option<(GroupFn, &'static str)> {
    const VOTE: &str = "cl_khr_subgroup_non_uniform_vote";
    const BALLOT: &str = "cl_khr_subgroup_ballot";
    const SHUFFLE: &str = "cl_khr_subgroup_shuffle";
    const RELATIVE: &str = "cl_khr_subgroup_shuffle_relative";
    const ARITHMETIC: &str = "cl_khr_subgroup_non_uniform_arithmetic";
    const CLUSTERED: &str = "cl_khr_subgroup_clustered_reduce";
    const ROTATE: &str = "cl_khr_subgroup_rotate";
    let arithmetic = combined_by_any(name, "non_uniform_reduce_", GroupFn::ActiveReduce)
        .or_else(|| combined_by_any(name, "non_uniform_scan_inclusive_", GroupFn::ActiveInclusive))
        .or_else(|| combined_by_any(name, "non_uniform_scan_exclusive_", GroupFn::ActiveExclusive));
    if let Some(function) = arithmetic {
        return Some((function, ARITHMETIC));
    }
    if let Some(function) = combined_by_any(name, "clustered_reduce_", GroupFn::ClusteredReduce) {
        return Some((function, CLUSTERED));
    }
    Some(match name {
        "elect" => (GroupFn::Elect, VOTE),
        "non_uniform_all" => (GroupFn::All, VOTE),
        "non_uniform_any" => (GroupFn::Any, VOTE),
        "non_uniform_all_equal" => (GroupFn::AllEqual, VOTE),
        "non_uniform_broadcast" => (GroupFn::Broadcast, BALLOT),
        "broadcast_first" => (GroupFn::BroadcastFirst, BALLOT),
        "ballot" => (GroupFn::Ballot, BALLOT),
        "inverse_ballot" => (GroupFn::InverseBallot, BALLOT),
        "ballot_bit_extract" => (GroupFn::BallotBitExtract, BALLOT),
        "ballot_bit_count" => (GroupFn::BallotBitCount, BALLOT),
        "ballot_inclusive_scan" => (GroupFn::BallotInclusiveScan, BALLOT),
        "ballot_exclusive_scan" => (GroupFn::BallotExclusiveScan, BALLOT),
        "ballot_find_lsb" => (GroupFn::BallotFindLsb, BALLOT),
        "ballot_find_msb" => (GroupFn::BallotFindMsb, BALLOT),
        "rotate" => (GroupFn::Rotate, ROTATE),
        "clustered_rotate" => (GroupFn::ClusteredRotate, ROTATE),
        "shuffle" => (GroupFn::Shuffle, SHUFFLE),
        "shuffle_xor" => (GroupFn::ShuffleXor, SHUFFLE),
        "shuffle_up" => (GroupFn::ShuffleUp, RELATIVE),
        "shuffle_down" => (GroupFn::ShuffleDown, RELATIVE),
        _ => return None,
    })
}

fn mask(name: &str) -> Option<MaskKind> {
    Some(match name {
        "eq" => MaskKind::Eq,
        "ge" => MaskKind::Ge,
        "gt" => MaskKind::Gt,
        "le" => MaskKind::Le,
        "lt" => MaskKind::Lt,
        _ => return None,
    })
}

/// Whether a function combines the bits of integers.
const fn is_bitwise(function: GroupFn) -> bool {
    matches!(
        function,
        GroupFn::Reduce(Combine::And | Combine::Or | Combine::Xor)
            | GroupFn::ScanInclusive(Combine::And | Combine::Or | Combine::Xor)
            | GroupFn::ScanExclusive(Combine::And | Combine::Or | Combine::Xor)
            | GroupFn::ActiveReduce(Combine::And | Combine::Or | Combine::Xor)
            | GroupFn::ActiveInclusive(Combine::And | Combine::Or | Combine::Xor)
            | GroupFn::ActiveExclusive(Combine::And | Combine::Or | Combine::Xor)
            | GroupFn::ClusteredReduce(Combine::And | Combine::Or | Combine::Xor)
    )
}

impl Sema<'_> {
    /// The collective function with this name, if the device supports it.
    pub(super) fn group(&self, name: &str) -> Option<Group> {
        if let Some(rest) = name.strip_prefix("work_group_") {
            let version = self.options.std.version();
            let offered = version >= 200 && self.target.has_feature("__opencl_c_work_group_collective_functions");
            let uniform = || uniform_arithmetic(rest).filter(|_| self.target.has_extension(UNIFORM_ARITHMETIC));
            return collective(rest).filter(|_| offered).or_else(uniform).map(|function| Group { sub: false, function });
        }
        if let Some(rest) = name.strip_prefix("sub_group_") {
            if let Some((function, needs)) = extended(rest) {
                return self.target.has_extension(needs).then_some(Group { sub: true, function });
            }
            let function = if rest == "barrier" { Some(GroupFn::Barrier) } else { collective(rest) };
            return function.filter(|_| self.has_subgroups()).map(|function| Group { sub: true, function });
        }
        let kind = name.strip_prefix("get_sub_group_").and_then(|rest| rest.strip_suffix("_mask")).and_then(mask)?;
        self.target.has_extension("cl_khr_subgroup_ballot").then_some(Group { sub: true, function: GroupFn::Mask(kind) })
    }

    /// Whether programs may use subgroups.
    pub(super) fn has_subgroups(&self) -> bool {
        self.target.has_extension("cl_intel_subgroups")
            || (self.options.std.version() >= 200 && self.target.has_feature("__opencl_c_subgroups"))
    }

    /// Minimum and maximum number of arguments.
    pub(super) const fn group_arity(group: Group) -> (usize, usize) {
        match group.function {
            GroupFn::Elect | GroupFn::Mask(_) => (0, 0),
            GroupFn::Barrier => (1, 2),
            GroupFn::Broadcast if !group.sub => (2, 4),
            GroupFn::Broadcast
            | GroupFn::Shuffle
            | GroupFn::ShuffleXor
            | GroupFn::ShuffleUp
            | GroupFn::ShuffleDown
            | GroupFn::Rotate
            | GroupFn::ClusteredReduce(_)
            | GroupFn::BallotBitExtract => (2, 2),
            GroupFn::ClusteredRotate => (3, 3),
            _ => (1, 1),
        }
    }

    pub(super) fn group_call(&mut self, name: &Name, group: Group, values: Vec<Expr>, span: Span) -> Expr {
        let function = group.function;
        let op = group.intrinsic();
        let (int, uint) = (self.int(), self.scalar(ScalarKind::UInt));
        let mut values = values.into_iter();
        let Some(first) = values.next() else {
            let ballot = self.lanes(ScalarKind::UInt, 4);
            let ty = if function == GroupFn::Elect { int } else { ballot };
            return self.intrinsic(op, Vec::new(), ty, span);
        };
        match function {
            GroupFn::Barrier => {
                self.scalar_arg(first, ScalarKind::UInt);
                let void = self.void_ty();
                self.intrinsic(op, Vec::new(), void, span)
            }
            GroupFn::All | GroupFn::Any | GroupFn::Ballot => {
                let predicate = self.scalar_arg(first, ScalarKind::Int);
                let ty = if function == GroupFn::Ballot { self.lanes(ScalarKind::UInt, 4) } else { int };
                self.intrinsic(op, vec![predicate], ty, span)
            }
            GroupFn::InverseBallot
            | GroupFn::BallotBitExtract
            | GroupFn::BallotBitCount
            | GroupFn::BallotInclusiveScan
            | GroupFn::BallotExclusiveScan
            | GroupFn::BallotFindLsb
            | GroupFn::BallotFindMsb => {
                if self.arith(first.ty) != Some((ScalarKind::UInt, 4)) {
                    self.bad_arg(name, &first, "expecting 'uint4'");
                    return self.error_expr(span);
                }
                let mut args = vec![first];
                args.extend(values.next().map(|index| self.scalar_arg(index, ScalarKind::UInt)));
                let predicate = matches!(function, GroupFn::InverseBallot | GroupFn::BallotBitExtract);
                self.intrinsic(op, args, if predicate { int } else { uint }, span)
            }
            GroupFn::Reduce(combine)
            | GroupFn::ScanInclusive(combine)
            | GroupFn::ScanExclusive(combine)
            | GroupFn::ActiveReduce(combine)
            | GroupFn::ActiveInclusive(combine)
            | GroupFn::ActiveExclusive(combine)
            | GroupFn::ClusteredReduce(combine)
                if matches!(combine, Combine::LogicalAnd | Combine::LogicalOr | Combine::LogicalXor) =>
            {
                let mut args = vec![self.scalar_arg(first, ScalarKind::Int)];
                args.extend(values.next().map(|size| self.scalar_arg(size, ScalarKind::UInt)));
                self.intrinsic(op, args, int, span)
            }
            _ => self.group_value_call(name, group, first, values, span),
        }
    }

    /// A function that takes a value of any scalar type of the device and returns the same type.
    fn group_value_call(&mut self, name: &Name, group: Group, first: Expr, indices: impl Iterator<Item = Expr>, span: Span) -> Expr {
        let function = group.function;
        // Functions of OpenCL C 3.0 take no type smaller than `int`; those of extensions do.
        let core = matches!(function, GroupFn::Broadcast | GroupFn::Reduce(_) | GroupFn::ScanInclusive(_) | GroupFn::ScanExclusive(_))
            && !name.starts_with("sub_group_non_uniform_");
        let extended = group.sub && self.target.has_extension("cl_khr_subgroup_extended_types");
        let narrow = !core || extended;
        let vectors = group.sub && function == GroupFn::Broadcast && (extended || !core);
        let Some((kind, lanes)) = self.arith(first.ty).filter(|&(_, lanes)| lanes == 1 || vectors) else {
            self.bad_arg(name, &first, "expecting a scalar");
            return self.error_expr(span);
        };
        let kind = match kind {
            ScalarKind::Bool => ScalarKind::Int,
            ScalarKind::Char | ScalarKind::UChar | ScalarKind::Short | ScalarKind::UShort if !narrow => ScalarKind::Int,
            kind => kind,
        };
        if kind == ScalarKind::Half && !self.target.language.fp16 {
            self.err(span, "half precision arithmetic requires cl_khr_fp16");
            return self.error_expr(span);
        }
        if is_float(kind) && is_bitwise(function) {
            self.bad_arg(name, &first, "expecting an integer");
            return self.error_expr(span);
        }
        let first = if lanes == 1 { self.scalar_arg(first, kind) } else { first };
        let result = first.ty;
        let mut args = vec![first];
        for index in indices {
            args.push(self.scalar_arg(index, ScalarKind::UInt));
        }
        let ty = if function == GroupFn::AllEqual { self.int() } else { result };
        self.intrinsic(group.intrinsic(), args, ty, span)
    }
}
