//! Tests that atomic operations are atomic.

use std::sync::atomic::{AtomicU64, Ordering};

use wgcl_codegen::vir::{Addr, BinOp, Builder, CmpOp, Cond, Elem, Mem, Module, Op, Target, Terminator, Type, Value};

use super::check::isas;
use super::code::Code;

/// The number of operations per thread. It is large enough that the threads overlap.
const ITERATIONS: u64 = 1_000_000;
/// The number of times that each thread acquires the lock. It is small, because the owner of the lock may be
/// descheduled.
const LOCKS: u64 = 20_000;
/// The number of iterations of the fence test.
const PAIRS: u64 = 5_000;
const THREADS: usize = 2;

/// Builds a function that repeats an operation on a number at an address.
fn repeat(elem: Elem, times: u64, operation: impl Fn(&mut Builder, Value, Value)) -> Module {
    let ty = Type::Scalar(elem);
    let mut build = Builder::new("repeat", vec![Type::I64], None);
    let place = build.value_of(Type::I64, Op::Param(0));
    let zero = build.value_of(Type::I64, Op::Const(0));
    let (head, out) = (build.block(), build.block());
    let counter = build.block_param(head, Type::I64);
    build.end(Terminator::Jump(Target::new(head, [zero])));
    build.enter(head);
    let one = build.value_of(ty, Op::Const(1));
    operation(&mut build, place, one);
    let step = build.value_of(Type::I64, Op::Const(1));
    let next = build.value_of(Type::I64, Op::Bin(BinOp::Add, counter, step));
    let times = build.value_of(Type::I64, Op::Const(times));
    build.end(Terminator::Branch(Cond::Cmp(CmpOp::ULt, next, times), Target::new(head, [next]), Target::new(out, [])));
    build.enter(out);
    build.end(Terminator::Return(None));
    Module { functions: vec![build.finish()] }
}

/// Adds with compare-and-exchange. Repeats until no other thread has changed the number between the load and the
/// exchange.
fn retried(build: &mut Builder, elem: Elem, place: Value, one: Value) {
    let (ty, mem) = (Type::Scalar(elem), Mem::Elem(elem));
    let first = build.value_of(ty, Op::Load(mem, Addr::of(place)));
    let (again, done) = (build.block(), build.block());
    let old = build.block_param(again, ty);
    build.end(Terminator::Jump(Target::new(again, [first])));
    build.enter(again);
    let new = build.value_of(ty, Op::Bin(BinOp::Add, old, one));
    let found = build.value_of(ty, Op::AtomicCompareExchange(mem, Addr::of(place), old, new));
    build.end(Terminator::Branch(Cond::Cmp(CmpOp::Eq, found, old), Target::new(done, []), Target::new(again, [found])));
    build.enter(done);
}

/// Adds with a load and a store under a lock. The lock is eight bytes after the number.
fn locked(build: &mut Builder, elem: Elem, place: Value, one: Value) {
    let (ty, mem) = (Type::Scalar(elem), Mem::Elem(elem));
    let (wait, held) = (build.block(), build.block());
    build.end(Terminator::Jump(Target::new(wait, [])));
    build.enter(wait);
    let taken = build.value_of(ty, Op::AtomicExchange(mem, Addr::offset(place, 8), one));
    let zero = build.value_of(ty, Op::Const(0));
    build.end(Terminator::Branch(Cond::Cmp(CmpOp::Eq, taken, zero), Target::new(held, []), Target::new(wait, [])));
    build.enter(held);
    let old = build.value_of(ty, Op::Load(mem, Addr::of(place)));
    let new = build.value_of(ty, Op::Bin(BinOp::Add, old, one));
    build.effect(Op::Store(mem, Addr::of(place), new));
    build.effect(Op::Store(mem, Addr::offset(place, 8), zero));
}

/// Spins until `all` threads have arrived, so that they start at the same time.
fn wait_for_all(arrived: &AtomicU64, all: u64) {
    arrived.fetch_add(1, Ordering::SeqCst);
    let mut waited = 0;
    while arrived.load(Ordering::SeqCst) < all {
        waited += 1;
        if waited % 1000 == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
    }
}

/// Runs code on all threads at the same time. Returns the final number.
fn run(code: &Code) -> u64 {
    let numbers = [const { AtomicU64::new(0) }; 2];
    // SAFETY: the code was compiled from a function with one parameter: the address of memory that all threads may
    // change concurrently.
    let function: extern "C" fn(*const AtomicU64) = unsafe { std::mem::transmute(code.entry()) };
    let start = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                wait_for_all(&start, THREADS as u64);
                function(numbers.as_ptr());
            });
        }
    });
    numbers[0].load(Ordering::SeqCst)
}

#[test]
fn atomic_operations_do_not_interleave() {
    for isa in isas() {
        for elem in [Elem::I32, Elem::I64] {
            let mem = Mem::Elem(elem);
            let added = repeat(elem, ITERATIONS, |build, place, one| {
                let _ = build.value_of(Type::Scalar(elem), Op::AtomicAdd(mem, Addr::of(place), one));
            });
            // This function uses the result of the atomic addition. The function above does not.
            let fetched = repeat(elem, ITERATIONS, |build, place, one| {
                let old = build.value_of(Type::Scalar(elem), Op::AtomicAdd(mem, Addr::of(place), one));
                build.effect(Op::Store(mem, Addr::offset(place, 8), old));
            });
            let all = [
                ("add", ITERATIONS, added),
                ("add and fetch", ITERATIONS, fetched),
                ("compare and exchange", ITERATIONS, repeat(elem, ITERATIONS, |build, place, one| retried(build, elem, place, one))),
                ("exchange", LOCKS, repeat(elem, LOCKS, |build, place, one| locked(build, elem, place, one))),
            ];
            for (name, times, module) in all {
                let code = Code::new(&module, isa).unwrap();
                assert_eq!(run(&code), THREADS as u64 * times, "{name} of {elem} for {isa:?}");
            }
        }
    }
}

/// Stores 1 to a flag. Returns the flag of the other thread: 0 if this thread is first. The fence between the two
/// accesses ensures that at most one thread is first.
fn first_one() -> Module {
    let mut build = Builder::new("first", vec![Type::I64, Type::I64], Some(Type::I32));
    let (own, other) = (build.value_of(Type::I64, Op::Param(0)), build.value_of(Type::I64, Op::Param(1)));
    let one = build.value_of(Type::I32, Op::Const(1));
    build.effect(Op::Store(Mem::Elem(Elem::I32), Addr::of(own), one));
    build.effect(Op::Fence);
    let found = build.value_of(Type::I32, Op::Load(Mem::Elem(Elem::I32), Addr::of(other)));
    build.end(Terminator::Return(Some(found)));
    Module { functions: vec![build.finish()] }
}

#[test]
fn a_fence_orders_a_store_and_a_load() {
    #[repr(align(64))]
    struct Line(AtomicU64);
    let module = first_one();
    for isa in isas() {
        let code = Code::new(&module, isa).unwrap();
        // SAFETY: the code was compiled from a function with two parameters: addresses of memory that both threads may
        // change concurrently.
        let function: extern "C" fn(*const AtomicU64, *const AtomicU64) -> u32 = unsafe { std::mem::transmute(code.entry()) };
        let lines: Vec<[Line; 2]> = (0..PAIRS).map(|_| [Line(AtomicU64::new(0)), Line(AtomicU64::new(0))]).collect();
        let ready = AtomicU64::new(0);
        // In each iteration, one thread waits for the other, so that they overlap.
        let run_thread = |own: usize| -> Vec<u32> {
            let iteration = |(number, pair): (u64, &[Line; 2])| {
                wait_for_all(&ready, 2 * number + 2);
                function(&raw const pair[own].0, &raw const pair[1 - own].0)
            };
            (0..).zip(&lines).map(iteration).collect()
        };
        let (one, other) = std::thread::scope(|scope| {
            let one = scope.spawn(|| run_thread(0));
            (run_thread(1), one.join().unwrap())
        });
        let both = one.iter().zip(&other).filter(|found| *found == (&0, &0)).count();
        assert_eq!(both, 0, "{both} of {PAIRS} pairs were both first, for {isa:?}");
    }
}
