//! Compares machine code with the evaluator, for each operation separately and for random programs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix))]
mod compiled;
mod generate;
#[path = "../support/mod.rs"]
mod support;
mod table;
mod translated;

use generate::{Config, Helper};
use support::{Fault, Machine, Memory, Random};
use wgcl_codegen::Isa;
use wgcl_codegen::vir::{Func, Module, verify};

/// The random program of a seed, and the instruction set that it is generated for.
fn program(seed: u64, helpers: &[Helper], isas: &[Isa]) -> (Module, Isa) {
    let mut random = Random::new(seed);
    let isa = random.of(isas);
    let size = random.of(&[8, 30, 30, 100, 100, 300]);
    let depth = random.of(&[0, 1, 2, 3]);
    (generate::module(random.next(), Config { isa, helpers, size, depth }), isa)
}

/// Checks that the generated programs are valid, and that no address or branch depends on unspecified values.
#[test]
fn random_programs_are_valid_and_specified() {
    let isas = [Isa::SSE42, Isa::AVX2, Isa::AVX512, Isa::ARMV8, Isa::SVE_256];
    let evaluated = |module: &Module, seed: u64| {
        verify(module).unwrap_or_else(|error| panic!("{seed}: {error}\n{module}"));
        let base = 0x7000_0000_0000;
        let mut memory = Memory::new(base, &generate::memory(seed));
        let mut random = Random::new(seed);
        let args = [base, random.next(), random.next(), random.next(), random.next(), random.next()];
        let result = Machine::new(module, &mut memory, &|_, _| None, 100_000).call(Func(0), &args);
        result.map(|_| memory.unknown())
    };
    let (mut ran, mut unknown) = (0, 0);
    for seed in 0..1000 {
        let (module, _) = program(seed, &[], &isas);
        match evaluated(&module, seed) {
            Ok(bytes) => (ran, unknown) = (ran + 1, unknown + bytes),
            Err(Fault::Endless) => {}
            Err(fault) => panic!("{seed}: {fault}\n{module}"),
        }
    }
    assert!(ran > 950, "{ran} of 1000 programs returned");
    assert!(unknown < ran * 64, "{unknown} bytes of {ran} programs are not specified");
    for case in isas.into_iter().flat_map(table::cases) {
        let result = evaluated(&case.module, 0);
        assert!(result.is_ok(), "{}: {result:?}", case.name);
    }
}
