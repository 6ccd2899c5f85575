//! Translates programs for instruction sets of other processors. In builds with assertions, the code generator decodes
//! each instruction and compares it with the intended one.

use wgcl_codegen::vir::{Op, Type};
use wgcl_codegen::{Isa, compile};

use crate::generate::{self, Helper, Wants};
use crate::{program, table};

const ISAS: [Isa; 2] = [Isa::ARMV8, Isa::ARMV8_2];

/// An address that is never called.
const HELPERS: [Helper; 1] = [Helper { address: 0x1234_5678_9abc, params: &[Type::I64, Type::I32], returns: Some(Type::I64) }];

#[test]
fn each_operation_has_code_on_aarch64() {
    let mut failures = Vec::new();
    for isa in ISAS {
        for case in table::cases(isa) {
            if let Err(error) = compile(&case.module, isa) {
                failures.push(format!("{isa:?}: {}: {error}", case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} operations fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn random_programs_have_code_on_aarch64() {
    for seed in 0..300 {
        let (module, isa) = program(seed, &HELPERS, &ISAS);
        compile(&module, isa).unwrap_or_else(|error| panic!("seed {seed} for {isa:?}: {error}\n{module}"));
    }
}

/// Constants of large modules are out of the reach of literal loads.
#[test]
fn large_modules_have_code_on_aarch64() {
    let module = generate::module(1, Wants { isa: Isa::ARMV8, helpers: &HELPERS, size: 200_000, depth: 2 });
    let code = compile(&module, Isa::ARMV8).unwrap();
    let constants = module.functions[0].blocks.iter().flat_map(|block| &block.insts).filter(|inst| matches!(inst.op, Op::Lanes(_)));
    assert!(constants.count() > 0 && code.bytes.len() > 1 << 20, "{} bytes", code.bytes.len());
}
