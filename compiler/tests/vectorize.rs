//! Compares the vector IR of small kernels, `tests/vectorize/NAME.cl`, with the expected output in `NAME.vir`.
//!
//! An output begins with a line for each kernel and instruction set: the number of memory accesses of each kind, of
//! shuffles and of fences. So if a load becomes a gather, the change is visible in one line. The full text for AVX-512
//! follows, and the text for another instruction set if a directive requests it.
//!
//! These directives are at the top of a source:
//!
//! - `// group: 16 16 1`: the work-group size. The default is 64 1 1.
//! - `// options: -cl-std=CL3.0`: build options.
//! - `// text: avx2` or `// text: armv8`: an instruction set for which the output contains the full text.
//!
//! `UPDATE_EXPECT=1` rewrites the expected files. Review the difference.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use wgcl_codegen::vir::{Module, Op, read};
use wgcl_codegen::{Isa, compile};
use wgcl_compiler::build::build;
use wgcl_compiler::ir::Function;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::options::parse_options;
use wgcl_compiler::program::{Program, Source};
use wgcl_compiler::target::Target;
use wgcl_compiler::vectorize::{Style, vector_ir};

const ISAS: [(Isa, &str); 4] = [(Isa::AVX512, "avx512"), (Isa::AVX2, "avx2"), (Isa::SSE42, "sse4.2"), (Isa::ARMV8, "armv8")];

/// A source, its directives and its program.
struct Input {
    group: [u32; 3],
    /// The instruction set for which the output contains the full text, in addition to AVX-512.
    text: Option<String>,
    program: Program,
}

/// Returns the value of the directive `// NAME: VALUE`, or `None` if the source has no such directive.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(": "))
}

impl Input {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let group = directive(&text, "group").map_or([64, 1, 1], |sizes| {
            let sizes: Vec<u32> = sizes.split(' ').map(|size| size.parse().unwrap()).collect();
            sizes.try_into().unwrap()
        });
        let options = parse_options(directive(&text, "options").unwrap_or("")).expect("build options");
        let other = directive(&text, "text").map(str::to_owned);
        let result = build(&Source { text, ..Source::default() }, &options, &Target::cpu());
        let program = result.program.unwrap_or_else(|| panic!("{}: {}", path.display(), result.log));
        Self { group, text: other, program }
    }

    fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.program.module.functions.iter().filter(|function| function.kernel.is_some())
    }

    fn vector_ir(&self, kernel: &Function, isa: Isa) -> Module {
        let key = LaunchKey::example(kernel, self.group).changed(|key| key.kernel.zero_offset = true);
        vector_ir(&self.program.module, &kernel.name, &key, &Target::cpu(), Style::of(isa)).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Returns the number of memory accesses of each kind in a module, of shuffles and of fences. Omits scalar loads, and
/// kinds that do not occur.
fn summary(module: &Module) -> String {
    let ops = || module.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.insts).map(|inst| &inst.op);
    let count = |is: &dyn Fn(&Op) -> bool| ops().filter(|op| is(op)).count();
    let counts = [
        ("vector loads", count(&|op| matches!(op, Op::LoadVector { mask: None, .. }))),
        ("masked loads", count(&|op| matches!(op, Op::LoadVector { mask: Some(_), .. }))),
        ("gathers", count(&|op| matches!(op, Op::Gather { .. }))),
        ("vector stores", count(&|op| matches!(op, Op::StoreVector { mask: None, .. }))),
        ("masked stores", count(&|op| matches!(op, Op::StoreVector { mask: Some(_), .. }))),
        ("scatters", count(&|op| matches!(op, Op::Scatter { .. }))),
        ("scalar stores", count(&|op| matches!(op, Op::Store(..)))),
        ("shuffles", count(&|op| matches!(op, Op::Shuffle(..) | Op::Permute(..)))),
        ("atomics", count(&|op| matches!(op, Op::AtomicAdd(..) | Op::AtomicExchange(..) | Op::AtomicCompareExchange(..)))),
        ("fences", count(&|op| matches!(op, Op::Fence))),
    ];
    let list: Vec<String> = counts.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{count} {name}")).collect();
    list.join(", ")
}

fn output(input: &Input) -> String {
    let mut summaries = String::new();
    let mut texts = String::new();
    for kernel in input.kernels() {
        for (isa, name) in ISAS {
            let module = input.vector_ir(kernel, isa);
            writeln!(summaries, "; {} {name}: {}", kernel.name, summary(&module)).unwrap();
            if isa == Isa::AVX512 || input.text.as_deref() == Some(name) {
                writeln!(texts, "\n; {name}\n{module}").unwrap();
            }
        }
    }
    format!("{summaries}{}\n", texts.trim_end())
}

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectorize");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cl"));
    paths.sort();
    assert!(!paths.is_empty(), "there are sources");
    paths
}

#[test]
fn kernels_vectorize_as_expected() {
    let update = std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1");
    let mut failures = Vec::new();
    for path in sources() {
        let have = output(&Input::read(&path));
        let expected = path.with_extension("vir");
        if update {
            std::fs::write(&expected, have).unwrap();
            continue;
        }
        let want = std::fs::read_to_string(&expected).unwrap_or_default();
        if have != want {
            let differs = |(have, want): &(&str, &str)| have != want;
            let first = have.lines().zip(want.lines()).find(differs);
            let (have, want) = first.unwrap_or(("another number of lines", "another number of lines"));
            failures.push(format!("{}: expected `{want}`, got `{have}`", expected.display()));
        }
    }
    assert!(failures.is_empty(), "UPDATE_EXPECT=1 rewrites the files:\n{}", failures.join("\n"));
}

/// The text form of the vector IR must be complete: parsing it again must give the same machine code.
#[test]
fn printed_vector_ir_compiles_to_the_same_code() {
    for path in sources() {
        let input = Input::read(&path);
        for (kernel, (isa, name)) in input.kernels().flat_map(|kernel| ISAS.map(|isa| (kernel, isa))) {
            let module = input.vector_ir(kernel, isa);
            let text = module.to_string();
            let again = read(&text).unwrap_or_else(|error| panic!("{}, {name}: {error}\n{text}", kernel.name));
            assert_eq!(again.to_string(), text, "{}, {name}", kernel.name);
            if isa == Isa::AVX2 {
                let [code, again] = [&module, &again].map(|module| compile(module, isa).expect("machine code").bytes);
                assert!(code == again, "{}: the parsed text compiles to different code", kernel.name);
            }
        }
    }
}
