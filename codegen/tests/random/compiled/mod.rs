//! Compares machine code with the evaluator.

mod check;
mod code;
mod machine;
#[cfg_attr(target_arch = "x86_64", path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod processor;
mod shrink;
mod speed;
mod threads;

use wgcl_codegen::Isa;
use wgcl_codegen::vir::{Addr, Builder, Cond, Elem, Mem, Module, Op, Target, Terminator, Type};

use crate::generate::{self, Config};
use crate::{program, table};
use check::{Bench, Failure, Subject, isas};

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The number of failures at which the test stops.
const MAX_FAILURES: usize = 200;

/// The number of programs that are generated before they run for all instruction sets.
const PROGRAMS_PER_BATCH: u64 = 16;

/// Shrinks a failing program, and describes the failure.
fn explain(bench: &Bench, module: &Module, isa: Isa, seed: u64, failure: &Failure) -> String {
    let fails = |module: &Module| bench.check(module, isa, seed).is_err_and(|other| other.is_like(failure));
    let small = shrink::shrink(module, &fails);
    let failure = bench.check(&small, isa, seed).err().unwrap_or_else(|| failure.clone());
    format!("seed {seed} for {isa:?}: {failure}\n{small}")
}

/// `WGCL_FUZZ_SEED` is the seed of the first program, and `WGCL_FUZZ_COUNT` the number of programs.
#[test]
fn random_programs_equal_the_evaluator() {
    let (first, count) = (from_env("WGCL_FUZZ_SEED").unwrap_or(1), from_env("WGCL_FUZZ_COUNT").unwrap_or(1000));
    let (bench, isas) = (Bench::new(), isas());
    let (mut runs, mut ran, mut failures) = (0, 0, Vec::new());
    for start in (first..first + count).step_by(PROGRAMS_PER_BATCH as usize) {
        let programs: Vec<(u64, Module, Isa)> = (start..(start + PROGRAMS_PER_BATCH).min(first + count))
            .map(|seed| program(seed, bench.helpers(), &isas))
            .zip(start..)
            .map(|((module, least), seed)| (seed, module, least))
            .collect();
        // Each program runs for all instruction sets of this processor that have its operations.
        let subjects: Vec<Subject<'_>> = programs
            .iter()
            .flat_map(|(seed, module, least)| {
                isas.iter().filter(move |isa| isa.includes(*least)).map(move |&isa| Subject { module, isa, seed: *seed })
            })
            .collect();
        for (result, Subject { module, isa, seed }) in bench.check_all(&subjects).into_iter().zip(subjects) {
            runs += 1;
            match result {
                Ok(has_result) => ran += u64::from(has_result),
                Err(failure) => failures.push((module.to_string().len(), seed, module.clone(), isa, failure)),
            }
        }
        if failures.len() >= MAX_FAILURES {
            break;
        }
    }
    println!("{ran} of {runs} runs returned");
    // The shortest program is the easiest to understand.
    if let Some((_, seed, module, isa, failure)) = failures.iter().min_by_key(|failure| failure.0) {
        let seeds: Vec<u64> = failures.iter().map(|failure| failure.1).take(20).collect();
        panic!("{} of {runs} runs fail, seeds {seeds:?}; {}", failures.len(), explain(&bench, module, *isa, *seed, failure));
    }
    assert!(ran * 10 >= runs * 9, "{ran} of {runs} runs returned");
}

/// Large functions are compiled with another register allocator.
#[test]
fn large_programs_equal_the_evaluator() {
    let (bench, first) = (Bench::new(), from_env("WGCL_FUZZ_SEED").unwrap_or(1));
    let count = from_env("WGCL_FUZZ_COUNT").map_or(1, |count| count.div_ceil(500));
    for isa in isas() {
        let (mut seed, mut ran) = (first, 0);
        // Some programs do not return within the limit of steps. At least one program of each set must return.
        while seed < first + count || ran == 0 && seed < first + count + 10 {
            let module = generate::module(seed, Config { isa, helpers: bench.helpers(), size: 30_000, depth: 2 });
            match bench.check(&module, isa, seed) {
                Ok(has_result) => ran += u64::from(has_result),
                Err(failure) => panic!("seed {seed} for {isa:?}: {failure}"),
            }
            seed += 1;
        }
        assert!(ran > 0, "no program returned for {isa:?}");
    }
}

/// Tests a branch over more than a mebibyte of code. The constants of the function are after this code.
#[test]
fn distant_branches_and_constants_work() {
    const STORES: usize = 300_000;
    let bench = Bench::new();
    if let Some(isa) = isas().pop() {
        let mut build = Builder::new("distant", vec![Type::I64, Type::I32], None);
        let (base, way) = (build.value_of(Type::I64, Op::Param(0)), build.value_of(Type::I32, Op::Param(1)));
        let (long, end) = (build.block(), build.block());
        build.end(Terminator::Branch(Cond::NonZero(way), Target::new(end, []), Target::new(long, [])));
        build.enter(long);
        for _ in 0..STORES {
            build.effect(Op::Store(Mem::Elem(Elem::I32), Addr::of(base), way));
        }
        build.end(Terminator::Jump(Target::new(end, [])));
        build.enter(end);
        for (at, (elem, bits)) in (1..).zip([(Elem::F32, 0x4049_0fdb), (Elem::F64, 0x4009_21fb_5444_2d18)]) {
            let number = build.value_of(Type::Scalar(elem), Op::Const(bits));
            build.effect(Op::Store(Mem::Elem(elem), Addr::offset(base, at * 8), number));
        }
        if isa.caps().vector_bytes > 0 {
            let lanes = build.value_of(Type::Vector(Elem::I32, 4), Op::Lanes(Box::new([1, 22, 333, 4444])));
            build.effect(Op::StoreVector { mem: Mem::Elem(Elem::I32), addr: Addr::offset(base, 32), value: lanes, mask: None });
        }
        build.end(Terminator::Return(None));
        let module = Module { functions: vec![build.finish()] };
        assert!(bench.check(&module, isa, 1).unwrap_or_else(|failure| panic!("{isa:?}: {failure}")), "{isa:?}");
    }
}

/// Runs each case with the memory contents of one seed. If `WGCL_FUZZ_COUNT` is set, runs each case with one seed per
/// thousand of this number.
#[test]
fn each_operation_equals_the_evaluator() {
    let bench = Bench::new();
    let (first, count) = (from_env("WGCL_FUZZ_SEED").unwrap_or(1), from_env("WGCL_FUZZ_COUNT").map_or(1, |count| count.div_ceil(1000)));
    let mut failures = Vec::new();
    for isa in isas() {
        let cases = table::cases(isa);
        for seed in first..first + count {
            let subjects: Vec<Subject<'_>> = cases.iter().map(|case| Subject { module: &case.module, isa, seed }).collect();
            for (result, case) in bench.check_all(&subjects).into_iter().zip(&cases) {
                match result {
                    Ok(true) => {}
                    Ok(false) => failures.push(format!("{isa:?}: {}: not specified", case.name)),
                    Err(failure) => failures.push(format!("{isa:?}: {}: {failure}", case.name)),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} operations fail:\n{}", failures.len(), failures.join("\n"));
}
