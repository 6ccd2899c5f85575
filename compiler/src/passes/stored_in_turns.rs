//! Stores what lies side by side in loops, where a kernel has so much of it that a driver takes time in the square of its stores, and more
//! ([`Costs::accesses_by_words`](crate::target::Costs::accesses_by_words)).
//!
//! ```text
//! store %out, %v0                      loop (%i = 0) {
//! store (ptr_add %out, 4), %v1           ... until %i is 64 * 4
//! ... 64 words                   =>      %x = that of %v0, %v1, ... whose number is %i, by a tree of selects
//!                                        store (ptr_add %out, %i), %x
//!                                        continue %i + 4
//!                                      }
//! ```
//! llvmpipe makes four blocks of each word that is stored, and its compiler's pass for coroutines keeps a set of all blocks for each of them. Selects have no blocks, so that one store
//! stands for 64: 4,320 different words are compiled in 2.1 s of processor time in place of 12.3 (OpenGL ES), in 0.95 in place of 11 (lavapipe). Mesa's compiler would write shorter loops out again. A private array in place of the selects has so many uses,
//! which that pass compares with each other, that it gains nothing.
//!
//! Stores wait for the last of their 64, as in [`super::vectorize_memory`]: nothing in between may jump, wait, or touch what they touch. Only in kernels without loops and calls: llvmpipe counts
//! the turns of all loops of a work-item together, and stops it after 65,535. Expects the form that `resolve_pointers` and `pairs` leave.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::alias::{Effect, MemoryUse};
use super::pass::Pass;
use super::simplify::Purity;
use crate::analysis::definitions::{Definitions, Linear, Root, offsets};
use crate::ir::{BinOp, Build, CastOp, CmpOp, Cursor, Function, Inst, Op, Region, Scalar, Space, Type, Value};

pub(crate) const PASS: Pass = Pass::function("stored_in_turns", |function, cx| Ok(run(function, cx.key.binding.distinct, cx.purity)));

/// Turns of a loop.
const TURNS: u32 = 64;

/// Words that have to be stored in loops for any to be. So many are compiled in 8.9 s, in 1.4 with loops; 64 work-items then store them in 1.15 ms in place of 0.7. Of 2,000 a launch takes
/// twice as long, for 3 s less.
const MANY: u32 = 3584;

/// No kernel gets more turns than that in all.
const MOST: u32 = 16_384;

/// Runs of stores that are followed at a time.
const MOST_OPEN: usize = 4;

/// Stores that follow each other in memory.
struct Run {
    root: Root,
    /// What is not constant of the offsets.
    terms: SmallVec<[(Value, u32); 4]>,
    /// Where the next one would have to begin.
    next: u32,
    /// Each store, by its place among all, and the words before it.
    stores: Vec<(usize, u32)>,
    words: u32,
}

/// A store of a run that is long enough.
#[derive(Clone, Copy)]
struct Part {
    run: usize,
    /// Words of the run before this store, and those of it that are stored in loops.
    before: u32,
    whole: u32,
}

/// Rewrites a kernel; says whether there was anything.
fn run(function: &mut Function, distinct: bool, purity: &Purity) -> bool {
    let mut is_plain = true;
    function.body.walk(&mut |inst| is_plain &= !matches!(inst.op, Op::Loop { .. } | Op::Call(..)));
    if !is_plain {
        return false;
    }
    let parts = find(function, distinct, purity);
    if parts.is_empty() {
        return false;
    }
    let mut body = std::mem::take(&mut function.body);
    let offsets = offsets(&body);
    let mut writer = Writer { function, parts, offsets, place: 0, waiting: FxHashMap::default() };
    writer.region(&mut body);
    function.body = body;
    true
}

/// The stores of long runs by their place among all stores; nothing if they are few.
fn find(function: &Function, distinct: bool, purity: &Purity) -> FxHashMap<usize, Part> {
    let memory = MemoryUse::of(function, &function.body, distinct, purity);
    let mut finder = Finder { function, definitions: Definitions::of(function), memory, place: 0, open: Vec::new(), long: Vec::new() };
    finder.region(&function.body);
    let mut total = 0;
    let mut parts = FxHashMap::default();
    for (index, run) in finder.long.iter().enumerate() {
        let whole = (run.words - run.words % TURNS).min(MOST - total);
        total += whole;
        for &(place, before) in run.stores.iter().filter(|(_, before)| *before < whole) {
            parts.insert(place, Part { run: index, before, whole });
        }
    }
    if total < MANY {
        parts.clear();
    }
    parts
}

struct Finder<'f> {
    function: &'f Function,
    definitions: Definitions<'f>,
    memory: MemoryUse<'f>,
    /// Stores so far.
    place: usize,
    open: Vec<Run>,
    long: Vec<Run>,
}

impl Finder<'_> {
    fn region(&mut self, region: &Region) {
        for inst in &region.insts {
            match inst.op {
                Op::Load { ptr, volatile: false, .. } => self.close(self.memory.root(ptr)),
                Op::Store { ptr, value, align, volatile } => {
                    if volatile || !self.store(ptr, value, align) {
                        self.close(self.memory.root(ptr));
                    }
                    self.place += 1;
                }
                Op::Copy { .. } => self.close(None),
                _ => match self.memory.effect(inst) {
                    Effect::Nothing if inst.op.regions().is_empty() && !inst.op.is_terminator() => {}
                    Effect::Root(root) => self.close(Some(root)),
                    Effect::Nothing | Effect::Anything | Effect::Waits => self.close(None),
                },
            }
            for nested in inst.op.regions() {
                self.region(nested);
            }
        }
        self.close(None);
    }

    /// Takes a store into a run, its own if it goes on with none. False if it is none that can wait.
    fn store(&mut self, ptr: Value, value: Value, align: u32) -> bool {
        let ty = self.function.ty(value);
        let Some(size) = ty.scalar().map(Scalar::size).filter(|&size| matches!(size, 4 | 8) && align >= size) else { return false };
        let is_shared = matches!(self.function.ty(ptr).space(), Some(Space::Global | Space::Local));
        let Some((root, offset)) = self.definitions.pointer(ptr).filter(|_| is_shared) else { return false };
        let Linear { constant, mut terms } = offset.map_or_else(Linear::default, |offset| self.definitions.linear(offset));
        terms.sort_unstable();
        let goes_on = |run: &Run| run.root == root && run.next == constant && run.terms == terms;
        let kept = self.open.iter().position(goes_on).map(|at| self.open.remove(at));
        self.close(Some(root));
        if self.open.len() == MOST_OPEN {
            let oldest = self.open.remove(0);
            self.end(oldest);
        }
        let mut run = kept.unwrap_or_else(|| Run { root, terms, next: constant, stores: Vec::new(), words: 0 });
        let words = u32::from(ty.lanes()) * size / 4;
        run.stores.push((self.place, run.words));
        run.words += words;
        run.next = run.next.wrapping_add(words * 4);
        self.open.push(run);
        true
    }

    /// Ends the runs that may touch that memory, any if it is not known which.
    fn close(&mut self, root: Option<Root>) {
        let memory = &self.memory;
        let closed: Vec<Run> = self.open.extract_if(.., |run| !root.is_some_and(|root| memory.apart(root, run.root))).collect();
        closed.into_iter().for_each(|run| self.end(run));
    }

    fn end(&mut self, run: Run) {
        if run.words >= TURNS {
            self.long.push(run);
        }
    }
}

/// An address as emission wants it: what it counts from, the offset that is not constant, and the one that is.
#[derive(Clone, Copy)]
struct Place {
    base: Value,
    offset: Option<Value>,
    bytes: u32,
}

struct Writer<'f> {
    function: &'f mut Function,
    parts: FxHashMap<usize, Part>,
    /// Base and offset of each pointer that has an offset.
    offsets: FxHashMap<Value, (Value, Value)>,
    /// Stores so far.
    place: usize,
    /// Where the words that wait belong, and these, by run.
    waiting: FxHashMap<usize, (Place, Vec<Value>)>,
}

impl Writer<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            let is_store = matches!(inst.op, Op::Store { .. });
            let part = if is_store { self.parts.get(&self.place).copied() } else { None };
            self.place += usize::from(is_store);
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            match part {
                Some(part) => self.store(&inst, part, &mut out),
                None => out.push(inst),
            }
        }
        region.insts = out;
    }

    /// Has the words of a store wait, and stores them if they are the last of so many.
    fn store(&mut self, inst: &Inst, part: Part, out: &mut Vec<Inst>) {
        let Op::Store { ptr, value, .. } = inst.op else { return };
        let (base, offset) = self.offsets.get(&ptr).map_or((ptr, None), |&(base, offset)| (base, Some(offset)));
        let words = words(&mut Cursor::new(self.function, out, inst.span), value);
        for (number, (word, bytes)) in (part.before..).zip(words.into_iter().zip((0..).step_by(4))) {
            let own = Place { base, offset, bytes };
            let mut at = Cursor::new(self.function, out, inst.span);
            if number >= part.whole {
                let ptr = own.pointer(&mut at, None);
                at.effect(Op::Store { ptr, value: word, align: 4, volatile: false });
                continue;
            }
            let (first, waiting) = self.waiting.entry(part.run).or_insert_with(|| (own, Vec::new()));
            waiting.push(word);
            if number % TURNS == TURNS - 1 {
                store_all(&mut at, *first, std::mem::take(waiting));
                self.waiting.remove(&part.run);
            }
        }
    }
}

/// The words of a value, in the order of memory.
fn words(at: &mut Cursor<'_>, value: Value) -> Vec<Value> {
    let ty = at.type_of(value);
    let is_wide = ty.scalar().is_some_and(|scalar| scalar.size() == 8);
    let value = at.cast(CastOp::Bitcast, value, if is_wide { Scalar::I64 } else { Scalar::I32 });
    let mut words = Vec::new();
    for lane in 0..ty.lanes() {
        let scalar = if ty.lanes() > 1 { at.extract(value, lane) } else { value };
        words.push(at.cast(CastOp::Trunc, scalar, Scalar::I32));
        if is_wide {
            let high = at.bin_bits(BinOp::LShr, scalar, 32);
            words.push(at.cast(CastOp::Trunc, high, Scalar::I32));
        }
    }
    words
}

impl Place {
    /// Its address, or the one so much further.
    fn pointer(self, at: &mut Cursor<'_>, further: Option<Value>) -> Value {
        let ty = self.offset.or(further).map_or(Type::I32, |offset| at.type_of(offset));
        let constant = (self.bytes > 0).then(|| at.bits(ty, u64::from(self.bytes)));
        let further = further.map(|further| at.cast(CastOp::ZExt, further, ty.scalar().unwrap_or(Scalar::I32)));
        let offset = [self.offset, constant, further].into_iter().flatten().reduce(|sum, next| at.bin(BinOp::Add, sum, next));
        offset.map_or(self.base, |offset| at.ptr_add(self.base, offset))
    }
}

/// `for (i = 0; i < TURNS; i++) to[i] = words[i]`, by bytes.
fn store_all(at: &mut Cursor<'_>, to: Place, mut words: Vec<Value>) {
    let start = at.word(0);
    let offset = at.function.new_value(Type::I32);
    let mut insts = Vec::new();
    let mut turn = Cursor::new(at.function, &mut insts, at.span);
    let goes_on = turn.cmp_bits(CmpOp::ULt, offset, u64::from(TURNS * 4));
    turn.break_unless(goes_on, Vec::new());
    // Half of them are left by each bit of the number.
    for bit in 2..2 + TURNS.ilog2() {
        let masked = turn.bin_bits(BinOp::And, offset, 1 << bit);
        let is_odd = turn.cmp_bits(CmpOp::Ne, masked, 0);
        words = words.chunks_exact(2).map(|pair| turn.select(is_odd, pair[1], pair[0])).collect();
    }
    if let [value] = words[..] {
        let ptr = to.pointer(&mut turn, Some(offset));
        turn.effect(Op::Store { ptr, value, align: 4, volatile: false });
    }
    let next = turn.bin_bits(BinOp::Add, offset, 4);
    turn.effect(Op::Continue(vec![next]));
    at.effect(Op::Loop { init: vec![start], params: vec![offset], body: Region { insts }, unroll: Some(1) });
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::{Purity, run};
    use crate::ir::read::read_module;
    use crate::ir::verify::verify;
    use crate::ir::{Function, Op};

    /// A kernel that stores vectors of so many bytes of a type, side by side, and does something else behind each that divides by `every`.
    fn kernel(stores: u32, ty: &str, bytes: u32, every: u32, other: &str) -> Function {
        let mut text = format!(
            "kernel @f0 \"k\" (%0: ptr.global buffer, %1: ptr.global buffer, %2: {ty} value) {{
  %3: i32 = workitem.global_id 0
  %4: i32 = const 8192
  %5: i32 = mul %3, %4
"
        );
        for store in 0..stores {
            let value = 10 + store * 4;
            let (offset, place, pointer) = (value + 1, value + 2, value + 3);
            let written = write!(
                text,
                "  %{offset}: i32 = const {}
  %{place}: i32 = add %5, %{offset}
  %{pointer}: ptr.global = ptr_add %0, %{place}
  store %{pointer}, %2 align 8
",
                store * bytes
            );
            assert!(written.is_ok(), "a text has room");
            if store.is_multiple_of(every) {
                text += &other.replace("%n", &format!("%{value}"));
            }
        }
        text += "  return\n}\n";
        let mut module = read_module(&text).expect("a module");
        run(&mut module.functions[0], true, &Purity::default());
        assert_eq!(verify(&module).err(), None, "{module}");
        module.functions.swap_remove(0)
    }

    /// Loops, and stores to the buffers outside of them.
    fn counts(stores: u32, ty: &str, bytes: u32, every: u32, other: &str) -> (usize, usize) {
        let function = kernel(stores, ty, bytes, every, other);
        let (mut loops, mut all) = (0, 0);
        function.body.walk(&mut |inst| match inst.op {
            Op::Loop { .. } => loops += 1,
            Op::Store { ptr, .. } => all += usize::from(function.ty(ptr).space() == Some(crate::ir::Space::Global)),
            _ => {}
        });
        (loops, all - loops)
    }

    #[test]
    fn long_rows_are_stored_in_loops() {
        assert_eq!(counts(3584, "i32", 4, 3584, ""), (56, 0));
        assert_eq!(counts(3583, "i32", 4, 3583, ""), (0, 3583), "few");
        assert_eq!(counts(3587, "f32", 4, 3587, ""), (56, 3), "what is left over");
        assert_eq!(counts(1196, "f32x3", 12, 1196, ""), (56, 2), "what is left over of a vector");
        assert_eq!(counts(224, "i32x16", 64, 224, ""), (56, 0));
        assert_eq!(counts(896, "i64x2", 16, 896, ""), (56, 0));
        assert_eq!(counts(3584, "i32", 8, 3584, ""), (0, 3584), "gaps");
        assert_eq!(counts(4096, "i16", 2, 4096, ""), (0, 4096), "no words");
        assert_eq!(counts(20_480, "i32", 4, 20_480, ""), (256, 4096), "more turns than a driver does");
    }

    #[test]
    fn nothing_is_stored_too_late() {
        assert_eq!(counts(4096, "i32", 4, 64, "  %n: i32 = load %1 align 4\n"), (64, 0), "of another buffer");
        assert_eq!(counts(4096, "i32", 4, 64, "  store %1, %3 align 4\n"), (64, 64), "in another buffer");
        assert_eq!(counts(4096, "i32", 4, 50, "  %n: i32 = load %0 align 4\n"), (0, 4096), "of the same");
        assert_eq!(counts(4096, "i32", 4, 50, "  store %0, %3 align 4\n"), (0, 4178), "in the same");
        assert_eq!(counts(4096, "i32", 4, 50, "  barrier global\n"), (0, 4096));
        assert_eq!(counts(4096, "i32", 4, 50, "  %n: bool = eq %3, %4\n  if %n {\n    return\n  } else {\n    yield\n  }\n"), (0, 4096));
        let turn = "  loop () {\n    break\n  }\n";
        assert_eq!(counts(4096, "i32", 4, 4096, turn), (1, 4095), "a kernel with loops");
    }
}
