//! Operations that are folded into the AArch64 instruction of their user.

use crate::mach::addresses::AddressingModes;
use crate::mach::folding::Candidate;
use crate::vir::{BinOp, CastOp, Cond, Mem, Op, Terminator, Type, UnOp};

/// The addresses that are folded into loads and stores. The AArch64 instructions can encode only some of them: an index
/// with the scale 1 or the access size, or a displacement. `lower/address` computes the other addresses with separate
/// instructions.
pub(super) const ADDRESSING: AddressingModes = AddressingModes { max_scale_log2: 3, max_constant: 1 << 20, max_displacement: 1 << 30 };

/// Whether an operation is folded into its only user. `sve` is whether masks are in predicate registers.
pub(super) fn folds(candidate: &Candidate<'_>, sve: bool) -> bool {
    let Candidate { function, op, result, user, terminator, memory_changes, .. } = *candidate;
    match (op, user) {
        (Op::Cmp(_, a, _), user) => match (user, function.ty(*a)) {
            // The select or the branch reads the flags that the comparison sets.
            (Some(Op::Select(cond, ..)), Type::Scalar(_)) => *cond == result,
            (None, Type::Scalar(_)) => matches!(terminator, Some(Terminator::Branch(Cond::NonZero(_), ..))),
            // The `not` of a vector comparison becomes the inverse comparison.
            (Some(Op::Un(UnOp::Not, _)), Type::Vector(..)) => true,
            // The other mask becomes the governing predicate of the comparison.
            (Some(Op::Bin(BinOp::And, ..)), Type::Vector(..)) => sve,
            _ => false,
        },
        // `madd`, `msub`, and instructions with a shifted operand.
        (Op::Bin(BinOp::Mul | BinOp::Shl, ..), Some(Op::Bin(user, a, b))) if function.ty(result).is_general() => {
            let commutes = matches!(user, BinOp::Add | BinOp::And | BinOp::Or | BinOp::Xor);
            a != b && (*b == result && matches!(user, BinOp::Sub | BinOp::AndNot) || commutes)
        }
        // `sbfiz` shifts and extends.
        (Op::Bin(BinOp::Shl, ..), Some(Op::Cast(CastOp::SExt, _))) => function.ty(result).is_general(),
        (Op::Load(Mem::Elem(_), _), Some(Op::Splat(_))) => !memory_changes,
        _ => false,
    }
}
