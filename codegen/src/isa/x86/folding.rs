//! Operations that are folded into the x86 instruction of their user.

use crate::mach::addresses::AddressingModes;
use crate::mach::folding::Candidate;
use crate::target::X86Level;
use crate::vir::{BinOp, Cond, Elem, Mem, Op, Terminator, Type, UnOp, Value};

/// `[base + index * scale + displacement]`. Only constants below 2^20 become displacements, so that the sum of several
/// constants fits 32 bits.
pub(super) const ADDRESSING: AddressingModes = AddressingModes { max_scale_log2: 3, max_constant: 1 << 20, max_displacement: 1 << 30 };

/// Whether an operation is folded into its only user.
pub(super) fn folds(level: X86Level, candidate: &Candidate<'_>) -> bool {
    let Candidate { function, op, result, user, terminator, memory_changes, splats_load } = *candidate;
    let is_avx512 = level == X86Level::Avx512;
    match op {
        Op::Cmp(_, a, _) => compare_folds(function.ty(*a), result, user, terminator, level),
        Op::Load(Mem::Elem(_), _) => user.is_some_and(can_have_memory_operand) && !memory_changes,
        Op::LoadVector { mem: Mem::Elem(_), mask: None, .. } => user.is_some_and(can_have_memory_operand) && !memory_changes,
        Op::Splat(_) => is_avx512 && splats_load && user.is_some_and(can_broadcast),
        Op::Un(UnOp::Neg, a) if function.ty(result).is_general() => {
            let isolates = |user: &Op| matches!(user, Op::Bin(BinOp::And, x, y) if [*x, *y].contains(a) && a != &result);
            level >= X86Level::Avx2 && user.is_some_and(isolates)
        }
        op if is_avx512 && can_merge(op, result, user) => matches!(function.ty(result), Type::Vector(..)),
        op => {
            let vector = matches!(function.ty(result), Type::Vector(Elem::I32 | Elem::I64, _));
            is_avx512 && vector && is_logic(op) && user.is_some_and(|user| matches!(user, Op::Bin(..)) && is_logic(user))
        }
    }
}

/// Whether a comparison is folded into its user: flags for a `select` or branch, a masked comparison for `and`, an
/// inverted predicate for `not`.
fn compare_folds(ty: Type, result: Value, user: Option<&Op>, terminator: Option<&Terminator>, level: X86Level) -> bool {
    match (user, ty) {
        (Some(Op::Select(cond, ..)), Type::Scalar(_)) => *cond == result,
        (Some(Op::Bin(BinOp::And, ..)), Type::Vector(..)) => level == X86Level::Avx512,
        (Some(Op::Un(UnOp::Not, _)), Type::Vector(..)) => true,
        (None, Type::Scalar(_)) => matches!(terminator, Some(Terminator::Branch(Cond::NonZero(_), ..))),
        _ => false,
    }
}

/// Whether an operation can be executed under the mask of the `select` that uses it.
fn can_merge(op: &Op, result: Value, user: Option<&Op>) -> bool {
    let Some(Op::Select(_, a, b)) = user else { return false };
    let bin = match op {
        Op::Bin(op, ..) => matches!(
            op,
            BinOp::Add
                | BinOp::Sub
                | BinOp::Mul
                | BinOp::SMin
                | BinOp::SMax
                | BinOp::UMin
                | BinOp::UMax
                | BinOp::FAdd
                | BinOp::FSub
                | BinOp::FMul
                | BinOp::FDiv
                | BinOp::FMin
                | BinOp::FMax
        ),
        Op::Tern(_, _, _, c) => c == b,
        _ => false,
    };
    bin && *a == result && *b != result
}

/// Whether an operation can have a memory operand.
const fn can_have_memory_operand(op: &Op) -> bool {
    matches!(op, Op::Bin(..) | Op::Un(..) | Op::Tern(..) | Op::Cmp(..) | Op::Cast(..) | Op::Splat(_) | Op::Select(..) | Op::Widen(..))
}

/// Whether an operation can broadcast a memory operand to all lanes.
const fn can_broadcast(op: &Op) -> bool {
    matches!(op, Op::Bin(..) | Op::Tern(..) | Op::Cmp(..) | Op::Select(..))
}

/// Whether an operation is bitwise.
pub(super) const fn is_logic(op: &Op) -> bool {
    matches!(op, Op::Bin(BinOp::And | BinOp::Or | BinOp::Xor | BinOp::AndNot, ..) | Op::Un(UnOp::Not, _))
}
