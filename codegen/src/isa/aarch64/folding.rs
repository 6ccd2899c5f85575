//! Operations that AArch64 instructions execute as part of others.

use crate::mach::addresses::AddressingModes;
use crate::mach::folding::Candidate;
use crate::vir::{Cond, Op, Terminator, Type, UnOp};

/// An index can be shifted by the size of the access, and a displacement has 12 bits. `lower/address` computes other
/// addresses, once for each block.
pub(super) const ADDRESSING: AddressingModes = AddressingModes { max_scale_log2: 3, max_constant: 1 << 20, max_displacement: 1 << 30 };

/// Whether an operation is computed as part of its only user.
pub(super) fn folds(candidate: &Candidate<'_>) -> bool {
    let Candidate { function, op, result, user, terminator, .. } = *candidate;
    let Op::Cmp(_, a, _) = op else { return false };
    match (user, function.ty(*a)) {
        // The comparison becomes flags.
        (Some(Op::Select(cond, ..)), Type::Scalar(_)) => *cond == result,
        (None, Type::Scalar(_)) => matches!(terminator, Some(Terminator::Branch(Cond::NonZero(_), ..))),
        // The inverse comparison.
        (Some(Op::Un(UnOp::Not, _)), Type::Vector(..)) => true,
        _ => false,
    }
}
