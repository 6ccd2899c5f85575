//! Operations that AArch64 instructions execute as part of others.

use crate::mach::addresses::AddressingModes;
use crate::mach::folding::Candidate;
use crate::vir::{BinOp, Cond, Mem, Op, Terminator, Type, UnOp};

/// An index can be shifted by the size of the access, and a displacement has 12 bits. `lower/address` computes other
/// addresses, once for each block.
pub(super) const ADDRESSING: AddressingModes = AddressingModes { max_scale_log2: 3, max_constant: 1 << 20, max_displacement: 1 << 30 };

/// Whether an operation is computed as part of its only user.
pub(super) fn folds(candidate: &Candidate<'_>) -> bool {
    let Candidate { function, op, result, user, terminator, memory_changes, .. } = *candidate;
    match (op, user) {
        (Op::Cmp(_, a, _), user) => match (user, function.ty(*a)) {
            // The comparison becomes flags.
            (Some(Op::Select(cond, ..)), Type::Scalar(_)) => *cond == result,
            (None, Type::Scalar(_)) => matches!(terminator, Some(Terminator::Branch(Cond::NonZero(_), ..))),
            // The inverse comparison.
            (Some(Op::Un(UnOp::Not, _)), Type::Vector(..)) => true,
            _ => false,
        },
        // One instruction multiplies and adds, or shifts and combines.
        (Op::Bin(BinOp::Mul | BinOp::Shl, ..), Some(Op::Bin(user, a, b))) if function.ty(result).is_general() => {
            let commutes = matches!(user, BinOp::Add | BinOp::And | BinOp::Or | BinOp::Xor);
            a != b && (*b == result && matches!(user, BinOp::Sub | BinOp::AndNot) || commutes)
        }
        (Op::Load(Mem::Elem(_), _), Some(Op::Splat(_))) => !memory_changes,
        _ => false,
    }
}
