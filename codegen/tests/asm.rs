//! Compares the machine code of small functions with the expected assembly. The functions are in `tests/asm/NAME.vir`.
//! `NAME.asm` has the expected assembly for each instruction set, or the operation that the instruction set lacks.
//!
//! `UPDATE_EXPECT=1` rewrites the expected files. Review the difference before you commit it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use wgcl_codegen::vir::{Module, read};
use wgcl_codegen::{CodegenError, Isa, compile, disassemble};

const ISAS: [(Isa, &str); 8] = [
    (Isa::AVX512, "avx512"),
    (Isa::AVX2, "avx2"),
    (Isa::SSE42, "sse4.2"),
    (Isa::ARMV8_2, "armv8.2"),
    (Isa::ARMV8, "armv8"),
    (Isa::SVE_128, "sve-128"),
    (Isa::SVE_256, "sve-256"),
    (Isa::SVE_512, "sve-512"),
];

/// The assembly of each function of a file. Each function is compiled as its own module.
fn output(text: &str) -> String {
    let module = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(module.to_string(), text, "the file must have the format that the vector IR is written in");
    let mut out = String::new();
    for function in module.functions {
        let name = function.name.clone();
        let module = Module { functions: vec![function] };
        let mut last = String::new();
        for (isa, isa_name) in ISAS {
            match compile(&module, isa) {
                Ok(code) => {
                    let assembly = disassemble(&code, isa);
                    // Addresses are omitted, so that a longer instruction changes one line.
                    let lines = assembly.lines().filter(|line| !line.ends_with(':')).map(|line| line.get(8..).unwrap_or(line));
                    let lines = lines.collect::<Vec<_>>().join("\n");
                    // Omit the assembly for a level of AArch64 if it equals that for the previous level.
                    if !matches!(isa, Isa::A64(_)) || lines != last {
                        writeln!(out, "# {name}, {isa_name}: {} bytes\n{lines}\n", code.constants).unwrap();
                    }
                    last = lines;
                }
                Err(CodegenError::Unsupported { operation, .. }) => writeln!(out, "# {name}, {isa_name}: no {operation}\n").unwrap(),
                Err(error) => panic!("{name}, {isa_name}: {error}"),
            }
        }
    }
    out
}

#[test]
fn functions_compile_to_the_expected_assembly() {
    let update = std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/asm");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "vir"));
    paths.sort();
    assert!(!paths.is_empty(), "there are functions");
    let mut failures = Vec::new();
    for path in paths {
        let have = output(&std::fs::read_to_string(&path).unwrap());
        let expected = path.with_extension("asm");
        if update {
            std::fs::write(&expected, have).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != have {
            failures.push(format!("{}:\n{have}", expected.display()));
        }
    }
    assert!(failures.is_empty(), "UPDATE_EXPECT=1 rewrites the files:\n{}", failures.join("\n"));
}
