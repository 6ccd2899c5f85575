//! Emulates 64-bit atomic operations with two words and a lock, for devices without them
//! ([`Shaders::int64_atomics`](crate::target::Shaders::int64_atomics)).
//!
//! The locks are words of a table that all work-items share ([`TABLE`]). The address selects the lock. A work-item
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
//!                                      if %tries == MAX_TRIES { store the table's first word, 2; break 0 }
//!                                    }
//! ```
//! Assumptions and reasons:
//!
//! * Work-items of a subgroup may execute in lock-step, so no work-item may wait for another *within* an iteration. The
//!   iteration ends for all of them together, and the owner has released the lock by then.
//! * A compiler that knows that the branch of the owner leaves the loop could move the operation after the loop. The
//!   owner would then hold the lock while other work-items are still in the loop. The loop therefore exits on the
//!   result of the release, which no compiler knows. The result is 1, or 0 in lanes without a work-item: lavapipe
//!   executes no atomic operation for these lanes, but the loop waits for them.
//! * The fences order the accesses to the two words, which are atomic. The target language needs a fence that is not a
//!   barrier. SPIR-V, GLSL and HLSL have such a fence. WGSL, and MSL as naga writes it, do not.
//! * The owner of a lock must make progress independently of other work-items, which no language guarantees. Without
//!   progress, the launch fails after [`MAX_TRIES`] iterations instead of hanging.
//! * Launches that share written memory never overlap on these devices, so an address only needs the same lock within
//!   one launch.
//!
//! Additions and subtractions whose old values are not used need no lock, because the carry can be added later
//! ([`Method::LockFree`]). The kernel must not have other 64-bit atomics on the same memory (global or local).

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

/// The name of the table's variable. It is not an identifier, so that no source can declare it.
pub(crate) const TABLE: &str = "(locks)";

/// Size in bytes of the table before the first lock. The first word reports a failure ([`GAVE_UP`]), and the second
/// word is zero. `emit::loop_watchdog` uses these words too.
const HEADER: u32 = 16;

/// Number of locks for global memory, a power of two. The same number of locks for local memory follows.
const LOCKS: u32 = 1024;

/// Size of the table in bytes.
pub const TABLE_BYTES: u32 = HEADER + 2 * LOCKS * 4;

/// The value of the table's first word after a work-item has waited too long for a lock.
pub const GAVE_UP: u32 = 2;

/// The value of `%given` if the lock was not acquired. The words of locks are 0 or 1.
const NOT_ACQUIRED: u32 = 2;

/// Number of iterations after which a work-item gives up. These iterations take a second or more. On a CPU, the
/// operating system may suspend the thread that owns the lock, and the work-item must not give up before the thread
/// continues.
const MAX_TRIES: u64 = 1 << 26;

/// Number of reads of a lock after it was not acquired, if the driver limits the iterations of loops. The iterations
/// must take longer than the operating system suspends the thread that owns the lock. Measured on lavapipe 22.3 with
/// 20,000 work-items, one lock, 2 processors and 3 other processes: without these reads, 5 of 150 launches fail, and
/// with them none.
const POLLS: u32 = 16;

/// Whether a variable is the table.
pub(crate) fn is_table(global: &GlobalVar) -> bool {
    global.name == TABLE
}

/// The address of an atomic operation.
#[derive(Clone, Copy, Debug)]
struct Location {
    root: Root,
    /// The pointer to the root.
    base: Value,
    offset: Option<Value>,
    memory: Memory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Private,
    Local,
    Global,
}

/// The implementation of the atomic operations on one kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// The offset of the address selects the lock.
    LockByOffset,
    /// One lock for all addresses, because the same address may have different offsets.
    SingleLock,
    /// No locks: all operations are additions and subtractions whose old values are not used.
    LockFree,
}

fn run(module: &mut Module, cx: &Cx<'_>) -> Result<bool, PassError> {
    if !module.functions.iter().any(|function| has_atomic64(&function.body)) {
        return Ok(false);
    }
    let locations = module.functions.iter().map(|function| locations(function, module)).collect::<Result<Vec<_>, _>>()?;
    let method = |memory| method(module, &locations, memory, cx.key.binding.distinct);
    let methods = [method(Memory::Local), method(Memory::Global)];
    let polls = if cx.target.shaders.defects.max_loop_iterations.is_some() { POLLS } else { 0 };
    let table = Global(module.globals.len() as u32);
    let init = None;
    module.globals.push(GlobalVar { name: TABLE.to_owned(), space: Space::Global, size: TABLE_BYTES, align: 16, init, relocs: Vec::new() });
    for (function, locations) in module.functions.iter_mut().zip(locations) {
        if !locations.is_empty() {
            let mut body = std::mem::take(&mut function.body);
            Locks { function, out: Vec::new(), span: Span::default(), locations, methods, table, polls }.region(&mut body);
            function.body = body;
        }
    }
    Ok(true)
}

/// Returns the pointer operand of a 64-bit atomic operation, or `None` for other instructions.
fn atomic64_pointer(inst: &Inst) -> Option<Value> {
    match inst.op {
        Op::Atomic { ptr, ty: Scalar::I64 | Scalar::F64, .. } | Op::CmpXchg { ptr, ty: Scalar::I64 | Scalar::F64, .. } => Some(ptr),
        _ => None,
    }
}

fn has_atomic64(body: &Region) -> bool {
    let mut found = false;
    body.walk(&mut |inst| found |= atomic64_pointer(inst).is_some());
    found
}

/// Returns the addresses of the 64-bit atomic operations of a function, by pointer operand.
fn locations(function: &Function, module: &Module) -> Result<FxHashMap<Value, Location>, PassError> {
    let definitions = Definitions::of(function);
    let mut pointers = Vec::new();
    function.body.walk(&mut |inst| pointers.extend(atomic64_pointer(inst)));
    let location = |&pointer: &Value| {
        let (root, offset) = definitions.pointer(pointer).ok_or_else(|| PassError::Internal {
            function: function.name.clone(),
            pass: PASS.name,
            message: format!("{pointer} has no root"),
        })?;
        let base = match definitions.get(pointer) {
            Some(&Op::PtrAdd(base, _)) => base,
            _ => pointer,
        };
        let memory = match root {
            Root::Var(..) => Memory::Private,
            Root::Global(global) if module.globals.get(global.index()).is_some_and(|global| global.space == Space::Local) => Memory::Local,
            Root::Param(index) => match function.kernel.as_ref().and_then(|kernel| kernel.params.get(index as usize)) {
                Some(KernelParam::Local { .. }) => Memory::Local,
                _ => Memory::Global,
            },
            Root::Global(_) | Root::Address(_) => Memory::Global,
        };
        Ok((pointer, Location { root, base, offset, memory }))
    };
    pointers.iter().map(location).collect()
}

/// Chooses the implementation of the operations on one kind of memory.
fn method(module: &Module, locations: &[FxHashMap<Value, Location>], memory: Memory, distinct: bool) -> Method {
    let mut roots = Vec::new();
    let mut sums = true;
    for (function, locations) in module.functions.iter().zip(locations) {
        let uses = Uses::of(function);
        function.body.walk(&mut |inst| {
            let Some(location) = atomic64_pointer(inst).and_then(|ptr| locations.get(&ptr)).filter(|location| location.memory == memory)
            else {
                return;
            };
            if !roots.contains(&location.root) {
                roots.push(location.root);
            }
            let is_sum = matches!(inst.op, Op::Atomic { op: AtomicOp::Add | AtomicOp::Sub, ty: Scalar::I64, .. });
            sums &= is_sum && inst.results.iter().all(|&result| uses.count(result) == 0);
        });
    }
    // An offset can select the lock only if each address has one offset. Several buffers without `distinct`, for
    // example merged and split bindings, may share an address at different offsets. A device address has no offset.
    let several = roots.len() > 1 && memory == Memory::Global && !distinct || roots.iter().any(|root| matches!(root, Root::Address(_)));
    match (sums, several) {
        (true, _) => Method::LockFree,
        (false, true) => Method::SingleLock,
        (false, false) => Method::LockByOffset,
    }
}

struct Locks<'a> {
    function: &'a mut Function,
    /// Instructions of the current region after rewriting.
    out: Vec<Inst>,
    span: Span,
    locations: FxHashMap<Value, Location>,
    /// The methods for local and for global memory.
    methods: [Method; 2],
    table: Global,
    /// Number of reads of a lock after it was not acquired.
    polls: u32,
}

impl Build for Locks<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor::new(self.function, &mut self.out, self.span)
    }
}

impl Locks<'_> {
    fn region(&mut self, region: &mut Region) {
        if !has_atomic64(region) {
            return;
        }
        let outer = std::mem::take(&mut self.out);
        for mut inst in std::mem::take(&mut region.insts) {
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            self.span = inst.span;
            match atomic64_pointer(&inst).and_then(|ptr| self.locations.get(&ptr).copied()) {
                Some(location) => self.operation(inst, location),
                None => self.out.push(inst),
            }
        }
        region.insts = std::mem::replace(&mut self.out, outer);
    }

    /// Rewrites one operation. The new code defines the same result value.
    fn operation(&mut self, inst: Inst, location: Location) {
        let method = match location.memory {
            Memory::Private => return self.private_operation(inst, location),
            Memory::Local => self.methods[0],
            Memory::Global => self.methods[1],
        };
        match (method, &inst.op) {
            (Method::LockFree, &Op::Atomic { op, value: Some(value), .. }) => {
                let value = if op == AtomicOp::Sub { self.un(UnOp::Neg, value) } else { value };
                self.sum(location, value);
                // The result is unused.
                if let [result] = inst.results[..] {
                    self.out.push(Inst { op: Op::Const(Const::Bits(0)), results: vec![result], span: self.span });
                }
            }
            _ => self.locked(inst, location, method),
        }
    }

    /// Emits an operation on private memory, which needs no atomicity.
    fn private_operation(&mut self, inst: Inst, location: Location) {
        let ptr = self.word_at(location, 0);
        let old = self.define_result(&inst, Op::Load { ptr, align: 8, volatile: false });
        if let Some(new) = self.stored_value(&inst.op, old) {
            self.effect(Op::Store { ptr, value: new, align: 8, volatile: false });
        }
    }

    /// Adds the lower word, and then the upper word and the carry.
    fn sum(&mut self, location: Location, value: Value) {
        let (low, high) = self.words(value);
        let ptr = self.word_at(location, 0);
        let old = self.push(Type::I32, Op::Atomic { op: AtomicOp::Add, ptr, value: Some(low), ty: Scalar::I32 });
        let new = self.bin(BinOp::Add, old, low);
        let carries = self.cmp(CmpOp::ULt, new, low);
        let carry = self.cast(CastOp::ZExt, carries, Scalar::I32);
        let high = self.bin(BinOp::Add, high, carry);
        let ptr = self.word_at(location, 4);
        self.push(Type::I32, Op::Atomic { op: AtomicOp::Add, ptr, value: Some(high), ty: Scalar::I32 });
    }

    /// Emits the loop of the module documentation.
    fn locked(&mut self, inst: Inst, location: Location, method: Method) {
        let ty = Scalar::I32;
        let table = self.push(Type::Ptr(Space::Global), Op::GlobalAddr(self.table));
        let index = self.lock_offset(location, method);
        let lock = self.ptr_add(table, index);
        let first = self.word(0);
        let iteration = std::mem::take(&mut self.out);
        let tries = self.function.new_value(Type::I32);

        let (free, taken) = (self.word(0), self.word(1));
        let found = self.push(Type::I32, Op::CmpXchg { ptr: lock, expected: free, desired: taken, ty });
        let is_taken = self.cmp(CmpOp::Eq, found, free);
        let outside = std::mem::take(&mut self.out);
        let fence = Op::MemFence(Fence { local: location.memory == Memory::Local, global: true, image: false });
        self.effect(fence.clone());
        let old = self.read(location);
        if let Some(new) = self.stored_value(&inst.op, old) {
            let (low, high) = self.words(new);
            for (value, further) in [(low, 0), (high, 4)] {
                let ptr = self.word_at(location, further);
                self.push(Type::I32, Op::Atomic { op: AtomicOp::Xchg, ptr, value: Some(value), ty });
            }
        }
        self.effect(fence);
        let zero = self.word(0);
        let given = self.push(Type::I32, Op::Atomic { op: AtomicOp::Xchg, ptr: lock, value: Some(zero), ty });
        self.effect(Op::Yield(vec![given, old]));
        let then = Region { insts: std::mem::take(&mut self.out) };
        for _ in 0..self.polls {
            let zero = self.word(0);
            self.push(Type::I32, Op::Atomic { op: AtomicOp::Or, ptr: lock, value: Some(zero), ty });
        }
        let (none, nothing) = (self.word(NOT_ACQUIRED), self.bits(Type::I64, 0));
        self.effect(Op::Yield(vec![none, nothing]));
        let els = Region { insts: std::mem::replace(&mut self.out, outside) };
        let (given, old) = (self.function.new_value(Type::I32), self.function.new_value(Type::I64));
        self.out.push(Inst { op: Op::If { cond: is_taken, then, els }, results: vec![given, old], span: self.span });

        let waits = self.cmp_bits(CmpOp::UGe, given, u64::from(NOT_ACQUIRED));
        self.break_unless(waits, vec![old]);
        let tries_more = self.bin_bits(BinOp::Add, tries, 1);
        let continues = self.cmp_bits(CmpOp::ULt, tries_more, MAX_TRIES);
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
        self.define_result(&inst, Op::Loop { init: vec![first], params: vec![tries], body, unroll: Some(1) });
    }

    /// Returns the offset of the lock in the table, in bytes. Addresses of 64-bit atomics are multiples of 8 bytes.
    fn lock_offset(&mut self, location: Location, method: Method) -> Value {
        let start = HEADER + if location.memory == Memory::Local { LOCKS * 4 } else { 0 };
        match (method, location.offset) {
            (Method::LockByOffset, Some(offset)) => {
                let offset = self.cast(CastOp::Trunc, offset, Scalar::I32);
                let half = self.bin_bits(BinOp::LShr, offset, 1);
                let masked = self.bin_bits(BinOp::And, half, u64::from((LOCKS - 1) * 4));
                self.bin_bits(BinOp::Add, masked, u64::from(start))
            }
            _ => self.word(start),
        }
    }

    /// Returns the pointer to the word `further` bytes after the address.
    fn word_at(&mut self, location: Location, further: u32) -> Value {
        match location.offset {
            Some(offset) => {
                let offset = if further == 0 { offset } else { self.bin_bits(BinOp::Add, offset, u64::from(further)) };
                self.ptr_add(location.base, offset)
            }
            None if further == 0 => location.base,
            None => {
                let further = self.word(further);
                self.ptr_add(location.base, further)
            }
        }
    }

    /// Loads both words with read-modify-write operations, which see the writes of other work-items on every device.
    fn read(&mut self, location: Location) -> Value {
        let mut word = |further| {
            let (ptr, zero) = (self.word_at(location, further), self.word(0));
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

    /// Emits the value that an operation stores, given the old value. Returns `None` if the operation does not store.
    fn stored_value(&mut self, op: &Op, old: Value) -> Option<Value> {
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
                let select_by = |this: &mut Self, op| {
                    let first = this.cmp(op, old, value);
                    this.select(first, old, value)
                };
                Some(match op {
                    AtomicOp::Add => self.bin(BinOp::Add, old, value),
                    AtomicOp::Sub => self.bin(BinOp::Sub, old, value),
                    AtomicOp::And => self.bin(BinOp::And, old, value),
                    AtomicOp::Or => self.bin(BinOp::Or, old, value),
                    AtomicOp::Xor => self.bin(BinOp::Xor, old, value),
                    AtomicOp::SMin => select_by(self, CmpOp::SLt),
                    AtomicOp::SMax => select_by(self, CmpOp::SGt),
                    AtomicOp::UMin => select_by(self, CmpOp::ULt),
                    AtomicOp::UMax => select_by(self, CmpOp::UGt),
                    _ => value,
                })
            }
            _ => None,
        }
    }

    fn as_bits(&mut self, value: Value) -> Value {
        self.cast(CastOp::Bitcast, value, Scalar::I64)
    }

    /// Emits `op`, which computes the old value, and defines the result of the original instruction `inst`.
    fn define_result(&mut self, inst: &Inst, op: Op) -> Value {
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
