//! Emits stores to a part of a word if other work-items may write its other bytes. Each view with such stores has one
//! function `patch`.
//!
//! Example: an `i8` store becomes `patch(index, 0xff << shift, value << shift)`.

use super::builder::{Builder, Expr, Shared};
use super::plan::Plan;
use super::views::{Backing, Kind, Variable, ViewKey};
use crate::target::Target;
use naga::{AtomicFunction, Expression, FunctionArgument, Handle, ScalarKind, Span, Statement, UnaryOperator};
use rustc_hash::FxHashMap;

/// Creates `patch(index, mask, bits)` for every view with stores to parts of words. A compare-and-exchange loop
/// replaces the bits of `mask`, so that concurrent stores to the rest of the word are not lost.
pub(super) fn functions(plan: &Plan, shared: &mut Shared, target: &Target) -> FxHashMap<(usize, ViewKey), Handle<naga::Function>> {
    let mut made = FxHashMap::default();
    for (number, object) in plan.objects.iter().enumerate() {
        let partial =
            object.shapes.iter().any(|&shape| shape.kind == Kind::Store && object.natural(shape, target).is_none() && shape.is_partial());
        if !partial {
            continue;
        }
        let Some(view) = object.partial_words().and_then(|key| object.view(key)).filter(|view| view.key.atomic) else { continue };
        let Variable::Global(variable) = view.variable else { continue };
        let index = if matches!(object.backing, Backing::Address { .. }) { naga::Scalar::U64 } else { naga::Scalar::U32 };
        let function = patch(shared, &object.name, (variable, index), view.key);
        made.insert((number, view.key), shared.module.functions.append(function, Span::UNDEFINED));
    }
    made
}

fn patch(shared: &mut Shared, name: &str, (variable, index): (Handle<naga::GlobalVariable>, naga::Scalar), key: ViewKey) -> naga::Function {
    let index = shared.ty(index, 1);
    let word = shared.ty(naga::Scalar::U32, 1);
    let slot = shared.ty(key.slot, 1);
    let result_ty = shared.module.generate_predeclared_type(naga::PredeclaredType::AtomicCompareExchangeWeakResult(key.slot));
    let mut b = Builder::new(shared, &format!("patch_{name}"));
    let parameter = |b: &mut Builder<'_>, name: &str, ty| {
        let index = b.function.arguments.len() as u32;
        b.function.arguments.push(FunctionArgument { name: Some(name.to_owned()), ty, binding: None });
        b.bare(Expression::FunctionArgument(index))
    };
    let index = parameter(&mut b, "index", index);
    let mask = parameter(&mut b, "mask", word);
    let bits = parameter(&mut b, "bits", word);
    let signed = key.slot.kind == ScalarKind::Sint;
    let cast = |b: &mut Builder<'_>, x: Expr, kind: ScalarKind| if signed { b.bitcast(x, kind) } else { x };
    let seen = b.local(Some("seen".to_owned()), slot);
    let base = b.global_ptr(variable);
    let keep = b.unary(UnaryOperator::BitwiseNot, mask);
    let pointer = b.element(base, index);
    let first = b.load(pointer);
    b.store_local(seen, first);
    b.open();
    let old = b.load_local(seen);
    let plain = cast(&mut b, old, ScalarKind::Uint);
    let kept = b.and(plain, keep);
    let new = b.or(kept, bits);
    let new = cast(&mut b, new, ScalarKind::Sint);
    let pointer = b.element(base, index);
    let result = b.bare(Expression::AtomicResult { ty: result_ty, comparison: true });
    b.stmt(Statement::Atomic { pointer, fun: AtomicFunction::Exchange { compare: Some(old) }, value: new, result: Some(result) });
    let found = b.element_at(result, 0);
    let condition = b.element_at(result, 1);
    b.open();
    b.stmt(Statement::Break);
    let accept = b.close();
    b.stmt(Statement::If { condition, accept, reject: naga::Block::new() });
    b.store_local(seen, found);
    let body = b.close();
    b.stmt(Statement::Loop { body, continuing: naga::Block::new(), break_if: None });
    b.finish()
}
