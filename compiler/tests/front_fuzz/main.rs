//! The whole compiler on generated and damaged programs: whatever comes in, it gives an error or a shader, in bounded time.
//!
//! `WGCL_FUZZ_SECONDS` is how long to go on (a few seconds if not set), `WGCL_FUZZ_SEED` where to start, and in the folder `WGCL_FUZZ_DIR` each
//! program is kept while it is compiled, so that one that kills the process can be found, and those that went wrong stay.

#![allow(clippy::expect_used, clippy::cast_possible_truncation, reason = "tests may panic")]

mod generate;
mod mutate;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wgcl_compiler::launch::{LaunchError, LaunchKey, specialise};
use wgcl_compiler::program::{BuildOptions, CStd, Source, build};
use wgcl_compiler::target::Target;

/// Numbers that look random, the same in every run.
pub struct Random(u64);

impl Random {
    /// At random from 0 up to and without `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// How long one program may take, on a busy machine and without optimisation.
const LIMIT: Duration = Duration::from_secs(30);

/// Compiles everything of a program. The error says what must not happen; `Ok` whether it was accepted.
fn compile(text: &str) -> Result<bool, String> {
    let start = Instant::now();
    let source = Source { text: text.to_owned(), ..Source::default() };
    let macros = [("T", "int"), ("N", "4"), ("S", "private")].map(|(name, value)| (name.to_owned(), Some(value.to_owned()))).to_vec();
    let options = BuildOptions { std: CStd::Cl30, no_warnings: true, macros, ..BuildOptions::default() };
    let target = Target::full();
    let result = build(&source, &options, &target);
    if result.log.contains("internal") {
        return Err(result.log);
    }
    let Some(program) = result.program else {
        return if start.elapsed() > LIMIT { Err(format!("refused after {:?}", start.elapsed())) } else { Ok(false) };
    };
    for function in program.module.functions.iter().filter(|function| function.kernel.is_some()) {
        match specialise(&program.module, &function.name, &LaunchKey::example(function, [64, 1, 1]), &target) {
            Err(error @ (LaunchError::Internal { .. } | LaunchError::NoKernel(_))) => return Err(error.to_string()),
            Ok(_) | Err(LaunchError::Limit { .. } | LaunchError::Unsupported { .. }) => {}
        }
    }
    if start.elapsed() > LIMIT { Err(format!("took {:?}", start.elapsed())) } else { Ok(true) }
}

/// The sources of the tests and of the library.
fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = vec![root.join("library"), root.join("../tests/cl"), root.join("tests")];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(&folder).map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect()).unwrap_or_default();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "cl") {
                texts.extend(std::fs::read_to_string(&path));
            }
        }
    }
    texts
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Compiles programs until the time is over; fails if one went wrong.
fn run(kind: &str, mut make: impl FnMut(&mut Random) -> String) {
    let seconds = number("WGCL_FUZZ_SECONDS").unwrap_or(3);
    let first = number("WGCL_FUZZ_SEED").unwrap_or(1);
    let folder = std::env::var_os("WGCL_FUZZ_DIR").map(PathBuf::from);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut wrong, mut count, mut accepted) = (Vec::new(), 0, 0);
    for seed in first.. {
        if Instant::now() > end {
            break;
        }
        let text = make(&mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        if let Some(folder) = &folder {
            std::fs::write(folder.join(format!("{kind}-now.cl")), &text).expect("the folder can be written");
        }
        count += 1;
        match compile(&text) {
            Ok(yes) => accepted += usize::from(yes),
            Err(message) => {
                if let Some(folder) = &folder {
                    std::fs::write(folder.join(format!("{kind}-{seed}.cl")), &text).expect("the folder can be written");
                }
                wrong.push((seed, message, text));
            }
        }
    }
    println!("{kind}: {count} programs, {accepted} accepted, {} wrong", wrong.len());
    let shortest = wrong.iter().min_by_key(|(.., text)| text.len());
    if let Some((seed, message, text)) = shortest {
        panic!("{} programs went wrong, the shortest is number {seed}: {message}\n{text}", wrong.len());
    }
}

#[test]
fn generated_programs() {
    run("generated", generate::program);
}

#[test]
fn damaged_programs() {
    let corpus = corpus();
    assert!(corpus.len() > 50, "the sources are found");
    run("damaged", |random| {
        let (text, other) = (random.below(corpus.len()), random.below(corpus.len()));
        mutate::mutate(random, &corpus[text], &corpus[other])
    });
}

#[test]
fn damaged_generated_programs() {
    run("damaged-generated", |random| {
        let (text, other) = (generate::program(random), generate::program(random));
        mutate::mutate(random, &text, &other)
    });
}
