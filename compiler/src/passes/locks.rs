//! Emulates 64-bit atomic operations with two words and a lock, for devices without them
//! ([`Shaders::int64_atomics`](crate::target::Shaders::int64_atomics)).
//!
//! Locks are words of a table that all work-items share ([`TABLE`]); the address selects the lock. A work-item
//! acquires the lock, performs the operation and releases the lock in the same iteration:
//!
//! ```text
//! %2: i64 = atomic add %p, %1   =>   loop (%tries = 0) {
//!                                      %taken = cmpxchg %lock, 0, 1
//!                                      if %taken == 0 {
//!                                        mem_fence; %low = atomic or %p, 0; %high = atomic or %p + 4, 0
//!                                        ...; atomic xchg %p, ...; atomic xchg %p + 4, ...; mem_fence
//!                                        %given = atomic xchg %lock, 0
//!                                      } else { %given = 2 }
//!                                      if %given < 2 { break %old }
//!                                      if %tries == MOST { store the table's first word, 2; break 0 }
//!                                    }
//! ```
//! Assumptions and reasons:
//!
//! Work-items of a subgroup may execute in lock-step, so no work-item may wait for another *within* an iteration. The
//! iteration ends for all of them together, and the owner has released the lock by then. A compiler that knows that
//! the taken branch leaves the loop could move the work after the loop. It would then wait for the work-items that
//! are still in the loop. The loop therefore exits on the result of the release, which no compiler knows: 1, or 0 in
//! lanes without a work-item (lavapipe executes no atomic operation for them, but the loop still waits for them). The
//! fences order the words, which are atomic themselves. This needs a language with a fence that is not a barrier:
//! SPIR-V, GLSL, HLSL. MSL (as naga writes it) and WGSL do not have one. The owner of a lock must make progress
//! independently of the other work-items. No language guarantees this. Without progress the launch fails after
//! [`MOST_TRIES`] iterations instead of hanging. Launches that share written memory never overlap on these devices,
//! so an address only needs the same lock within one launch.
//!
//! Sums without a use of the old value need no lock if the kernel has no other 64-bit atomics on that memory: the
//! carry can be added later ([`Manner::Sums`]).

use rustc_hash::FxHashMap;

use super::PassError;
use super::pass::{Cx, Pass};
use crate::analysis::definitions::{Definitions, Root, Uses};
use crate::diag::Span;
use crate::ir::{
    AtomicOp, BinOp, Build, CastOp, CmpOp, Const, Cursor, Fence, Function, Global, GlobalVar, Inst, KernelParam, Module, Op, Region,
    Scalar, Space, Type, UnOp, Value,
};

pub(crate) const PASS: Pass = Pass::module("locks", run);

/// The name of the table's variable; it is not an identifier that a source can have.
pub(crate) const TABLE: &str = "(locks)";

/// Size in bytes of the table before the first lock. The first word reports a failure ([`GAVE_UP`]), the second one
/// is zero (`emit::loop_watchdog` uses these words too).
const HEADER: u32 = 16;

/// Number of locks for global memory, followed by as many for local memory: a power of two.
const LOCKS: u32 = 1024;

/// Size of the table in bytes.
pub const TABLE_BYTES: u32 = HEADER + 2 * LOCKS * 4;

/// The table's first word after a work-item has waited too long for a lock.
pub const GAVE_UP: u32 = 2;

/// Replaces the old value of a lock that was not acquired; a lock never has this value.
const HELD: u32 = 2;

/// Iterations after which a work-item gives up: a second or more, because on a CPU the thread with the lock may be
/// descheduled.
const MOST_TRIES: u64 = 1 << 26;

/// Whether a variable is the table.
pub(crate) fn is_table(global: &GlobalVar) -> bool {
    global.name == TABLE
}

/// The address of an operation.
#[derive(Clone, Copy, Debug)]
struct Location {
    root: Root,
    /// The root's pointer.
    base: Value,
    offset: Option<Value>,
    home: Home,
}

/// The kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Private,
    Local,
    Global,
}

/// The implementation of the operations on one kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Each with a lock that its offset selects.
    ByOffset,
    /// Each with the same lock, because different pointers may alias.
    One,
    /// Without locks: sums without a use of the old value.
    Sums,
}

fn run(module: &mut Module, cx: &Cx<'_>) -> Result<bool, PassError> {
    if !module.functions.iter().any(|function| has_wide(&function.body)) {
        return Ok(false);
    }
    let places = module.functions.iter().map(|function| places(function, module)).collect::<Result<Vec<_>, _>>()?;
    let manner = |home| manner(module, &places, home, cx.key.binding.distinct);
    let manners = [manner(Home::Local), manner(Home::Global)];
    let table = Global(module.globals.len() as u32);
    let init = None;
    module.globals.push(GlobalVar { name: TABLE.to_owned(), space: Space::Global, size: TABLE_BYTES, align: 16, init, relocs: Vec::new() });
    for (function, places) in module.functions.iter_mut().zip(places) {
        if !places.is_empty() {
            let mut body = std::mem::take(&mut function.body);
            Locks { function, out: Vec::new(), span: Span::default(), places, manners, table }.region(&mut body);
            function.body = body;
        }
    }
    Ok(true)
}

/// The operation's pointer, if it is a 64-bit atomic.
fn wide(inst: &Inst) -> Option<Value> {
    match inst.op {
        Op::Atomic { ptr, ty: Scalar::I64 | Scalar::F64, .. } | Op::CmpXchg { ptr, ty: Scalar::I64 | Scalar::F64, .. } => Some(ptr),
        _ => None,
    }
}

fn has_wide(body: &Region) -> bool {
    let mut found = false;
    body.walk(&mut |inst| found |= wide(inst).is_some());
    found
}

/// The addresses of the operations of a function, by their pointers.
fn places(function: &Function, module: &Module) -> Result<FxHashMap<Value, Location>, PassError> {
    let definitions = Definitions::of(function);
    let mut pointers = Vec::new();
    function.body.walk(&mut |inst| pointers.extend(wide(inst)));
    let place = |&pointer: &Value| {
        let (root, offset) = definitions.pointer(pointer).ok_or_else(|| PassError::Internal {
            function: function.name.clone(),
            pass: PASS.name,
            message: format!("{pointer} has no root"),
        })?;
        let base = match definitions.get(pointer) {
            Some(&Op::PtrAdd(base, _)) => base,
            _ => pointer,
        };
        let home = match root {
            Root::Var(..) => Home::Private,
            Root::Global(global) if module.globals.get(global.index()).is_some_and(|global| global.space == Space::Local) => Home::Local,
            Root::Param(index) => match function.kernel.as_ref().and_then(|kernel| kernel.params.get(index as usize)) {
                Some(KernelParam::Local { .. }) => Home::Local,
                _ => Home::Global,
            },
            Root::Global(_) | Root::Address(_) => Home::Global,
        };
        Ok((pointer, Location { root, base, offset, home }))
    };
    pointers.iter().map(place).collect()
}

/// The implementation of the operations on a kind of memory.
fn manner(module: &Module, places: &[FxHashMap<Value, Location>], home: Home, distinct: bool) -> Manner {
    let mut roots = Vec::new();
    let mut sums = true;
    for (function, places) in module.functions.iter().zip(places) {
        let uses = Uses::of(function);
        function.body.walk(&mut |inst| {
            let Some(place) = wide(inst).and_then(|ptr| places.get(&ptr)).filter(|place| place.home == home) else { return };
            if !roots.contains(&place.root) {
                roots.push(place.root);
            }
            let is_sum = matches!(inst.op, Op::Atomic { op: AtomicOp::Add | AtomicOp::Sub, ty: Scalar::I64, .. });
            sums &= is_sum && inst.results.iter().all(|&result| uses.count(result) == 0);
        });
    }
    // Merged or split bindings may also have several offsets for one address, and a device address is not an offset.
    let several = roots.len() > 1 && home == Home::Global && !distinct || roots.iter().any(|root| matches!(root, Root::Address(_)));
    match (sums, several) {
        (true, _) => Manner::Sums,
        (false, true) => Manner::One,
        (false, false) => Manner::ByOffset,
    }
}

struct Locks<'a> {
    function: &'a mut Function,
    /// Instructions of the current region after rewriting.
    out: Vec<Inst>,
    span: Span,
    places: FxHashMap<Value, Location>,
    /// For local and for global memory.
    manners: [Manner; 2],
    table: Global,
}

impl Build for Locks<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor::new(self.function, &mut self.out, self.span)
    }
}

impl Locks<'_> {
    fn region(&mut self, region: &mut Region) {
        if !has_wide(region) {
            return;
        }
        let outer = std::mem::take(&mut self.out);
        for mut inst in std::mem::take(&mut region.insts) {
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            self.span = inst.span;
            match wide(&inst).and_then(|ptr| self.places.get(&ptr).copied()) {
                Some(place) => self.operation(inst, place),
                None => self.out.push(inst),
            }
        }
        region.insts = std::mem::replace(&mut self.out, outer);
    }

    /// Rewrites one operation; its result keeps its name.
    fn operation(&mut self, inst: Inst, place: Location) {
        let manner = match place.home {
            Home::Private => return self.alone(inst, place),
            Home::Local => self.manners[0],
            Home::Global => self.manners[1],
        };
        match (manner, &inst.op) {
            (Manner::Sums, &Op::Atomic { op, value: Some(value), .. }) => {
                let value = if op == AtomicOp::Sub { self.un(UnOp::Neg, value) } else { value };
                self.sum(place, value);
                // The result is unused.
                if let [result] = inst.results[..] {
                    self.out.push(Inst { op: Op::Const(Const::Bits(0)), results: vec![result], span: self.span });
                }
            }
            _ => self.locked(inst, place, manner),
        }
    }

    /// For memory of a single work-item.
    fn alone(&mut self, inst: Inst, place: Location) {
        let ptr = self.word_at(place, 0);
        let old = self.give(&inst, Op::Load { ptr, align: 8, volatile: false });
        if let Some(new) = self.changed(&inst.op, old) {
            self.effect(Op::Store { ptr, value: new, align: 8, volatile: false });
        }
    }

    /// Adds to the lower word, and the carry to the upper word.
    fn sum(&mut self, place: Location, value: Value) {
        let (low, high) = self.words(value);
        let ptr = self.word_at(place, 0);
        let old = self.push(Type::I32, Op::Atomic { op: AtomicOp::Add, ptr, value: Some(low), ty: Scalar::I32 });
        let new = self.bin(BinOp::Add, old, low);
        let carries = self.cmp(CmpOp::ULt, new, low);
        let carry = self.cast(CastOp::ZExt, carries, Scalar::I32);
        let high = self.bin(BinOp::Add, high, carry);
        let ptr = self.word_at(place, 4);
        self.push(Type::I32, Op::Atomic { op: AtomicOp::Add, ptr, value: Some(high), ty: Scalar::I32 });
    }

    fn locked(&mut self, inst: Inst, place: Location, manner: Manner) {
        let ty = Scalar::I32;
        let table = self.push(Type::Ptr(Space::Global), Op::GlobalAddr(self.table));
        let index = self.lock_offset(place, manner);
        let lock = self.ptr_add(table, index);
        let first = self.word(0);
        let iteration = std::mem::take(&mut self.out);
        let tries = self.function.new_value(Type::I32);

        let (free, taken) = (self.word(0), self.word(1));
        let found = self.push(Type::I32, Op::CmpXchg { ptr: lock, expected: free, desired: taken, ty });
        let is_taken = self.cmp(CmpOp::Eq, found, free);
        let outside = std::mem::take(&mut self.out);
        let fence = Op::MemFence(Fence { local: place.home == Home::Local, global: true, image: false });
        self.effect(fence.clone());
        let old = self.read(place);
        if let Some(new) = self.changed(&inst.op, old) {
            let (low, high) = self.words(new);
            for (value, further) in [(low, 0), (high, 4)] {
                let ptr = self.word_at(place, further);
                self.push(Type::I32, Op::Atomic { op: AtomicOp::Xchg, ptr, value: Some(value), ty });
            }
        }
        self.effect(fence);
        let zero = self.word(0);
        let given = self.push(Type::I32, Op::Atomic { op: AtomicOp::Xchg, ptr: lock, value: Some(zero), ty });
        self.effect(Op::Yield(vec![given, old]));
        let then = Region { insts: std::mem::take(&mut self.out) };
        let (none, nothing) = (self.word(HELD), self.bits(Type::I64, 0));
        self.effect(Op::Yield(vec![none, nothing]));
        let els = Region { insts: std::mem::replace(&mut self.out, outside) };
        let (given, old) = (self.function.new_value(Type::I32), self.function.new_value(Type::I64));
        self.out.push(Inst { op: Op::If { cond: is_taken, then, els }, results: vec![given, old], span: self.span });

        let waits = self.cmp_bits(CmpOp::UGe, given, u64::from(HELD));
        self.break_unless(waits, vec![old]);
        let tries_more = self.bin_bits(BinOp::Add, tries, 1);
        let continues = self.cmp_bits(CmpOp::ULt, tries_more, MOST_TRIES);
        let outside = std::mem::take(&mut self.out);
        self.effect(Op::Yield(Vec::new()));
        let then = Region { insts: std::mem::take(&mut self.out) };
        let gave_up = self.word(GAVE_UP);
        self.effect(Op::Atomic { op: AtomicOp::Store, ptr: table, value: Some(gave_up), ty });
        let nothing = self.bits(Type::I64, 0);
        self.effect(Op::Break(vec![nothing]));
        let els = Region { insts: std::mem::replace(&mut self.out, outside) };
        self.effect(Op::If { cond: continues, then, els });
        self.effect(Op::Continue(vec![tries_more]));

        let body = Region { insts: std::mem::replace(&mut self.out, iteration) };
        self.give(&inst, Op::Loop { init: vec![first], params: vec![tries], body, unroll: Some(1) });
    }

    /// The offset of the lock in the table. Addresses are multiples of 8 bytes.
    fn lock_offset(&mut self, place: Location, manner: Manner) -> Value {
        let start = HEADER + if place.home == Home::Local { LOCKS * 4 } else { 0 };
        match (manner, place.offset) {
            (Manner::ByOffset, Some(offset)) => {
                let offset = self.cast(CastOp::Trunc, offset, Scalar::I32);
                let half = self.bin_bits(BinOp::LShr, offset, 1);
                let masked = self.bin_bits(BinOp::And, half, u64::from((LOCKS - 1) * 4));
                self.bin_bits(BinOp::Add, masked, u64::from(start))
            }
            _ => self.word(start),
        }
    }

    /// The pointer to a word of the memory.
    fn word_at(&mut self, place: Location, further: u32) -> Value {
        match place.offset {
            Some(offset) => {
                let offset = if further == 0 { offset } else { self.bin_bits(BinOp::Add, offset, u64::from(further)) };
                self.ptr_add(place.base, offset)
            }
            None if further == 0 => place.base,
            None => {
                let further = self.word(further);
                self.ptr_add(place.base, further)
            }
        }
    }

    /// Loads both words with read-modify-write operations, which see the writes of other work-items on every device.
    fn read(&mut self, place: Location) -> Value {
        let mut word = |further| {
            let (ptr, zero) = (self.word_at(place, further), self.word(0));
            let word = self.push(Type::I32, Op::Atomic { op: AtomicOp::Or, ptr, value: Some(zero), ty: Scalar::I32 });
            self.cast(CastOp::ZExt, word, Scalar::I64)
        };
        let (low, high) = (word(0), word(4));
        let high = self.bin_bits(BinOp::Shl, high, 32);
        self.bin(BinOp::Or, low, high)
    }

    fn words(&mut self, value: Value) -> (Value, Value) {
        let low = self.cast(CastOp::Trunc, value, Scalar::I32);
        let high = self.bin_bits(BinOp::LShr, value, 32);
        (low, self.cast(CastOp::Trunc, high, Scalar::I32))
    }

    /// The new value for an old value, if the operation stores one.
    fn changed(&mut self, op: &Op, old: Value) -> Option<Value> {
        match *op {
            Op::CmpXchg { expected, desired, .. } => {
                let (expected, desired) = (self.as_bits(expected), self.as_bits(desired));
                let equal = self.cmp(CmpOp::Eq, old, expected);
                Some(self.select(equal, desired, old))
            }
            Op::Atomic { op, value: Some(value), ty, .. } => {
                let float = match op {
                    AtomicOp::FAdd => Some(BinOp::FAdd),
                    AtomicOp::FMin => Some(BinOp::FMin),
                    AtomicOp::FMax => Some(BinOp::FMax),
                    _ => None,
                };
                if let Some(op) = float {
                    let number = self.push(Type::Scalar(ty), Op::Cast(CastOp::Bitcast, old));
                    let new = self.bin(op, number, value);
                    return Some(self.as_bits(new));
                }
                let value = self.as_bits(value);
                let whichever = |this: &mut Self, op| {
                    let first = this.cmp(op, old, value);
                    this.select(first, old, value)
                };
                Some(match op {
                    AtomicOp::Add => self.bin(BinOp::Add, old, value),
                    AtomicOp::Sub => self.bin(BinOp::Sub, old, value),
                    AtomicOp::And => self.bin(BinOp::And, old, value),
                    AtomicOp::Or => self.bin(BinOp::Or, old, value),
                    AtomicOp::Xor => self.bin(BinOp::Xor, old, value),
                    AtomicOp::SMin => whichever(self, CmpOp::SLt),
                    AtomicOp::SMax => whichever(self, CmpOp::SGt),
                    AtomicOp::UMin => whichever(self, CmpOp::ULt),
                    AtomicOp::UMax => whichever(self, CmpOp::UGt),
                    _ => value,
                })
            }
            _ => None,
        }
    }

    fn as_bits(&mut self, value: Value) -> Value {
        self.cast(CastOp::Bitcast, value, Scalar::I64)
    }

    /// Emits the operation that returns the old value, as the result of the original operation.
    fn give(&mut self, inst: &Inst, op: Op) -> Value {
        let result = inst.results.first().copied();
        let is_float = result.is_some_and(|result| self.function.ty(result) != Type::I64);
        let old = result.filter(|_| !is_float).unwrap_or_else(|| self.function.new_value(Type::I64));
        self.out.push(Inst { op, results: vec![old], span: self.span });
        if let Some(result) = result.filter(|_| is_float) {
            self.out.push(Inst { op: Op::Cast(CastOp::Bitcast, old), results: vec![result], span: self.span });
        }
        old
    }
}
