//! Replaces loops that repeat a compare-and-exchange until it succeeds by one atomic operation.
//!
//! ```text
//! loop {
//!   %1 = load.f32 %p
//!   %2 = fadd %1, %x
//!   %3 = bitcast.i32 %1
//!   %4 = bitcast.i32 %2                    =>    %6 = atomic.fadd f32 %p, %x
//!   %5 = cmpxchg i32 %p, %3, %4
//!   if ne %5, %3 { yield } else { break }
//!   continue
//! }
//! ```
//! OpenCL before 3.0 has no atomic addition of floats, so that programs contain such loops. A successful exchange shows
//! that the memory contains the expected value. The result is then that of the operation on the memory, wherever the
//! expected value comes from. It may be loaded in each iteration, or be the result of the previous exchange.
//!
//! The vectoriser executes an atomic operation lane by lane. In the loop, all lanes read the memory first, and one lane
//! of those with the same address succeeds in an iteration.

use rustc_hash::{FxHashMap, FxHashSet};

use super::pass::Pass;
use crate::analysis::loops::SingleLatchLoop;
use crate::ir::{AtomicOp, BinOp, Build, CastOp, CmpOp, Cursor, Function, Inst, Op, Region, Scalar, Type, UnOp, Value};

pub(crate) const PASS: Pass = Pass::function("atomic_loops", |function, _| Ok(run(function)));

/// Rewrites a function. Returns whether any loop was replaced. Instructions that become unused stay.
pub(crate) fn run(function: &mut Function) -> bool {
    let mut exchanges = false;
    function.body.walk(&mut |inst| exchanges |= matches!(inst.op, Op::CmpXchg { .. }));
    if !exchanges {
        return false;
    }
    let mut body = std::mem::take(&mut function.body);
    let mut replaced = FxHashMap::default();
    rewrite(function, &mut body, &mut replaced);
    let changed = !replaced.is_empty();
    function.body = body;
    changed
}

/// Rewrites a region. `replaced` contains the replacements for the results of loops and exchanges.
fn rewrite(function: &mut Function, region: &mut Region, replaced: &mut FxHashMap<Value, Value>) {
    let mut out = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        inst.op.replace_operands(replaced);
        if let Op::Loop { body, .. } = &mut inst.op {
            body.walk_mut(&mut |inst| inst.op.replace_operands(replaced));
            if let Some(retry) = Retry::of(function, &inst.op) {
                retry.emit(function, &inst, &mut out, replaced);
                continue;
            }
        }
        inst.op.regions_mut().into_iter().for_each(|nested| rewrite(function, nested, replaced));
        out.push(inst);
    }
    region.insts = out;
}

/// A loop that repeats a compare-and-exchange.
struct Retry<'a> {
    /// The instructions before the test.
    body: &'a [Inst],
    /// The instructions of the region that leaves the loop.
    exit: &'a [Inst],
    break_values: &'a [Value],
    ptr: Value,
    op: AtomicOp,
    /// The type of the memory in the atomic operation.
    scalar: Scalar,
    /// The operand, and whether it is negated.
    operand: (Value, bool),
    /// The values with the bits of the old value in memory: the loop's parameter or the load, the result of the
    /// exchange, and their bitcasts.
    old: FxHashSet<Value>,
    /// The values that depend on the old value, including `old`.
    dependent: FxHashSet<Value>,
    /// The parameter of the loop, if there is one.
    param: Option<Value>,
}

impl<'a> Retry<'a> {
    /// Returns a loop in this form, or `None` for other operations.
    fn of(function: &Function, op: &'a Op) -> Option<Self> {
        let latch_loop = SingleLatchLoop::of(op)?;
        let insts = latch_loop.insts();
        let test = insts.iter().position(|inst| matches!(inst.op, Op::If { .. }))?;
        let (body, after) = (&insts[..test], &insts[test + 1..]);
        let (cond, stays_if, exit, break_values) = exit_test(&insts[test])?;
        if !after.iter().chain(exit).all(|inst| inst.op.is_pure()) {
            return None;
        }
        let &[(exchange, found, ptr, expected, desired, ty)] = &exchanges(body)[..] else { return None };
        let from = expected_source(body, (exchange, ptr), &latch_loop)?;
        let is_simple = |inst: &Inst| inst.op.is_pure() || matches!(inst.op, Op::MemFence(_) | Op::CmpXchg { .. });
        if ty.size() < 4 || !body.iter().all(|inst| is_simple(inst) || inst.results.first() == Some(&from)) {
            return None;
        }
        let (old, dependent) = dependences(body, from, found);
        // The loop must continue only if the exchange fails, and then expect the value that it has read.
        let definition = |value: Value| body.iter().find(|inst| inst.results.first() == Some(&value)).map(|inst| &inst.op);
        let &Op::Cmp(kind, a, b) = definition(cond)? else { return None };
        let fails = if stays_if { kind == CmpOp::Ne } else { kind == CmpOp::Eq };
        let reads_both = (a, b) == (found, expected) || (a, b) == (expected, found);
        let next = latch_loop.next.first().copied();
        let expects_found = next.is_none_or(|next| bits_of(next, body.iter().chain(after)) == found);
        if !fails || !reads_both || !old.contains(&expected) || !expects_found {
            return None;
        }
        let (op, scalar, operand) = combined(function, &definition, &old, &dependent, bits_of(desired, body.iter()))?;
        if scalar.size() != ty.size() {
            return None;
        }
        let param = latch_loop.params.first().copied();
        Some(Self { body, exit, break_values, ptr, op, scalar, operand, old, dependent, param })
    }

    /// Emits the atomic operation, and the instructions of the loop whose results may be used after it.
    fn emit(&self, function: &mut Function, inst: &Inst, out: &mut Vec<Inst>, replaced: &mut FxHashMap<Value, Value>) {
        let is_exchange = |inst: &Inst| matches!(inst.op, Op::CmpXchg { .. });
        let is_dependent = |inst: &Inst| inst.results.iter().any(|result| self.dependent.contains(result));
        let mut old = None;
        for inner in self.body {
            if is_exchange(inner) {
                let mut at = Cursor::new(function, out, inner.span);
                let (value, negates) = self.operand;
                let value = if negates { at.un(UnOp::FNeg, value) } else { value };
                let op = Op::Atomic { op: self.op, ptr: self.ptr, value: Some(value), ty: self.scalar };
                old = Some(at.push(Type::Scalar(self.scalar), op));
            } else if !is_dependent(inner) {
                out.push(inner.clone());
            }
        }
        let Some(old) = old else { return };
        let mut at = Cursor::new(function, out, inst.span);
        let results = self.body.iter().filter(|inner| is_dependent(inner)).filter_map(|inner| inner.results.first().copied());
        for value in self.param.into_iter().chain(results).filter(|value| self.old.contains(value)) {
            let ty = at.type_of(value);
            let new = if ty == Type::Scalar(self.scalar) { old } else { at.push(ty, Op::Cast(CastOp::Bitcast, old)) };
            replaced.insert(value, new);
        }
        let is_old = |inner: &&Inst| inner.results.iter().any(|result| self.old.contains(result));
        for inner in self.body.iter().filter(|inner| is_dependent(inner) && !is_old(inner)).chain(self.exit) {
            let mut copy = inner.clone();
            copy.op.replace_operands(replaced);
            out.push(copy);
        }
        for (&result, value) in inst.results.iter().zip(self.break_values) {
            replaced.insert(result, replaced.get(value).copied().unwrap_or(*value));
        }
    }
}

/// Analyses an `if` that leaves a loop in one region and yields in the other. Returns its condition, and whether the
/// loop continues if the condition is true. Also returns the instructions before the `break`, and the operands of the
/// `break`.
fn exit_test(inst: &Inst) -> Option<(Value, bool, &[Inst], &[Value])> {
    let Op::If { cond, then, els } = &inst.op else { return None };
    let (stays_if, exit) = match (then.only_yields(), els.only_yields()) {
        (true, false) => (true, els),
        (false, true) => (false, then),
        _ => return None,
    };
    let (last, before) = exit.insts.split_last()?;
    let Op::Break(values) = &last.op else { return None };
    Some((*cond, stays_if, before, values))
}

/// Returns the compare-and-exchanges of a body: position, result, pointer, expected value, new value and type.
fn exchanges(body: &[Inst]) -> Vec<(usize, Value, Value, Value, Value, Scalar)> {
    let exchange = |(at, inst): (usize, &Inst)| match (&inst.op, &inst.results[..]) {
        (&Op::CmpXchg { ptr, expected, desired, ty }, &[found]) => Some((at, found, ptr, expected, desired, ty)),
        _ => None,
    };
    body.iter().enumerate().filter_map(exchange).collect()
}

/// Returns the value from which the expected value is computed: the only parameter of the loop, or the only load of a
/// loop without parameters. The load must precede the exchange and have the same pointer.
fn expected_source(body: &[Inst], (exchange, ptr): (usize, Value), latch_loop: &SingleLatchLoop<'_>) -> Option<Value> {
    let mut loads = body.iter().enumerate().filter(|(_, inst)| matches!(inst.op, Op::Load { .. }));
    match (latch_loop.params, loads.next(), loads.next()) {
        (&[param], None, None) => Some(param),
        ([], Some((at, Inst { op: Op::Load { ptr: from, .. }, results, .. })), None) if at < exchange && *from == ptr => {
            results.first().copied()
        }
        _ => None,
    }
}

/// Returns the values with the bits of `from` or `found`, and all values of the body that depend on one of the two.
fn dependences(body: &[Inst], from: Value, found: Value) -> (FxHashSet<Value>, FxHashSet<Value>) {
    let mut old = FxHashSet::from_iter([from, found]);
    let mut dependent = old.clone();
    for inst in body {
        let mut depends = false;
        inst.op.for_each_operand(|value| depends |= dependent.contains(&value));
        if depends {
            dependent.extend(&inst.results);
        }
        if matches!(inst.op, Op::Cast(CastOp::Bitcast, value) if old.contains(&value)) {
            old.extend(&inst.results);
        }
    }
    (old, dependent)
}

/// Returns the source of a chain of bitcasts.
fn bits_of<'a>(value: Value, insts: impl DoubleEndedIterator<Item = &'a Inst>) -> Value {
    let mut value = value;
    for inst in insts.rev() {
        if let Op::Cast(CastOp::Bitcast, inner) = inst.op
            && inst.results.first() == Some(&value)
        {
            value = inner;
        }
    }
    value
}

/// Returns the atomic operation that combines the old value with an operand, its type, the operand, and whether the
/// operand is negated. `new` is the new value.
fn combined<'a>(
    function: &Function,
    definition: &impl Fn(Value) -> Option<&'a Op>,
    old: &FxHashSet<Value>,
    dependent: &FxHashSet<Value>,
    new: Value,
) -> Option<(AtomicOp, Scalar, (Value, bool))> {
    let &Op::Bin(kind, a, b) = definition(new)? else { return None };
    let Type::Scalar(scalar) = function.ty(new) else { return None };
    let commutes = !matches!(kind, BinOp::Sub | BinOp::FSub);
    let operand = match (old.contains(&a), old.contains(&b)) {
        (true, false) => b,
        (false, true) if commutes => a,
        _ => return None,
    };
    let op = match kind {
        BinOp::Add => AtomicOp::Add,
        BinOp::Sub => AtomicOp::Sub,
        BinOp::And => AtomicOp::And,
        BinOp::Or => AtomicOp::Or,
        BinOp::Xor => AtomicOp::Xor,
        BinOp::SMin => AtomicOp::SMin,
        BinOp::SMax => AtomicOp::SMax,
        BinOp::UMin => AtomicOp::UMin,
        BinOp::UMax => AtomicOp::UMax,
        BinOp::FAdd | BinOp::FSub => AtomicOp::FAdd,
        BinOp::FMin => AtomicOp::FMin,
        BinOp::FMax => AtomicOp::FMax,
        _ => return None,
    };
    (!dependent.contains(&operand)).then_some((op, scalar, (operand, kind == BinOp::FSub)))
}
