//! Rows of the atomic functions: OpenCL C 6.15.12, OpenCL C 1.x, and the extensions for 64 bits.

use super::super::Intrinsic;
use super::super::table::{Row, by_kind, extension, intrinsic, when};
use crate::ast::ScalarKind;
use crate::ir::AtomicOp;
use crate::target::Target;

const CL1_UNARY: &[&str] = &["A(gln*A)"];
const CL1_BINARY: &[&str] = &["A(gln*A,A)"];
const FETCH: &[&str] = &["I(*atomic I,I,order,?scope)"];
const FETCH_FLOAT: &[&str] = &["F(*atomic F,F,order,?scope)"];
const COMPARE_EXCHANGE: &[&str] = &["bool(*atomic G,*G,G,order,order,?scope)"];
const FLOAT_ATOMICS: &str = "cl_ext_float_atomics";

const fn is_signed(kind: ScalarKind) -> bool {
    matches!(kind, ScalarKind::Int | ScalarKind::Long)
}

const fn minimum(kind: ScalarKind) -> Intrinsic {
    Intrinsic::Atomic(if is_signed(kind) { AtomicOp::SMin } else { AtomicOp::UMin })
}

const fn maximum(kind: ScalarKind) -> Intrinsic {
    Intrinsic::Atomic(if is_signed(kind) { AtomicOp::SMax } else { AtomicOp::UMax })
}

/// Whether the C11 atomics are available: from OpenCL C 2.0 on, or with `cl_ext_float_atomics`, because programs that
/// find this extension use them without `-cl-std=CL2.0`.
fn has_c11_atomics(version: u32, target: &Target) -> bool {
    version >= 200 || target.has_extension(FLOAT_ATOMICS)
}

const fn c11(names: &'static str, op: Intrinsic, signatures: &'static [&'static str]) -> Row {
    when(has_c11_atomics, intrinsic(names, op, signatures))
}

const fn float(names: &'static str, op: AtomicOp) -> Row {
    extension(FLOAT_ATOMICS, intrinsic(names, Intrinsic::Atomic(op), FETCH_FLOAT))
}

pub(super) static ROWS: &[Row] = &[
    intrinsic("atomic_add atom_add", Intrinsic::Atomic(AtomicOp::Add), CL1_BINARY),
    intrinsic("atomic_sub atom_sub", Intrinsic::Atomic(AtomicOp::Sub), CL1_BINARY),
    intrinsic("atomic_xchg atom_xchg", Intrinsic::Atomic(AtomicOp::Xchg), &["A(gln*A,A)", "float(gln*float,float)"]),
    intrinsic("atomic_inc atom_inc", Intrinsic::AtomicInc, CL1_UNARY),
    intrinsic("atomic_dec atom_dec", Intrinsic::AtomicDec, CL1_UNARY),
    intrinsic("atomic_cmpxchg atom_cmpxchg", Intrinsic::AtomicCmpXchg, &["A(gln*A,A,A)"]),
    by_kind("atomic_min atom_min", minimum, CL1_BINARY),
    by_kind("atomic_max atom_max", maximum, CL1_BINARY),
    intrinsic("atomic_and atom_and", Intrinsic::Atomic(AtomicOp::And), CL1_BINARY),
    intrinsic("atomic_or atom_or", Intrinsic::Atomic(AtomicOp::Or), CL1_BINARY),
    intrinsic("atomic_xor atom_xor", Intrinsic::Atomic(AtomicOp::Xor), CL1_BINARY),
    c11("atomic_init", Intrinsic::AtomicInit, &["void(*atomic G,G)"]),
    c11("atomic_load[_explicit]", Intrinsic::Atomic(AtomicOp::Load), &["G(*const atomic G,order,?scope)"]),
    c11("atomic_store[_explicit]", Intrinsic::Atomic(AtomicOp::Store), &["void(*atomic G,G,order,?scope)"]),
    c11("atomic_exchange[_explicit]", Intrinsic::Atomic(AtomicOp::Xchg), &["G(*atomic G,G,order,?scope)"]),
    c11("atomic_compare_exchange_strong[_explicit]", Intrinsic::AtomicCompareExchange, COMPARE_EXCHANGE),
    c11("atomic_compare_exchange_weak[_explicit]", Intrinsic::AtomicCompareExchange, COMPARE_EXCHANGE),
    c11("atomic_fetch_add[_explicit]", Intrinsic::Atomic(AtomicOp::Add), FETCH),
    c11("atomic_fetch_sub[_explicit]", Intrinsic::Atomic(AtomicOp::Sub), FETCH),
    when(has_c11_atomics, by_kind("atomic_fetch_min[_explicit]", minimum, FETCH)),
    when(has_c11_atomics, by_kind("atomic_fetch_max[_explicit]", maximum, FETCH)),
    c11("atomic_fetch_and[_explicit]", Intrinsic::Atomic(AtomicOp::And), FETCH),
    c11("atomic_fetch_or[_explicit]", Intrinsic::Atomic(AtomicOp::Or), FETCH),
    c11("atomic_fetch_xor[_explicit]", Intrinsic::Atomic(AtomicOp::Xor), FETCH),
    float("atomic_fetch_add[_explicit]", AtomicOp::FAdd),
    float("atomic_fetch_sub[_explicit]", AtomicOp::Sub),
    float("atomic_fetch_min[_explicit]", AtomicOp::FMin),
    float("atomic_fetch_max[_explicit]", AtomicOp::FMax),
    c11("atomic_flag_test_and_set[_explicit]", Intrinsic::AtomicFlagTestAndSet, &["bool(*flag,order,?scope)"]),
    c11("atomic_flag_clear[_explicit]", Intrinsic::AtomicFlagClear, &["void(*flag,order,?scope)"]),
    c11("atomic_work_item_fence", Intrinsic::AtomicWorkItemFence, &["void(uint,order,scope)"]),
];
