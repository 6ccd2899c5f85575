//! Tests that random programs have the same results before and after the passes: programs in IR, programs in OpenCL
//! C, and kernels with the patterns that passes match. Each program is launched with random sizes and arguments, for a
//! device with one of the profiles.

mod arrays;
mod case;
mod generate;
#[path = "../common/launches.rs"]
mod launches;
mod lines;
mod pipeline;
mod random;
mod rows;
mod shapes;
mod shrink;
mod source;

use case::Requirements;
use launches::{Case, difference, outcome, run_parts, run_whole};
use pipeline::Changes;
use wgcl_compiler::diag::WarningLevels;
use wgcl_compiler::front::FrontEnd;
use wgcl_compiler::interpret::{Fault, Stage};
use wgcl_compiler::ir::Module;
use wgcl_compiler::ir::verify::verify;
use wgcl_compiler::launch::LaunchError;
use wgcl_compiler::passes;
use wgcl_compiler::program::{BuildOptions, CStd, Source};
use wgcl_compiler::target::Target;

/// The requirements of the programs of [`source`] and [`arrays`]. A work-item accesses 128 bytes of each buffer, and
/// groups have at most 16 work-items.
const SOURCE_REQUIREMENTS: Requirements =
    Requirements { stride: 128, linear: false, may_alias: true, times: 1, local: 0, items: 16, nullable: None, device: None };

/// A program and the requirements for its launch.
struct Program {
    module: Module,
    requirements: Requirements,
    seed: u64,
    /// Whether the program is random IR. It may then exceed the limit for loop iterations, and is printed if it fails.
    is_ir: bool,
}

impl Program {
    fn ir(seed: u64) -> Self {
        Self { module: generate::module(seed), requirements: generate::REQUIREMENTS, seed, is_ir: true }
    }

    fn of_source(text: &str, requirements: Requirements, seed: u64) -> Result<Self, String> {
        Ok(Self { module: lowered(text)?, requirements, seed, is_ir: false })
    }

    fn fail<T>(&self, what: &str, message: impl std::fmt::Display) -> Result<T, String> {
        let module = if self.is_ir { self.module.to_string() } else { String::new() };
        Err(format!("seed {}, {what}: {message}\n{module}", self.seed))
    }

    /// Runs the program before the build, after the build, and specialised for a launch. All results must be equal.
    /// Returns whether the program before the build ran to its end. With `explain`, the error names the pass that
    /// causes a difference.
    fn check(&self, changes: &mut Changes, explain: bool) -> Result<bool, String> {
        if let Err(errors) = verify(&self.module) {
            return self.fail("the program", errors.iter().map(|error| format!("{error}\n")).collect::<String>());
        }
        let mut built = self.module.clone();
        if let Err(error) = passes::build(&mut built, &pipeline::build_target(self.seed)) {
            return self.fail("build", error);
        }
        if built.functions.is_empty() {
            return self.fail("build", "no kernel remains");
        }
        let case = Case::random(&built, self.requirements, self.seed);
        let expected = match outcome(&case, |undefined| run_whole(&case, &self.module, Stage::Lowered, undefined)) {
            Ok(expected) => expected,
            Err(_) if self.is_ir => return Ok(false),
            Err(error) => return self.fail("lowered", error),
        };
        if let Err(error) = self.compare(&case, &expected, |undefined| run_whole(&case, &built, Stage::Built, undefined)) {
            let pass = if explain {
                pipeline::first_of_build(&self.module, &pipeline::build_target(self.seed), &case, &expected)
            } else {
                String::new()
            };
            return self.fail("build", format!("{error}\n{pass}"));
        }
        self.check_native(&case, &expected, changes, explain)?;
        let made = match pipeline::parts(&built, &case, changes) {
            // Kernels that store pointers cannot use merged bindings. The driver would reject such a launch as well.
            Err(LaunchError::Unsupported { what, .. }) if what.contains("more pointer arguments") => return Ok(true),
            Err(error) => return self.fail("launch", format!("{error}\n{}", case.describe())),
            Ok(made) => made,
        };
        if let Err(error) = self.compare(&case, &expected, |undefined| run_parts(&case, &made, undefined)) {
            let pass = if explain { pipeline::first_of_launch(&built, &case, &made, &expected) } else { String::new() };
            return self.fail("launch", format!("{error}\n{}\n{pass}", case.describe()));
        }
        Ok(true)
    }

    /// For every third program, also builds and runs the module for machine code. Skips launches whose last groups are
    /// smaller, because these groups would need a separate module.
    fn check_native(&self, case: &Case, expected: &[Vec<u8>], changes: &mut Changes, explain: bool) -> Result<(), String> {
        let are_full = case.range.global_size.iter().zip(case.range.local_size).all(|(global, local)| global.is_multiple_of(local));
        if !are_full || !self.seed.is_multiple_of(3) {
            return Ok(());
        }
        let (mut built, target) = (self.module.clone(), pipeline::native_build_target(self.seed));
        if let Err(error) = passes::build(&mut built, &target) {
            return self.fail("native build", error);
        }
        if let Err(error) = self.compare(case, expected, |undefined| run_whole(case, &built, Stage::Built, undefined)) {
            let pass = if explain { pipeline::first_of_build(&self.module, &target, case, expected) } else { String::new() };
            return self.fail("native build", format!("{error}\n{pass}"));
        }
        let made = match pipeline::native(&built, case, changes) {
            Err(error) => return self.fail("native", format!("{error}\n{}", case.describe())),
            Ok(made) => made,
        };
        if let Err(error) = self.compare(case, expected, |undefined| run_whole(case, &made, Stage::Prepared, undefined)) {
            let pass = if explain { pipeline::first_of_native(&built, case, expected) } else { String::new() };
            return self.fail("native", format!("{error}\n{}\n{pass}", case.describe()));
        }
        Ok(())
    }

    /// Fails if the result differs from the expected one.
    fn compare(&self, case: &Case, expected: &[Vec<u8>], run: impl Fn(u8) -> Result<Vec<Vec<u8>>, Fault>) -> Result<(), String> {
        let result = outcome(case, run)?;
        if result == expected { Ok(()) } else { Err(difference(case, expected, &result)) }
    }
}

/// Lowers an OpenCL C source to IR. The error is the build log.
fn lowered(text: &str) -> Result<Module, String> {
    let (target, options) = (Target::full(), BuildOptions { std: CStd::Cl30, warnings: WarningLevels::NONE, ..BuildOptions::default() });
    let source = Source { text: text.to_owned(), ..Source::default() };
    let mut front = FrontEnd::new(&source, &options, &target);
    front.lower().ok_or_else(|| front.log())
}

/// Checks a program in OpenCL C.
fn check_text(text: &str, requirements: Requirements, seed: u64, changes: &mut Changes, explain: bool) -> Result<bool, String> {
    let program = Program::of_source(text, requirements, seed).map_err(|error| format!("seed {seed}: {error}\n{text}"))?;
    program.check(changes, explain).map_err(|error| format!("{error}\n{text}"))
}

/// Removes lines of a source while the remaining lines fail in the same stage.
fn smaller(text: &str, requirements: Requirements, seed: u64) -> String {
    let stage = |text: &str| {
        let error = check_text(text, requirements, seed, &mut Changes::new(), false).err()?;
        error.split(':').next().map(str::to_owned)
    };
    let wanted = stage(text);
    let mut lines: Vec<&str> = text.lines().collect();
    let mut size = lines.len();
    while size > 0 {
        let mut at = 0;
        while at < lines.len() {
            let mut fewer = lines.clone();
            fewer.drain(at..(at + size).min(lines.len()));
            if stage(&fewer.join("\n")) == wanted { lines = fewer } else { at += size }
        }
        size /= 2;
    }
    lines.join("\n")
}

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Checks programs with consecutive seeds. `WGCL_FUZZ_SEED` sets the first seed, and `WGCL_FUZZ_COUNT` the number of
/// programs. No program may fail, and at least `finished` per cent must run to their end. Each pass in `passes` must
/// change at least [`MIN_CHANGED`] programs.
fn check_many(count: u64, finished: u64, passes: &[&'static str], check: impl Fn(u64, &mut Changes, bool) -> Result<bool, String>) {
    let first = from_env("WGCL_FUZZ_SEED").unwrap_or(1);
    let (count, is_short) = from_env("WGCL_FUZZ_COUNT").map_or((count, false), |asked| (asked, asked < count));
    let (mut ran, mut failures, mut changes) = (0, Vec::new(), Changes::new());
    for seed in first..first + count {
        match check(seed, &mut changes, false) {
            Ok(done) => ran += u64::from(done),
            Err(message) => failures.push((message.len(), seed)),
        }
    }
    println!("{ran} of {count} programs ran to their end; modules changed by each pass in specialisations: {changes:?}");
    // Explain the failure with the shortest message, which is the easiest to understand.
    let explained = failures.iter().min().and_then(|&(_, seed)| check(seed, &mut Changes::new(), true).err()).unwrap_or_default();
    let first = failures.first().map(|(_, seed)| *seed);
    assert!(failures.is_empty(), "{} of {count} programs fail, the first is {first:?}; {explained}", failures.len());
    assert!(ran * 100 >= finished * count, "{ran} of {count} programs ran to their end");
    for pass in passes {
        let changed = changes.get(pass).copied().unwrap_or(0);
        assert!(is_short || changed >= MIN_CHANGED, "{pass} changed {changed} programs of {count}");
    }
}

/// The passes that must change both random programs in IR and random programs in OpenCL C.
const PASSES_OF_ALL: [&str; 7] =
    ["infer_alignment", "renumber", "extra_buffers", "legalize", "shrink_int64", "split_bindings", "resolve_pointers"];

/// The minimum number of programs that each listed pass must change, so that the test covers the pass.
const MIN_CHANGED: u64 = 10;

#[test]
fn random_programs_have_equal_results() {
    if let Some(seed) = from_env("WGCL_FUZZ_SHRINK") {
        let module = generate::module(seed);
        let fails = |module: &Module| {
            Program { module: module.clone(), ..Program::ir(seed) }
                .check(&mut Changes::new(), false)
                .is_err_and(|error| error.contains("launch:"))
        };
        let mut small = shrink::shrink(&module, &fails);
        small.functions.iter_mut().for_each(passes::renumber::run);
        println!("{:?}", Program { module: small, ..Program::ir(seed) }.check(&mut Changes::new(), true));
    }
    check_many(2500, 50, &PASSES_OF_ALL, |seed, changes, explain| Program::ir(seed).check(changes, explain));
}

#[test]
fn random_sources_have_equal_results() {
    if let Some(seed) = from_env("WGCL_FUZZ_SHRINK") {
        println!("{}", smaller(&source::program(seed), SOURCE_REQUIREMENTS, seed));
    }
    let passes = [&PASSES_OF_ALL[..], &["hoist_common", "offsets", "unify_latches", "unsigned"]].concat();
    check_many(1000, 100, &passes, |seed, changes, explain| {
        check_text(&source::program(seed), SOURCE_REQUIREMENTS, seed, changes, explain)
    });
}

#[test]
fn private_arrays_have_equal_results() {
    if let Some(seed) = from_env("WGCL_FUZZ_SHRINK") {
        println!("{}", smaller(&arrays::program(seed), SOURCE_REQUIREMENTS, seed));
    }
    check_many(200, 100, &["shrink_int64", "resolve_pointers", "unroll"], |seed, changes, explain| {
        check_text(&arrays::program(seed), SOURCE_REQUIREMENTS, seed, changes, explain)
    });
}

#[test]
fn rows_of_all_widths_have_equal_results() {
    let passes = ["coarsen", "subgroup_coalesce", "merge_bindings", "split_bindings", "vectorize_memory"];
    check_many(6000, 100, &passes, |seed, changes, explain| {
        let (module, requirements) = rows::module(seed)?;
        Program { module, requirements, seed, is_ir: true }.check(changes, explain)
    });
}

#[test]
fn kernels_of_all_shapes_have_equal_results() {
    if let Some(seed) = from_env("WGCL_FUZZ_SHRINK") {
        let shape = shapes::program(seed);
        println!("{}", smaller(&shape.text, shape.requirements, seed));
    }
    let passes = [
        "infer_alignment",
        "runtime_unroll",
        "coarsen",
        "subgroup_coalesce",
        "extra_buffers",
        "merge_bindings",
        "groups",
        "legalize",
        "merge_exits",
        "shrink_int64",
        "offsets",
        "split_bindings",
        "vectorize_memory",
        "vectorize_memory_deinterleaved",
        "specialise_key",
        "start_parameters",
        "unroll",
    ];
    check_many(9000, 100, &passes, |seed, changes, explain| {
        let shape = shapes::program(seed);
        check_text(&shape.text, shape.requirements, seed, changes, explain)
    });
}
