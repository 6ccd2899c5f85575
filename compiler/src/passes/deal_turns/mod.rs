//! Deals the turns of a loop out anew among the work-items of a group, so that each takes turns whose loads lie side by side, and loads once for all of them.
//!
//! ```text
//! for (i = get_global_id(0); i < size; i += get_global_size(0)) atomic_inc(&counts[data[i]]);     with bytes, in groups of 64
//!
//! turn           work-item 0   1   2   3   4 ...                                turns 0 to 3 of   items 0..3    4..7     8..11
//!    0                byte 0   1   2   3   4 ...                turn 0     by work-item  0           1        2    ...
//!    1           G = stride: G+0 G+1 G+2 G+3 ...         =>     turn 1                  16          17       18    ...
//!    2                    2G+0 ...                              turn 2                  32          33       34    ...
//!    3                    3G+0 ...                              turn 3                  48          49       50    ...
//! ```
//! With L work-items in a group and T turns (T divides L), work-item l takes the turn `l / (L / T)` of the T items from `T * (l % (L / T))` on: T counters one after
//! the other, for which an array of bytes has one word, or 16 bytes for T = 16. All T turns of all L items are taken, each once, and neighbours still load side by
//! side. This goes on while all items of the group have T more turns ([`Ahead::limit`](super::loop_copies::Ahead::limit) is exact, wrapping counters included); what is left is done by the loop
//! as it was, by everyone for himself. Whether the first counter and the step are multiples of T, so that what is loaded is aligned, is tested before the loop.
//!
//! # Why nobody can tell
//! OpenCL C orders work-items of a group by barriers only, and atomics here are relaxed. What a turn does must therefore depend on its counter alone, and be
//! the same whoever does it and whenever between two barriers. [`check`] asks for all of this:
//!
//! * **All work-items come here.** The loop is in the outermost region of the kernel, no `return` before it. The group is one-dimensional, none of its items is
//!   beyond the NDRange, and its items start at consecutive counters: what they all share, plus the local id. Bound and step are the same for all of them.
//! * **Turns are equal in all but the counter.** Nothing else is carried from turn to turn or out of the loop, and nothing that differs between work-items is
//!   used: no ids, no private memory, no result of an atomic.
//! * **Turns read what never changes**: buffers that nothing in the kernel writes, under no other name either, and constants.
//! * **Turns change things by atomics alone that commute**: on every object one kind of integer operation, whose result is not used. The last value is
//!   then that of any order.
//! * **Nobody looks in between.** In local memory, barriers stand between the loop and all else that touches the object: so each item finds what it has added itself,
//!   and all of what the others have. In global memory, which other groups see, nothing else in the kernel touches the object but such atomics. (No command may
//!   look at it while the kernel runs, and after the kernel all turns are done.)
//!
//! A group's contents of local memory after the barrier are those of the source's order, bit by bit.
//!
//! Expects the form that `resolve_pointers` and `narrow` leave.

mod check;

use rustc_hash::{FxHashMap, FxHashSet};

use super::alias::MemoryUse;
use super::coarsen::wide;
use super::loop_copies::copy;
use super::pass::Pass;
use super::simplify::Purity;
use crate::analysis::loops::PlainLoop;
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Cursor, Function, Inst, Op, Region, Scalar, Type, Value, WorkItem};
use crate::launch::LaunchKey;
use check::Dealt;

pub(crate) const PASS: Pass = Pass::function("deal_turns", |function, cx| Ok(run(function, cx.key, cx.purity, WIDTHS)));

/// Bytes of what is loaded at once, the widest first: what a loop leaves, the next one may take.
pub(crate) const WIDTHS: &[u32] = &[16, 4];

/// Instructions of all turns that are done at once.
const LARGEST: usize = 512;

/// Rewrites the loops of a kernel that are worth it, for some of the [`WIDTHS`]. Returns whether there were any.
pub(crate) fn run(function: &mut Function, key: &LaunchKey, purity: &Purity, widths: &[u32]) -> bool {
    let found = check::find(function, key, purity, widths);
    if found.is_empty() {
        return false;
    }
    let mut body = std::mem::take(&mut function.body);
    let mut made = FxHashSet::default();
    let mut out = Vec::with_capacity(body.insts.len());
    for (at, mut inst) in std::mem::take(&mut body.insts).into_iter().enumerate() {
        if let Some(dealt) = found.iter().find(|dealt| dealt.at == at) {
            let mut deal =
                Deal { function: &mut *function, dealt, items: key.kernel.local_size[0], out: &mut out, span: inst.span, made: &mut made };
            if let Some(start) = deal.loops(&inst)
                && let Op::Loop { init, .. } = &mut inst.op
            {
                *init = vec![start];
            }
        }
        out.push(inst);
    }
    body.insts = out;
    let memory = MemoryUse::of(function, &body, key.binding.distinct, purity);
    for inst in &mut body.insts {
        if let Op::Loop { params, body, .. } = &mut inst.op
            && params.first().is_some_and(|param| made.contains(param))
        {
            memory.loads_first(body);
        }
    }
    function.body = body;
    !made.is_empty()
}

/// The rewriting of one loop.
struct Deal<'a> {
    function: &'a mut Function,
    dealt: &'a Dealt,
    /// Work-items of the group.
    items: u32,
    out: &'a mut Vec<Inst>,
    span: Span,
    /// The parameters of the loops that were made.
    made: &'a mut FxHashSet<Value>,
}

impl Build for Deal<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor::new(self.function, self.out, self.span)
    }
}

impl Deal<'_> {
    /// A word as a number of the counter's type.
    fn extend(&mut self, word: Value) -> Value {
        self.cast(CastOp::ZExt, word, self.dealt.counted.ty.scalar().unwrap_or(Scalar::I32))
    }

    /// Puts loops in front of one, and says where that goes on.
    fn loops(&mut self, inst: &Inst) -> Option<Value> {
        let plain = PlainLoop::of(&inst.op)?;
        let start = *plain.init.first()?;
        let item = self.push(Type::I32, Op::WorkItem(WorkItem::LocalId(0)));
        let own = self.extend(item);
        // The counter of the group's first item.
        let mut first = self.bin(BinOp::Sub, start, own);
        for &turns in &self.dealt.turns {
            first = self.one(inst, first, item, turns)?;
        }
        Some(self.bin(BinOp::Add, first, own))
    }

    /// A loop that does so many turns in one; the counter of the group's first item behind it.
    fn one(&mut self, inst: &Inst, start: Value, item: Value, turns: u32) -> Option<Value> {
        let (dealt, span) = (self.dealt, self.span);
        let counted = &dealt.counted;
        let ty = counted.ty;
        let step = counted.step(self);
        // While all items have so many turns more, if what they load then is aligned.
        let spread = u64::from(self.items - 1);
        let limit = counted.limit(self, u64::from(turns), spread);
        let (rest, zero) = (self.bits(ty, u64::from(turns - 1)), self.bits(ty, 0));
        let both = self.bin(BinOp::Or, start, step);
        let both = self.bin(BinOp::And, both, rest);
        let even = self.cmp(CmpOp::Eq, both, zero);
        let never = counted.never(self);
        let limit = self.select(even, limit, never);
        // Whose turns this item takes, and which.
        let columns = self.word(self.items / turns);
        let row = self.bin(BinOp::UDiv, item, columns);
        let column = self.bin(BinOp::URem, item, columns);
        let (row, column, factor) = (self.extend(row), self.extend(column), self.bits(ty, u64::from(turns)));
        let down = self.bin(BinOp::Mul, row, step);
        let across = self.bin(BinOp::Mul, column, factor);
        let own = self.bin(BinOp::Add, down, across);
        let stride = self.bin(BinOp::Mul, step, factor);

        let group = self.function.new_value(ty);
        let mut insts = Vec::new();
        let mut inside = Cursor::new(self.function, &mut insts, span);
        counted.test(&mut inside, group, limit, vec![group]);
        let first = inside.bin(BinOp::Add, group, own);
        self.turns(inst, first, turns, &mut insts)?;
        let next = Cursor::new(self.function, &mut insts, span).bin(BinOp::Add, group, stride);
        insts.push(Inst::effect(Op::Continue(vec![next]), span));
        let end = self.function.new_value(ty);
        let op = Op::Loop { init: vec![start], params: vec![group], body: Region { insts }, unroll: Some(1) };
        self.out.push(Inst { op, results: vec![end], span });
        self.made.insert(group);
        Some(end)
    }

    /// The body for so many counters from one on.
    fn turns(&mut self, inst: &Inst, first: Value, turns: u32, out: &mut Vec<Inst>) -> Option<()> {
        let plain = PlainLoop::of(&inst.op)?;
        let span = self.span;
        // What each merged load gives, by turn.
        let mut loaded: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        for turn in 0..turns {
            let counter = Cursor::new(self.function, out, span).bin_bits(BinOp::Add, first, u64::from(turn));
            let mut map: FxHashMap<Value, Value> = std::iter::once((*plain.params.first()?, counter)).collect();
            for (index, inst) in plain.insts().iter().enumerate() {
                if index == self.dealt.counted.test {
                    continue;
                }
                let merged = inst.results.first().copied().filter(|result| self.dealt.merged.contains(result));
                match (merged, &inst.op) {
                    (Some(result), &Op::Load { ptr, .. }) => {
                        if turn == 0 {
                            let ptr = map.get(&ptr).copied().unwrap_or(ptr);
                            let values = self.load(ptr, result, turns, inst.span, out)?;
                            loaded.insert(result, values);
                        }
                        map.insert(result, *loaded.get(&result)?.get(turn as usize)?);
                    }
                    _ => {
                        let copy = copy(self.function, inst, &mut map);
                        out.push(copy);
                    }
                }
            }
        }
        Some(())
    }

    /// One load in place of several of a result's type; what each would have given.
    fn load(&mut self, ptr: Value, result: Value, turns: u32, span: Span, out: &mut Vec<Inst>) -> Option<Vec<Value>> {
        let ty = self.function.ty(result);
        let (memory, vector) = wide(ty, turns)?;
        let align = vector.access_size(0);
        let mut value = self.function.emit(out, span, memory, Op::Load { ptr, align, volatile: false });
        if memory != vector {
            value = self.function.emit(out, span, vector, Op::Cast(CastOp::Bitcast, value));
        }
        let (lanes, mut parts) = (ty.lanes(), Vec::new());
        for turn in (0..u8::try_from(turns).ok()?).map(|turn| turn * lanes) {
            let op = match lanes {
                1 => Op::Extract(value, turn),
                _ => Op::Shuffle(value, value, (0..lanes).map(|lane| Some(turn + lane)).collect()),
            };
            parts.push(self.function.emit(out, span, ty, op));
        }
        Some(parts)
    }
}
