//! Lets each work-item of a subgroup load for one of several turns what all of them load in each turn, where a device loads for one work-item after the other
//! (lavapipe, from local memory): they then tell each other.
//!
//! ```text
//! loop (%i = 0, %s = %x) {                        %lane = work_item subgroup_local_id
//!   if slt %i, 64 { yield } else { break %s }     loop (%i = 0, %s = %x) {
//!   %v = load %tile[%i]                             if slt %i, 64 { yield } else { break %s }
//!   %t = fadd %s, %v                          =>    %v = load %tile[%i + %lane]
//!   continue add %i, 1; %t                          %v0 = shuffle %v, 0
//! }                                                 %t = fadd %s, %v0
//!                                                   ... so for all 8 turns
//!                                                   continue add %i, 8; ...
//!                                                 }
//! ```
//! What is loaded stays the same: the loop's number of turns is a known multiple of the subgroup's work-items, each turn makes the load, and nothing is stored in
//! between. All work-items of the group must get to the loop together ([`Divergence`]), in subgroups that are complete and have one row of the group's work-items each.

use rustc_hash::{FxHashMap, FxHashSet};

use super::pass::Pass;
use super::several_turns::copy;
use super::unroll::MOST_TURNS;
use crate::analysis::definitions::Constants;
use crate::analysis::divergence::{Divergence, Question, StableLoads, Together, Variation};
use crate::analysis::loops::{Counted, PlainLoop};
use crate::ir::{BinOp, Build, CastOp, Const, Cursor, Function, GroupOp, Inst, Op, Region, Scalar, Space, Type, Value, WorkItem};
use crate::launch::LaunchKey;

pub(crate) const PASS: Pass = Pass::function("uniform_loads", |function, cx| {
    // naga takes questions about subgroups from groups of one dimension only; of SPIR-V nobody asks it.
    let may_ask = cx.target.shaders.spirv || cx.key.kernel.local_size[1..] == [1, 1];
    Ok(may_ask && run(function, cx.key, cx.target.language.max_subgroup_size))
});

/// Instructions of all turns that are done at once.
const LARGEST: usize = 1024;

/// Rewrites the loops of a kernel where that can be done. `lanes` are the work-items of a subgroup. Returns whether there were any.
pub(crate) fn run(function: &mut Function, key: &LaunchKey, lanes: u32) -> bool {
    if lanes < 2 || !key.kernel.local_size[0].is_multiple_of(lanes) || key.kernel.guard != [false; 3] || !loads_local(function) {
        return false;
    }
    let constants = Constants::of(&function.body);
    let question = Question { group: key.kernel.local_size, zero_offset: false, stable: StableLoads::Constant };
    let divergence = Divergence::of(function, &function.body, question);
    let mut found: FxHashMap<Value, Vec<usize>> = FxHashMap::default();
    divergence.walk(&function.body, (true, None), &mut |inst, here| {
        if here == Together::Group
            && !divergence.splits(inst)
            && let Some(plain) = PlainLoop::of(&inst.op)
            && let Some(&param) = plain.params.first()
            && let Some((counted, turns)) = Counted::fixed(function, &plain, &constants, MOST_TURNS)
        {
            let loads = loads(function, &divergence, &plain, (&counted, turns), lanes);
            if !loads.is_empty() {
                found.insert(param, loads);
            }
        }
    });
    if found.is_empty() {
        return false;
    }
    let mut body = std::mem::take(&mut function.body);
    Rewrite { function, constants, found, lanes }.region(&mut body);
    function.body = body;
    true
}

fn loads_local(function: &Function) -> bool {
    let mut found = false;
    function.body.walk(&mut |inst| found |= matches!(inst.op, Op::Load { ptr, .. } if function.ty(ptr) == Type::Ptr(Space::Local)));
    found
}

/// Where in a loop's body the loads are that are made this way.
fn loads(
    function: &Function,
    divergence: &Divergence<'_>,
    plain: &PlainLoop<'_>,
    (counted, count): (&Counted<'_>, u64),
    lanes: u32,
) -> Vec<usize> {
    let turns = u64::from(lanes);
    let fits = count >= turns && count.is_multiple_of(turns) && plain.body.size() * lanes as usize <= LARGEST;
    let adds = matches!(counted.step.0, BinOp::Add | BinOp::Sub);
    if !adds || !fits || !is_plain(function, plain.body) {
        return Vec::new();
    }
    let is_word = |ty: Type| ty.scalar().is_some_and(|scalar| scalar.size() == 4 && scalar != Scalar::Bool);
    let insts = plain.body.insts.iter().enumerate().skip(counted.test + 1);
    insts
        .filter(|(_, inst)| match (&inst.op, &inst.results[..]) {
            (&Op::Load { ptr, volatile: false, .. }, &[result]) => {
                function.ty(ptr) == Type::Ptr(Space::Local)
                    && is_word(function.ty(result))
                    && divergence.variation(ptr) == Variation::Uniform
                    && chain(plain, counted.counter, ptr).is_some_and(|chain| !chain.is_empty())
            }
            _ => false,
        })
        .map(|(at, _)| at)
        .collect()
}

/// Whether a body only computes, loads, and stores in private memory.
fn is_plain(function: &Function, body: &Region) -> bool {
    let mut plain = true;
    body.walk(&mut |inst| {
        plain &= match &inst.op {
            Op::Store { ptr, .. } => function.ty(*ptr) == Type::Ptr(Space::Private),
            Op::Load { volatile, .. } => !volatile,
            Op::If { .. } | Op::Yield(_) | Op::Break(_) | Op::Continue(_) => true,
            op => op.is_pure(),
        };
    });
    plain
}

/// What a pointer is made of within a body, in order: operations on the counter and what is defined outside. `None` where it is made of anything else.
fn chain(plain: &PlainLoop<'_>, counter: usize, pointer: Value) -> Option<Vec<usize>> {
    let places: FxHashMap<Value, usize> =
        plain.body.insts.iter().enumerate().flat_map(|(at, inst)| inst.results.iter().map(move |&result| (result, at))).collect();
    let mut wanted = vec![pointer];
    let mut found = FxHashSet::default();
    while let Some(value) = wanted.pop() {
        if let Some(&at) = places.get(&value) {
            let op = &plain.body.insts[at].op;
            if !op.is_pure() || !op.regions().is_empty() {
                return None;
            }
            if found.insert(at) {
                op.for_each_operand(|operand| wanted.push(operand));
            }
        } else if plain.params.iter().enumerate().any(|(index, &param)| param == value && index != counter) {
            return None;
        }
    }
    let mut list: Vec<usize> = found.into_iter().collect();
    list.sort_unstable();
    Some(list)
}

struct Rewrite<'f> {
    function: &'f mut Function,
    constants: Constants,
    /// By a loop's first parameter: the loads in its body.
    found: FxHashMap<Value, Vec<usize>>,
    lanes: u32,
}

impl Rewrite<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            let loads = match &inst.op {
                Op::Loop { params, .. } => params.first().and_then(|param| self.found.remove(param)),
                _ => None,
            };
            match loads {
                Some(loads) => self.rewrite(&mut inst, &loads, &mut out),
                None => inst.op.regions_mut().into_iter().for_each(|nested| self.region(nested)),
            }
            out.push(inst);
        }
        region.insts = out;
    }

    fn rewrite(&mut self, inst: &mut Inst, loads: &[usize], before: &mut Vec<Inst>) {
        let span = inst.span;
        let Some(plain) = PlainLoop::of(&inst.op) else { return };
        let Some(counted) = Counted::of(self.function, &plain) else { return };
        let Some(step) = counted.added(&self.constants) else { return };
        let counter = plain.params[counted.counter];
        let ty = self.function.ty(counter);
        let Type::Scalar(scalar @ (Scalar::I32 | Scalar::I64)) = ty else { return };
        let mut code = Cursor::new(self.function, before, span);
        let lane = code.push(Type::I32, Op::WorkItem(WorkItem::SubgroupLocalId));
        let lane = code.cast(CastOp::ZExt, lane, scalar);
        let ahead = code.bin_bits(BinOp::Mul, lane, step);
        let mut out: Vec<Inst> = plain.body.insts[..=counted.test].to_vec();
        let own = Cursor::new(self.function, &mut out, span).bin(BinOp::Add, counter, ahead);
        let mut words = Vec::new();
        for &at in loads {
            let Op::Load { ptr, .. } = plain.body.insts[at].op else { return };
            let Some(chain) = chain(&plain, counted.counter, ptr) else { return };
            let mut map: FxHashMap<Value, Value> = std::iter::once((counter, own)).collect();
            for at in chain.into_iter().chain([at]) {
                let copy = copy(self.function, &plain.body.insts[at], &mut map);
                out.push(copy);
            }
            let Some(value) = plain.body.insts[at].results.first().and_then(|result| map.get(result)) else { return };
            words.push(words_of(&mut Cursor::new(self.function, &mut out, span), *value));
        }
        let mut current = plain.params.to_vec();
        for turn in 0..self.lanes {
            let mut map: FxHashMap<Value, Value> = plain.params.iter().copied().zip(current).collect();
            let index = Cursor::new(self.function, &mut out, span).word(turn);
            for (at, inst) in plain.insts().iter().enumerate().filter(|(at, _)| *at != counted.test) {
                match (loads.iter().position(|&load| load == at), inst.results.first()) {
                    (Some(number), Some(&result)) => {
                        let ty = self.function.ty(result);
                        let value = told(&mut Cursor::new(self.function, &mut out, inst.span), ty, &words[number], index);
                        map.insert(result, value);
                    }
                    _ => {
                        let copy = copy(self.function, inst, &mut map);
                        out.push(copy);
                    }
                }
            }
            current = plain.next.iter().map(|value| map.get(value).copied().unwrap_or(*value)).collect();
        }
        out.push(Inst::effect(Op::Continue(current), span));
        if let Op::Loop { body, unroll, .. } = &mut inst.op {
            body.insts = out;
            *unroll = Some(1);
        }
    }
}

/// The lanes of a value as words.
fn words_of(at: &mut Cursor<'_>, value: Value) -> Vec<Value> {
    let lanes = at.function.ty(value).lanes();
    (0..lanes)
        .map(|lane| {
            let one = if lanes == 1 { value } else { at.extract(value, lane) };
            at.cast(CastOp::Bitcast, one, Scalar::I32)
        })
        .collect()
}

/// The value of which a work-item of the subgroup has these words.
fn told(at: &mut Cursor<'_>, ty: Type, words: &[Value], index: Value) -> Value {
    let scalar = ty.scalar().unwrap_or(Scalar::I32);
    let parts: Vec<Value> = words
        .iter()
        .map(|&word| {
            let told = at.push(Type::I32, Op::Group { sub: true, op: GroupOp::Shuffle, args: vec![word, index] });
            at.cast(CastOp::Bitcast, told, scalar)
        })
        .collect();
    match parts[..] {
        [one] => one,
        [] => at.push(ty, Op::Const(Const::Undef)),
        _ => at.push(ty, Op::Construct(parts)),
    }
}
