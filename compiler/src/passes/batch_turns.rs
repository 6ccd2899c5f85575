//! Does several turns of a counted loop behind one test, so that their loads need not wait for each other.
//!
//! ```text
//!                                                   %limit = ssub_sat %n, 3
//! loop (%i = 0, %s = 0) {                           %j, %t = loop (%i = 0, %s = 0) {
//!   if slt %i, %n { yield } else { break %s }         if slt %i, %limit { yield } else { break %i, %s }
//!   %x = load ...                              =>     ... four times, for %i, %i + 1, %i + 2, %i + 3
//!   continue add %i, 1; fadd %s, %x                   continue ...
//! }                                                 }
//!                                                   loop (%i = %j, %s = %t) { as before }
//! ```
//! GPU drivers do this for single loops that they understand; NVIDIA's Vulkan does it less than its OpenCL. Order and number of all operations stay. Loops
//! that load from buffers, are small, go on in one place and end at one test of a counter against a bound that does not change are worth it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::unroll::{Shape, copy, shape};
use crate::diag::Span;
use crate::ir::{BinOp, CmpOp, Function, Inst, Op, Region, Scalar, Space, Type, Value};

/// Turns behind one test.
const TURNS: u64 = 4;
/// Instructions of a loop that is repeated.
const LARGEST: usize = 48;
/// All repetitions together add no more to a function.
const GROWTH: usize = 4096;
/// Steps of counters that are understood.
const LONGEST_STEP: u64 = 1 << 20;

/// Rewrites the innermost loops that are worth it. Returns whether there were any.
pub fn run(function: &mut Function) -> bool {
    let constants = function.body.constants();
    let mut body = std::mem::take(&mut function.body);
    let mut pass = Batch { function, constants, growth: 0 };
    pass.region(&mut body);
    let changed = pass.growth > 0;
    function.body = body;
    changed
}

struct Batch<'a> {
    function: &'a mut Function,
    constants: FxHashMap<Value, u64>,
    growth: usize,
}

/// The test of a loop: it goes on while `compare(counter, bound)`.
struct Test {
    /// Where it is in the body.
    at: usize,
    compare: CmpOp,
    /// The index of the parameter that counts.
    counter: usize,
    bound: Value,
    step: u64,
    ty: Type,
}

impl Batch<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            if let Some(starts) = self.ahead(&inst, &mut out)
                && let Op::Loop { init, .. } = &mut inst.op
            {
                *init = starts;
            }
            out.push(inst);
        }
        region.insts = out;
    }

    /// Puts a loop that does several turns in one before another one, and says with what that goes on.
    fn ahead(&mut self, inst: &Inst, out: &mut Vec<Inst>) -> Option<Vec<Value>> {
        if matches!(inst.op, Op::Loop { unroll: Some(1), .. }) {
            return None;
        }
        let shape = shape(&inst.op)?;
        let size = shape.body.size();
        if size > LARGEST || self.growth + size * TURNS as usize > GROWTH || !self.is_plain(shape.body) {
            return None;
        }
        let test = self.test(&shape)?;
        self.growth += size * TURNS as usize;
        let span = inst.span;
        let reach = self.function.emit_bits(out, span, test.ty, test.step * (TURNS - 1));
        let subtract = if test.compare == CmpOp::SLt { BinOp::SSubSat } else { BinOp::USubSat };
        let limit = self.function.emit(out, span, test.ty, Op::Bin(subtract, test.bound, reach));
        let fresh =
            |function: &mut Function| -> Vec<Value> { shape.params.iter().map(|&param| function.new_value(function.ty(param))).collect() };
        let (params, results) = (fresh(self.function), fresh(self.function));
        let body = self.turns(&shape, &test, &params, limit, span);
        let op = Op::Loop { init: shape.init.to_vec(), params, body, unroll: Some(1) };
        out.push(Inst { op, results: results.clone(), span });
        Some(results)
    }

    fn turns(&mut self, shape: &Shape<'_>, test: &Test, params: &[Value], limit: Value, span: Span) -> Region {
        let end = shape.body.insts.len() - 1;
        let mut insts = Vec::new();
        let counter = params[test.counter];
        let goes_on = self.function.emit(&mut insts, span, Type::BOOL, Op::Cmp(test.compare, counter, limit));
        let yields = Region { insts: vec![Inst::effect(Op::Yield(Vec::new()), span)] };
        let breaks = Region { insts: vec![Inst::effect(Op::Break(params.to_vec()), span)] };
        insts.push(Inst::effect(Op::If { cond: goes_on, then: yields, els: breaks }, span));
        let mut current = params.to_vec();
        for _ in 0..TURNS {
            let mut map: FxHashMap<Value, Value> = shape.params.iter().copied().zip(current).collect();
            for (index, inst) in shape.body.insts[..end].iter().enumerate() {
                if index != test.at {
                    let copy = copy(self.function, inst, &mut map);
                    insts.push(copy);
                }
            }
            current = shape.next.iter().map(|value| map.get(value).copied().unwrap_or(*value)).collect();
        }
        insts.push(Inst::effect(Op::Continue(current), span));
        Region { insts }
    }

    /// Whether a body loads from buffers and does nothing that other work-items wait for.
    fn is_plain(&self, body: &Region) -> bool {
        let (mut loads, mut plain) = (false, true);
        body.walk(&mut |inst| match inst.op {
            Op::Load { ptr, volatile, .. } => {
                loads |= matches!(self.function.ty(ptr), Type::Ptr(Space::Global | Space::Constant | Space::Generic));
                plain &= !volatile;
            }
            Op::Loop { .. }
            | Op::Return(_)
            | Op::Barrier(_)
            | Op::MemFence(_)
            | Op::Group { .. }
            | Op::Printf { .. }
            | Op::Image { .. } => {
                plain = false;
            }
            _ => {}
        });
        loads && plain
    }

    fn test(&self, shape: &Shape<'_>) -> Option<Test> {
        let (at, guard) = shape.body.insts.iter().enumerate().find(|(_, inst)| !inst.op.is_pure())?;
        let Op::If { cond, then, els } = &guard.op else { return None };
        let only = |region: &Region, wanted: fn(&Op) -> bool| matches!(&region.insts[..], [inst] if wanted(&inst.op));
        let (yields, breaks) = (|op: &Op| matches!(op, Op::Yield(_)), |op: &Op| matches!(op, Op::Break(_)));
        let holds = if only(then, yields) && only(els, breaks) {
            true
        } else if only(then, breaks) && only(els, yields) {
            false
        } else {
            return None;
        };
        let mut count = 0;
        shape.body.for_each_jump(&mut |op| count += usize::from(matches!(op, Op::Break(_))));
        if count != 1 || !guard.results.is_empty() {
            return None;
        }
        let define = |value: Value| shape.body.insts.iter().find(|inst| inst.results.first() == Some(&value)).map(|inst| &inst.op);
        let &Op::Cmp(kind, a, b) = define(*cond)? else { return None };
        let position = |value: Value| shape.params.iter().position(|&param| param == value);
        let (counter, bound, kind) = match (position(a), position(b)) {
            (Some(index), None) => (index, b, kind),
            (None, Some(index)) => (index, a, kind.mirrored()),
            _ => return None,
        };
        let compare = if holds { kind } else { kind.inverse()? };
        let ty = self.function.ty(bound);
        // With `<=` a saturated limit would still let the smallest number in.
        if !matches!(compare, CmpOp::SLt | CmpOp::ULt) || !matches!(ty, Type::Scalar(Scalar::I32 | Scalar::I64)) {
            return None;
        }
        let mut inside = FxHashSet::default();
        shape.body.walk(&mut |inst| inside.extend(inst.results.iter().copied()));
        let &Op::Bin(BinOp::Add, x, y) = define(shape.next[counter])? else { return None };
        let step = match (position(x) == Some(counter), position(y) == Some(counter)) {
            (true, _) => *self.constants.get(&y)?,
            (_, true) => *self.constants.get(&x)?,
            _ => return None,
        };
        (!inside.contains(&bound) && (1..=LONGEST_STEP).contains(&step)).then_some(Test { at, compare, counter, bound, step, ty })
    }
}
