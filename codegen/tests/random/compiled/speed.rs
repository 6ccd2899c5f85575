//! Measures compile times.

use std::time::Instant;

use wgcl_codegen::vir::{Addr, BinOp, Builder, CastOp, CmpOp, Cond, Elem, Mem, Module, Op, Target, Terminator, TernOp, Type, UnOp, Value};

use super::check::{Bench, isas};
use super::code::Code;
use crate::generate::{self, Config};

/// Builds a function with `count` loops in sequence. Each one is the inner loop of an n-body simulation.
fn loops(count: usize, ty: Type) -> Module {
    let mut build = Builder::new("loops", vec![Type::I64, Type::I64], None);
    let base = build.value_of(Type::I64, Op::Param(0));
    let times = build.value_of(Type::I64, Op::Param(1));
    let zero = build.value_of(Type::I64, Op::Const(0));
    let floats = build.value_of(ty, Op::Const(0));
    let one = build.value_of(Type::I64, Op::Const(1));
    let mut sums = [floats; 3];
    for _ in 0..count {
        let (head, out) = (build.block(), build.block());
        let counter = build.block_param(head, Type::I64);
        let carried: Vec<Value> = sums.iter().map(|_| build.block_param(head, ty)).collect();
        build.end(Terminator::Jump(Target::new(head, [zero].into_iter().chain(sums))));
        build.enter(head);
        let nexts = body(&mut build, ty, base, counter, &carried);
        let next = build.value_of(Type::I64, Op::Bin(BinOp::Add, counter, one));
        let again = Target::new(head, [next].into_iter().chain(nexts.iter().copied()));
        build.end(Terminator::Branch(Cond::Cmp(CmpOp::ULt, next, times), again, Target::new(out, [])));
        build.enter(out);
        sums = nexts;
    }
    for (disp, sum) in (0..).step_by(64).zip(sums) {
        let addr = Addr::offset(base, disp);
        build.effect(match ty {
            Type::Scalar(elem) => Op::Store(Mem::Elem(elem), addr, sum),
            _ => Op::StoreVector { mem: Mem::Elem(Elem::F32), addr, value: sum, mask: None },
        });
    }
    build.end(Terminator::Return(None));
    Module { functions: vec![build.finish()] }
}

fn body(build: &mut Builder, ty: Type, base: Value, counter: Value, sums: &[Value]) -> [Value; 3] {
    let value = |build: &mut Builder, op| build.value_of(ty, op);
    let other: Vec<Value> = (0..4)
        .map(|part| {
            let addr = Addr { base, index: Some((counter, 4)), disp: part * 4096 };
            let scalar = build.value_of(Type::F32, Op::Load(Mem::Elem(Elem::F32), addr));
            if ty.lanes() > 1 { value(build, Op::Splat(scalar)) } else { scalar }
        })
        .collect();
    let apart: Vec<Value> = (0..3).map(|axis| value(build, Op::Bin(BinOp::FSub, other[axis], sums[axis]))).collect();
    let tiny = value(build, Op::Const(0x3586_37bd));
    let square = apart.iter().fold(tiny, |sum, axis| value(build, Op::Tern(TernOp::Fma, *axis, *axis, sum)));
    let root = value(build, Op::Un(UnOp::Sqrt, square));
    let cube = value(build, Op::Bin(BinOp::FMul, root, square));
    let force = value(build, Op::Bin(BinOp::FDiv, other[3], cube));
    let near = build.value_of(ty.compared(), Op::Cmp(CmpOp::FLt, square, tiny));
    let force = value(build, Op::Select(near, tiny, force));
    let whole = build.value_of(ty.with_elem(Elem::I32), Op::Cast(CastOp::FToS, force));
    let whole = value(build, Op::Cast(CastOp::SToF, whole));
    let force = value(build, Op::Bin(BinOp::FAdd, force, whole));
    std::array::from_fn(|axis| value(build, Op::Tern(TernOp::Fma, apart[axis], force, sums[axis])))
}

fn instructions(module: &Module) -> usize {
    module.functions.iter().flat_map(|function| &function.blocks).map(|block| block.insts.len() + 1).sum()
}

/// The fastest of several compilations, in microseconds.
fn time(module: &Module, isa: wgcl_codegen::Isa) -> f64 {
    let times = if instructions(module) > 20_000 { 2 } else { 5 };
    let all = (0..times).map(|_| {
        let start = Instant::now();
        drop(Code::new(module, isa).unwrap());
        start.elapsed().as_secs_f64() * 1e6
    });
    all.fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "measures time only"]
fn compile_times() {
    let bench = Bench::new();
    for isa in isas() {
        let lanes = (isa.caps().vector_bytes / 4) as u8;
        let ty = if lanes > 0 { Type::Vector(Elem::F32, lanes) } else { Type::F32 };
        for count in [30, 300, 3000] {
            let module = loops(count, ty);
            let (size, taken) = (instructions(&module), time(&module, isa));
            println!("{isa:?}: {count} loops, {size} instructions: {:.2} ms, {:.3} µs per instruction", taken / 1e3, taken / size as f64);
        }
        for (size, depth) in [(1000, 0), (1000, 3), (5000, 3)] {
            let config = Config { isa, helpers: bench.helpers(), size, depth };
            let all = (0..20).map(|seed| generate::module(seed, config));
            let (sum, taken) = all.fold((0, 0.0), |(sum, taken), module| (sum + instructions(&module), taken + time(&module, isa)));
            println!("{isa:?}: random, size {size}, depth {depth}: {sum} instructions, {:.3} µs each", taken / sum as f64);
        }
    }
}
