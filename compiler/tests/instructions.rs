//! The number of instructions per iteration of the innermost loops on AArch64: `tests/instructions/NAME.cl`, with the
//! expected numbers in `tests/instructions/counts.txt`, and in `counts_sve.txt` for SVE with each vector length.
//! `docs/internals/aarch64.md` compares them with clang's.
//!
//! A loop without an inner loop is counted along one iteration in which all lanes are active. If a kernel has no loop,
//! the loop over its work-items is the innermost one. `UPDATE_EXPECT=1` rewrites the numbers: review the difference.
//! A larger number needs a reason.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use wgcl_codegen::{Isa, compile, disassemble};
use wgcl_compiler::build::build;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::options::parse_options;
use wgcl_compiler::program::Source;
use wgcl_compiler::target::Target;
use wgcl_compiler::vectorize::{Style, vector_ir};

/// An instruction of a listing.
struct Line {
    at: u64,
    mnemonic: String,
    operands: Vec<String>,
}

impl Line {
    fn read(text: &str) -> Option<Self> {
        let (at, rest) = text.trim().split_once("  ")?;
        let (mnemonic, operands) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
        let operands = operands.split(',').map(|operand| operand.trim().to_owned()).collect();
        Some(Self { at: u64::from_str_radix(at, 16).ok()?, mnemonic: mnemonic.to_owned(), operands })
    }

    /// Returns the target of a branch, or `None` for other instructions.
    fn target(&self) -> Option<u64> {
        let name = self.mnemonic.as_str();
        let branch = name == "b" || name.starts_with("b.") || ["cbz", "cbnz"].contains(&name);
        u64::from_str_radix(self.operands.last()?.strip_prefix("0x")?, 16).ok().filter(|_| branch)
    }
}

/// Counts the instructions of an iteration of the loop at `header`. Returns `None` if the loop has an inner loop.
fn iteration(code: &[Line], header: u64) -> Option<usize> {
    // The reductions of masks in registers: `uminv` of a mask is 0 unless all lanes are active.
    let mut reductions: HashMap<String, bool> = HashMap::new();
    // The branch that is taken after a test of a predicate of SVE if all lanes are active.
    let mut tested = "";
    let mut place = code.iter().position(|line| line.at == header)?;
    let mut count = 0;
    loop {
        let line = code.get(place).filter(|_| count <= code.len())?;
        count += usize::from(line.mnemonic != "nop");
        let first = line.operands.first()?.clone();
        let reduced = |name: Option<&String>| name.is_some_and(|name| reductions.contains_key(name));
        let name = line.mnemonic.as_str();
        let taken = match name {
            "ret" => return None,
            "b" => true,
            // All lanes are active, so the reduction of a mask is not 0.
            "cbz" | "cbnz" if reduced(Some(&first)) => name == "cbnz",
            "b.eq" | "b.ne" if !tested.is_empty() => name == tested,
            // A forward branch counts as not taken. Usually it leaves the loop or goes to a cold block.
            _ => line.target().is_some_and(|target| target <= line.at),
        };
        tested = match name {
            // `nots` clears all lanes of its result.
            "nots" => "b.eq",
            "ptest" => "b.ne",
            _ if sets_flags(name) && first.starts_with('p') => "b.ne",
            _ if sets_flags(name) => "",
            _ => tested,
        };
        if ["uminv", "umaxv"].contains(&name) || name == "fmov" && reduced(line.operands.get(1)) {
            reductions.insert(first, true);
        } else if line.target().is_none() {
            reductions.remove(&first);
        }
        match line.target().filter(|_| taken) {
            Some(target) if target == header => return Some(count),
            Some(target) if target <= line.at => return None,
            Some(target) => place = code.iter().position(|line| line.at == target)?,
            None => place += 1,
        }
    }
}

/// Whether a mnemonic is an instruction that sets the flags, other than a test of a predicate.
fn sets_flags(name: &str) -> bool {
    ["cmp", "cmn", "fcmp", "subs", "adds", "ands", "tst", "bics", "eors", "orrs"].iter().any(|start| name.starts_with(start))
}

/// Counts the instructions of each innermost loop, in the order of the code.
fn innermost_loops(listing: &str) -> Vec<usize> {
    let code: Vec<Line> = listing.lines().filter_map(Line::read).collect();
    let mut headers: Vec<u64> = code.iter().filter_map(|line| line.target().filter(|target| *target <= line.at)).collect();
    headers.sort_unstable();
    headers.dedup();
    headers.into_iter().filter_map(|header| iteration(&code, header)).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instructions")
}

/// Returns a line for each kernel of a file: the file, the kernel, `label`, and the counts.
fn counts(path: &Path, isa: Isa, label: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let options = parse_options("").expect("no options");
    let result = build(&Source { text, ..Source::default() }, &options, &Target::cpu());
    let program = result.program.unwrap_or_else(|| panic!("{}: {}", path.display(), result.log));
    let mut out = String::new();
    for kernel in program.module.functions.iter().filter(|function| function.kernel.is_some()) {
        let key = LaunchKey::example(kernel, [64, 1, 1]).changed(|key| key.kernel.zero_offset = true);
        let module = vector_ir(&program.module, &kernel.name, &key, &Target::cpu(), Style::of(isa)).unwrap();
        let code = compile(&module, isa).unwrap();
        let loops: Vec<String> = innermost_loops(&disassemble(&code, isa)).iter().map(usize::to_string).collect();
        let file = path.file_stem().unwrap().to_string_lossy();
        writeln!(out, "{file} {}{label}: {}", kernel.name, loops.join(" ")).unwrap();
    }
    out
}

#[test]
fn innermost_loops_have_the_expected_number_of_instructions() {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cl"));
    paths.sort();
    assert!(paths.len() >= 20, "the kernels exist");
    let sve = [(Isa::SVE_128, " sve-128"), (Isa::SVE_256, " sve-256"), (Isa::SVE_512, " sve-512")];
    compare("counts.txt", &paths.iter().map(|path| counts(path, Isa::ARMV8, "")).collect::<String>());
    let of_sve = |path: &PathBuf| sve.map(|(isa, label)| counts(path, isa, label)).concat();
    compare("counts_sve.txt", &paths.iter().map(of_sve).collect::<String>());
}

/// Compares counts with those of a file.
fn compare(name: &str, have: &str) {
    let expected = folder().join(name);
    if std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1") {
        std::fs::write(&expected, have).unwrap();
        return;
    }
    let want = std::fs::read_to_string(&expected).unwrap_or_default();
    let differences: Vec<String> = have
        .lines()
        .zip(want.lines())
        .filter(|(have, want)| have != want)
        .map(|(have, want)| format!("expected `{want}`, got `{have}`"))
        .collect();
    assert!(have == want, "UPDATE_EXPECT=1 rewrites {}:\n{}", expected.display(), differences.join("\n"));
}

#[test]
fn iterations_with_all_lanes_active_are_counted() {
    let listing = "f0:\n     0  mov     w0, #0x0\n     4  uminv   s1, v2.4s\n     8  fmov    w1, s1\n     c  cbz     w1, 0x18\n    \
                   10  ldr     q0, [x1]\n    14  b       0x1c\n    18  mov     w3, #0x0\n    1c  subs    w0, w0, #0x1\n    20  b.ne    0x4\n    24  ret\n";
    assert_eq!(innermost_loops(listing), [7]);
}
