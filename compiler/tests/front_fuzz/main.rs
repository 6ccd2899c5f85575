//! Fuzzes the whole compiler with generated and damaged programs. The compiler must report an error or create a shader
//! for every input, in bounded time.
//!
//! The number of programs is fixed, so that all runs are equal. `WGCL_FUZZ_SECONDS` sets a duration instead, and
//! `WGCL_FUZZ_SEED` the first seed. While a program is compiled, it is in the folder `WGCL_FUZZ_DIR`, in case the
//! process crashes. Programs that fail remain there.

#![allow(clippy::expect_used, clippy::panic, clippy::cast_possible_truncation, reason = "tests may panic")]

mod generate;
mod mutate;

use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use wgcl_compiler::build::build;
use wgcl_compiler::diag::WarningLevels;
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::program::{BuildOptions, CStd, Source};
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::target::Target;

/// A pseudo-random generator with a fixed sequence.
pub struct Random(u64);

impl Random {
    /// Returns a random number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Time limit for one program, on a busy machine and without optimisation.
const LIMIT: Duration = Duration::from_secs(300);
/// Number of programs of each kind.
const COUNT: u64 = 150;

/// Compiles all kernels of a program in bounded time. Returns whether it was accepted. An error is a defect of the
/// compiler.
fn compile(text: &str) -> Result<bool, String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let owned = text.to_owned();
    // A thread that exceeds the limit is not stopped. It ends with the process.
    std::thread::spawn(move || {
        let _ = sender.send(stages(&owned));
    });
    match receiver.recv_timeout(LIMIT) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(format!("not done after {LIMIT:?}")),
        Err(RecvTimeoutError::Disconnected) => Err("a panic".to_owned()),
    }
}

fn stages(text: &str) -> Result<bool, String> {
    let source = Source { text: text.to_owned(), ..Source::default() };
    let macros = [("T", "int"), ("N", "4"), ("S", "private")].map(|(name, value)| (name.to_owned(), Some(value.to_owned()))).to_vec();
    let options = BuildOptions { std: CStd::Cl30, warnings: WarningLevels::NONE, macros, ..BuildOptions::default() };
    let target = Target::full();
    let result = build(&source, &options, &target);
    if result.log.contains("internal") {
        return Err(result.log);
    }
    let Some(program) = result.program else {
        return Ok(false);
    };
    for function in program.module.functions.iter().filter(|function| function.kernel.is_some()) {
        match specialise(&program.module, &function.name, &LaunchKey::example(function, [64, 1, 1]), &target) {
            Err(error @ (LaunchError::Internal { .. } | LaunchError::NoKernel(_))) => return Err(error.to_string()),
            Ok(_)
            | Err(
                LaunchError::Limit { .. } | LaunchError::TooLarge { .. } | LaunchError::Unsupported { .. } | LaunchError::NotUniform { .. },
            ) => {}
        }
    }
    Ok(true)
}

/// Returns the sources of the tests and of the library.
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

/// Compiles programs. Fails if one exposes a defect of the compiler.
fn run(kind: &str, mut make: impl FnMut(&mut Random) -> String) {
    let first = number("WGCL_FUZZ_SEED").unwrap_or(1);
    let folder = std::env::var_os("WGCL_FUZZ_DIR").map(PathBuf::from);
    let end = number("WGCL_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let (mut wrong, mut count, mut accepted) = (Vec::new(), 0, 0);
    for seed in first.. {
        if end.map_or(count == COUNT, |end| Instant::now() > end) {
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
        panic!("{} programs fail, the shortest has seed {seed}: {message}\n{text}", wrong.len());
    }
}

#[test]
fn generated_programs() {
    run("generated", generate::program);
}

#[test]
fn damaged_programs() {
    let corpus = corpus();
    assert!(corpus.len() > 50, "only {} sources found", corpus.len());
    run("damaged", |random| {
        let (text, other) = (random.below(corpus.len()), random.below(corpus.len()));
        mutate::mutate(random, &corpus[text], &corpus[other])
    });
}

/// Tests constant indices beyond the end of arrays, in an `if` whose condition is not known before run time.
#[test]
fn constant_indices_out_of_range() {
    let text = "kernel void k(global int *o, local int *l, constant int *c, int n) {
        int t[100]; local int m[10];
        for (int i = 0; i < 10; i++) { t[i] = o[i]; m[i] = n; }
        t[n] = 5; m[n] = 3;
        if (n > 2000) o[1] = t[1192] + m[4000] + c[100000] + l[70000];
        o[0] = t[n + 1] + m[n];
    }";
    assert_eq!(compile(text), Ok(true));
}

/// Sources with extreme nesting, chains or growth. They must be accepted or rejected without a crash.
#[test]
fn extremes() {
    const MANY: usize = 100_000;
    let kernel = |statement: &str| {
        format!("kernel void k(global int *a, int n) {{ int i = get_global_id(0); int x = a[i]; {statement} a[i] = x; }}")
    };
    let around = |open: &str, close: &str, count: usize| kernel(&format!("x = {}x{};", open.repeat(count), close.repeat(count)));
    let doubling = |first: &str, count: usize, body: fn(usize) -> String| {
        let macros: String = (1..count).map(|n| format!("#define L{n} {}\n", body(n - 1))).collect();
        format!("#define L0 {first}\n{macros}{}", kernel(&format!("x = L{} 0;", count - 1)))
    };
    let sources = [
        around("(", ")", MANY),
        around("-", "", MANY),
        around("!", "", MANY),
        around("*", "", MANY),
        around("(int)", "", MANY),
        around("a[", "]", MANY),
        around("", "[0]", MANY),
        around("x + ", "", MANY),
        around("x ? x : ", "", MANY),
        around("9223372036854775808 + ", "", MANY),
        around("x * 9223372036854775809 + ", "", MANY),
        around("x ? 9223372036854775808 : ", "", MANY),
        around("-~", " + 9223372036854775808", MANY),
        around("a[x] && ", "", MANY),
        around("x = ", "", MANY),
        kernel(&format!("{}x++;{}", "{".repeat(MANY), "}".repeat(MANY))),
        kernel(&format!("{}x++;", "if (x) ".repeat(MANY))),
        kernel(&format!("{}x++;", "while (x) ".repeat(MANY))),
        kernel(&format!("int {}p = 0;", "*".repeat(MANY))),
        kernel(&format!("int {}p{} = 0;", "(*".repeat(MANY), ")".repeat(MANY))),
        kernel(&format!("int p{};", "[1]".repeat(MANY))),
        kernel(&format!("int p[] = {}1{};", "{".repeat(MANY), "}".repeat(MANY))),
        kernel(&format!("if (x == -1) ; {}", (0..30_000).map(|n| format!("else if (x == {n}) x = {n};\n")).collect::<String>())),
        kernel(&format!("switch (x) {{ {} x = 4; }}", (0..15_000).map(|n| format!("case {n}:")).collect::<String>())),
        format!("{}int a;{}", "struct { ".repeat(MANY), "} x;".repeat(MANY)),
        format!("typedef int T0[1];{}", (1..20_000).map(|n| format!("typedef T{} T{n}[1];\n", n - 1)).collect::<String>())
            + &kernel("T19999 t;"),
        format!("typedef int T0;{}", (1..20_000).map(|n| format!("typedef T{} *T{n};\n", n - 1)).collect::<String>())
            + &kernel("T19999 t = 0;"),
        "#if 1\n".repeat(MANY) + &"#endif\n".repeat(MANY),
        format!("#if {}1{}\n#endif\n", "(".repeat(MANY), ")".repeat(MANY)),
        format!("#if {}1\n#endif\n", "1 ? 1 : ".repeat(MANY)),
        format!("#define F(x) x\n{}", around("F(", ")", 10_000)),
        doubling("x +", 40, |n| format!("L{n} L{n}")),
        doubling("", 40, |n| format!("L{n} L{n}")),
        doubling("a", 40, |n| format!("C(L{n}, L{n})\n#define C(a, b) D(a, b)\n#define D(a, b) a##b\n")),
        "#define S(x) #x\n#define T(x) S(x)\n".to_owned() + &kernel(&format!("x = sizeof({}\"\\\\\"{});", "T(".repeat(60), ")".repeat(60))),
        kernel(&format!("int {} = 1;", "z".repeat(1 << 20))),
        kernel("x\0 = 1; \u{fffd}"),
        kernel("struct {} none[] = {x}; int empty[][0] = {x, x}; struct { int m; } one[] = {[0] = x};"),
    ];
    for text in sources {
        let shown: String = text.chars().take(300).collect();
        if let Err(message) = compile(&text) {
            panic!("{message}\n{shown}");
        }
    }
}

#[test]
fn damaged_generated_programs() {
    run("damaged-generated", |random| {
        let (text, other) = (generate::program(random), generate::program(random));
        mutate::mutate(random, &text, &other)
    });
}
