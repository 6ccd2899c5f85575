//! Compiles programs for AArch64 on any processor. In builds with debug assertions, the code generator decodes the
//! instructions and compares them with the intended ones.

use std::collections::BTreeMap;
use std::path::PathBuf;

use wgcl_codegen::vir::{Op, Type};
use wgcl_codegen::{Code, Isa, compile, disassemble};

use crate::generate::{self, Config, Helper};
use crate::{program, table};

const ISAS: [Isa; 5] = [Isa::ARMV8, Isa::ARMV8_2, Isa::SVE_128, Isa::SVE_256, Isa::SVE_512];

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

/// Compiles a module whose constants are out of the range of literal loads.
#[test]
fn large_modules_have_code_on_aarch64() {
    for isa in [Isa::ARMV8, Isa::SVE_512] {
        let module = generate::module(1, Config { isa, helpers: &HELPERS, size: 200_000, depth: 2 });
        let code = compile(&module, isa).unwrap();
        let constants = module.functions[0].blocks.iter().flat_map(|block| &block.insts).filter(|inst| matches!(inst.op, Op::Lanes(_)));
        assert!(constants.count() > 0 && code.bytes.len() > 1 << 20, "{isa:?}: {} bytes", code.bytes.len());
    }
}

/// The path of the file with the words of emitted instructions and their assembly by GNU objdump.
fn words_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/aarch64/words.txt")
}

/// The lines of a listing without addresses.
fn listing(bytes: Vec<u8>) -> Vec<String> {
    let constants = bytes.len() as u32;
    let code = Code { bytes, constants, ..Code::default() };
    disassemble(&code, Isa::ARMV8_2).lines().map(|line| line.get(8..).unwrap_or_default().to_owned()).collect()
}

/// Converts assembly to one notation for numbers and conditions, and removes comments.
fn canonical(assembly: &str) -> String {
    let assembly = assembly.split("//").next().unwrap_or_default().replace(',', " , ").replace(']', " ]");
    let mut words: Vec<String> = assembly.split_whitespace().map(str::to_owned).collect();
    let narrow = words.get(1).is_some_and(|word| word.starts_with('w'));
    for word in &mut words {
        let renamed = match word.as_str() {
            "cs" => "hs",
            "cc" => "lo",
            "b.cs" => "b.hs",
            "b.cc" => "b.lo",
            // The two disassemblers differ in when they print the alias.
            "dupm" => "mov",
            other => other,
        };
        *word = renamed.to_owned();
        let Some(number) = word.strip_prefix('#') else { continue };
        let (sign, digits) = number.strip_prefix('-').map_or((1, number), |digits| (-1, digits));
        let hex = digits.strip_prefix("0x").map(|digits| i128::from_str_radix(digits, 16));
        let integer = hex.unwrap_or_else(|| digits.parse());
        *word = match (integer, number.parse::<f64>()) {
            (Ok(integer), _) if narrow => format!("#{:#x}", (sign * integer) as u32),
            (Ok(integer), _) => format!("#{:#x}", (sign * integer) as u64),
            (_, Ok(float)) => format!("#{float:?}"),
            _ => word.clone(),
        };
    }
    words.join(" ").to_lowercase()
}

/// The mnemonic and the operands without numbers.
fn shape(assembly: &str) -> String {
    let text: String = assembly.chars().filter(|letter| !letter.is_ascii_hexdigit() || letter.is_ascii_alphabetic()).collect();
    let Some((mnemonic, operands)) = text.split_once(' ') else { return text };
    let kept: String = operands.chars().filter(|letter| !letter.is_whitespace() && *letter != '-').collect();
    format!("{mnemonic} {kept}")
}

/// One emitted instruction of each shape. Branches are omitted, because their text contains addresses.
fn emitted() -> BTreeMap<String, u32> {
    let mut all = BTreeMap::new();
    for isa in ISAS {
        for case in table::cases(isa) {
            let Ok(code) = compile(&case.module, isa) else { continue };
            let text = &code.bytes[..code.constants as usize];
            for (word, assembly) in text.chunks_exact(4).zip(listing(text.to_vec())) {
                let branch = ["b ", "b.", "bl ", "cb"].iter().any(|start| assembly.starts_with(start));
                if !branch && !assembly.starts_with("udf") && !assembly.contains(", 0x") {
                    all.entry(shape(&assembly)).or_insert(u32::from_le_bytes(word.try_into().unwrap()));
                }
            }
        }
    }
    all
}

/// Disassembles words with GNU objdump.
fn objdump(words: &[u32]) -> Vec<String> {
    let path = std::env::temp_dir().join(format!("words-{}.bin", std::process::id()));
    std::fs::write(&path, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    let output = std::process::Command::new("aarch64-linux-gnu-objdump").args(["-D", "-b", "binary", "-m", "aarch64"]).arg(&path).output();
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(":\t")?.1.split_once('\t'));
    lines.map(|(_, assembly)| assembly.split("//").next().unwrap_or_default().trim().replace('\t', " ")).collect()
}

/// Checks the decoder against binutils. `UPDATE_EXPECT=1` rewrites the file with `aarch64-linux-gnu-objdump`.
#[test]
fn decoded_instructions_equal_those_of_binutils() {
    let emitted = emitted();
    if std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1") {
        let words: Vec<u32> = emitted.values().copied().collect();
        let lines: String = words.iter().zip(objdump(&words)).map(|(word, text)| format!("{word:08x} {text}\n")).collect();
        std::fs::write(words_file(), lines).unwrap();
    }
    let file = std::fs::read_to_string(words_file()).unwrap();
    let known: Vec<(u32, &str)> =
        file.lines().filter_map(|line| line.split_once(' ')).map(|(word, text)| (u32::from_str_radix(word, 16).unwrap(), text)).collect();
    let bytes = known.iter().flat_map(|(word, _)| word.to_le_bytes()).collect();
    let mut shapes = Vec::new();
    let mut failures = Vec::new();
    for ((word, expected), found) in known.iter().zip(listing(bytes)) {
        shapes.push(shape(&found));
        if canonical(&found) != canonical(expected) {
            failures.push(format!("{word:08x}: expected `{expected}`, got `{found}`"));
        }
    }
    failures.extend(emitted.keys().filter(|shape| !shapes.contains(shape)).map(|shape| format!("`{shape}` is not in the file")));
    assert!(failures.is_empty() && shapes.len() > 150, "{} shapes\n{}", shapes.len(), failures.join("\n"));
}
