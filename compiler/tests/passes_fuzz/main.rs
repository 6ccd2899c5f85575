//! Random programs do the same before and after the passes: programs made as IR, and programs in OpenCL C.

mod generate;
mod interpret;
mod random;
mod shrink;
mod source;

use std::sync::Mutex;
use wgcl_compiler::diag::render::{RenderOptions, render};
use wgcl_compiler::diag::{Diagnostics, SourceMap};
use wgcl_compiler::interpret::Stage;
use wgcl_compiler::ir::Module;
use wgcl_compiler::ir::verify::verify;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::passes::{self, Left};
use wgcl_compiler::program::{BuildOptions, CStd, Source};
use wgcl_compiler::specialise::Specialised;
use wgcl_compiler::target::Target;
use wgcl_compiler::{lower, parse, preprocess, sema};

/// What a program leaves in its buffers, if it does nothing wrong and nothing depends on undefined values.
fn outcome(module: &Module, stage: Stage) -> Result<Vec<Vec<u8>>, String> {
    let buffers: Vec<Vec<u8>> =
        (0..2_u16).map(|buffer| (0..512_u16).map(|byte| (byte.wrapping_mul(37).wrapping_add(buffer) & 0xff) as u8).collect()).collect();
    let run = |undefined: u8| interpret::run(module, stage, &buffers, &[5, 0xffff_fff0], undefined).map_err(|fault| fault.to_string());
    let first = run(0x5a)?;
    if run(0x31)? == first { Ok(first) } else { Err("the outcome depends on undefined values".to_owned()) }
}

fn key(module: &Module) -> LaunchKey {
    LaunchKey::example(&module.functions[0], [interpret::ITEMS, 1, 1])
}

/// Whether the program ran to its end at first.
fn check(seed: u64) -> Result<bool, String> {
    check_module(generate::module(seed), seed, true)
}

/// The same of a program in OpenCL C.
fn check_source(seed: u64) -> Result<bool, String> {
    let text = source::program(seed);
    let module = lowered(&text).map_err(|error| format!("seed {seed}: {error}\n{text}"))?;
    check_module(module, seed, false).map_err(|error| format!("{error}\n{text}"))
}

/// Runs a module as it is, after `build`, after `launch`, with its buffers in pieces, and after `legalize`; with `explain` a difference is traced to a pass.
fn check_module(mut module: Module, seed: u64, explain: bool) -> Result<bool, String> {
    let fail = |what: &str, message: String, module: &Module| {
        let module = if explain { module.to_string() } else { String::new() };
        format!("seed {seed}, {what}: {message}\n{module}")
    };
    verify(&module).map_err(|errors| fail("the program", errors.iter().map(|error| format!("{error}\n")).collect(), &module))?;
    let expected = match outcome(&module, Stage::Lowered) {
        Ok(expected) => expected,
        Err(_) if explain => return Ok(false),
        Err(error) => return Err(fail("lowered", error, &module)),
    };
    let before = module.clone();
    let target = Target::full();
    passes::build(&mut module, &target).map_err(|error| fail("build", error.to_string(), &before))?;
    let built = outcome(&module, Stage::Built).map_err(|error| fail("built", format!("{error}\n{module}"), &before))?;
    if built != expected {
        let difference = if explain { first_difference(&before, &expected) } else { String::new() };
        return Err(fail("build", format!("a different outcome {difference}"), &before));
    }
    let key = key(&module);
    // Every other program for a device that limits loops.
    let target = if seed.is_multiple_of(2) { Target::lavapipe() } else { target }.changed(|target| {
        target.shaders.int16 = !seed.is_multiple_of(3);
        target.language.fused_fma = seed.is_multiple_of(5);
    });
    let mut launched = bound(&module, &key, &target).map_err(|error| fail("launch", error, &module))?;
    let result = outcome(&launched, Stage::Launched).map_err(|error| fail("launched", format!("{error}\n{launched}"), &module))?;
    if result != expected {
        let difference = if explain { first_launch_difference(&module, &key, &target, &expected) } else { String::new() };
        return Err(fail("launch", format!("a different outcome {difference}"), &module));
    }
    passes::pieces::run(&mut launched.functions[0], &interpret::pieces());
    verify(&launched).map_err(|errors| fail("pieces", format!("{errors:?}"), &module))?;
    let result = outcome(&launched, Stage::Launched).map_err(|error| fail("in pieces", format!("{error}\n{launched}"), &module))?;
    if result != expected {
        return Err(fail("in pieces", "a different outcome".to_owned(), &module));
    }
    passes::legalize::run(&mut launched, &target);
    verify(&launched).map_err(|errors| fail("legalize", format!("{errors:?}"), &module))?;
    let result = outcome(&launched, Stage::Launched).map_err(|error| fail("legalized", format!("{error}\n{launched}"), &module))?;
    if result != expected {
        return Err(fail("legalize", "a different outcome".to_owned(), &module));
    }
    Ok(true)
}

/// A source as the front end lowers it.
fn lowered(text: &str) -> Result<Module, String> {
    let (target, options) = (Target::full(), BuildOptions { std: CStd::Cl30, ..BuildOptions::default() });
    let source = Source { text: text.to_owned(), ..Source::default() };
    let (mut map, mut diags) = (SourceMap::default(), Diagnostics::default());
    let tokens = preprocess::preprocess(&source, &options, &target, &mut map, &mut diags);
    let unit = parse::parse(tokens, &mut diags);
    let checked = sema::check(&unit, &options, &target, &mut diags);
    let log = render(&map, &diags, RenderOptions { colour: false, no_warnings: true, warnings_are_errors: false });
    let checked = checked.filter(|_| !diags.has_errors()).ok_or(log)?;
    lower::lower(&checked, &options, &target).map_err(|error| error.message)
}

/// Takes lines out of a source as long as it fails in the same stage.
fn smaller(text: &str, seed: u64) -> String {
    let stage = |text: &str| {
        let error = lowered(text).and_then(|module| check_module(module, seed, false)).err()?;
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

/// What comes out after all passes.
fn final_outcome(module: &Module) -> Result<Vec<Vec<u8>>, String> {
    let mut module = module.clone();
    let target = Target::full();
    passes::build(&mut module, &target).map_err(|error| error.to_string())?;
    let key = key(&module);
    let module = bound(&module, &key, &target)?;
    outcome(&module, Stage::Launched)
}

/// The kernel for a launch, before it is legalised.
fn bound(module: &Module, key: &LaunchKey, target: &Target) -> Result<Module, String> {
    let mut made = Specialised::new(module, "k", key, target, None).map_err(|error| error.to_string())?;
    made.bind().map_err(|error| error.to_string())?;
    Ok(made.module)
}

/// Looks at the IR after every pass, and keeps what the first one has left after which the outcome differs.
struct Search<'e> {
    stage: Stage,
    expected: &'e [Vec<u8>],
    before: Mutex<Module>,
    found: Mutex<Option<String>>,
}

impl Search<'_> {
    fn look(&self, left: &Left<'_>) {
        let (mut found, mut before) = (self.found.lock().unwrap(), self.before.lock().unwrap());
        let module = left.module();
        if found.is_none() && outcome(&module, self.stage).as_deref() != Ok(self.expected) {
            *found = Some(format!("after {}:\n{before}\n=>\n{module}", left.pass));
        }
        *before = module;
    }

    /// The pass, if the run came to one, and the program before and after it.
    fn finish(self) -> String {
        self.found.into_inner().unwrap().unwrap_or_else(|| "in no pass".to_owned())
    }
}

/// Names the first pass of `build` after which the outcome differs, with the program before and after it.
fn first_difference(module: &Module, expected: &[Vec<u8>]) -> String {
    let search = Search { stage: Stage::Built, expected, before: Mutex::new(module.clone()), found: Mutex::default() };
    let built = passes::build_watched(&mut module.clone(), &Target::full(), Some(&|left: &Left<'_>| search.look(left)));
    built.map_or_else(|error| error.to_string(), |()| search.finish())
}

/// The same for what a launch goes through.
fn first_launch_difference(module: &Module, key: &LaunchKey, target: &Target, expected: &[Vec<u8>]) -> String {
    let search = Search { stage: Stage::Launched, expected, before: Mutex::new(module.clone()), found: Mutex::default() };
    let watch = |left: &Left<'_>| search.look(left);
    let made = Specialised::new(module, "k", key, target, Some(&watch)).map_err(|error| error.to_string());
    let bound = made.and_then(|mut made| made.bind().map_err(|error| error.to_string()));
    bound.map_or_else(|error| error, |()| search.finish())
}

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Checks programs of many seeds; `WGCL_FUZZ_SEED` and `WGCL_FUZZ_COUNT` say which. How many ran to their end, and how many there were.
fn check_many(count: u64, check: impl Fn(u64) -> Result<bool, String>) -> (u64, u64) {
    let (first, count) = (from_env("WGCL_FUZZ_SEED").unwrap_or(1), from_env("WGCL_FUZZ_COUNT").unwrap_or(count));
    let mut finished = 0;
    let mut failures = Vec::new();
    for seed in first..first + count {
        match check(seed) {
            Ok(true) => finished += 1,
            Ok(false) => {}
            Err(message) => failures.push(message),
        }
    }
    let count_of_failures = failures.len();
    // The shortest is the easiest to understand.
    let shortest = failures.into_iter().min_by_key(String::len).unwrap_or_default();
    assert!(count_of_failures == 0, "{count_of_failures} of {count} programs fail; {shortest}");
    (finished, count)
}

#[test]
fn random_programs_keep_their_meaning() {
    if let Some(seed) = from_env("WGCL_FUZZ_SHRINK") {
        let module = generate::module(seed);
        let mut small = shrink::shrink(&module, &|module| {
            outcome(module, Stage::Lowered).is_ok_and(|expected| final_outcome(module).as_ref() != Ok(&expected))
        });
        small.functions.iter_mut().for_each(passes::compact::run);
        println!("{small}\n{:?}\n{:?}", outcome(&small, Stage::Lowered), final_outcome(&small));
    }
    let (finished, count) = check_many(400, check);
    assert!(count < 100 || finished * 2 > count, "{finished} of {count} programs ran to their end");
}

#[test]
fn random_sources_keep_their_meaning() {
    if let Some(seed) = from_env("WGCL_FUZZ_SHRINK") {
        println!("{}", smaller(&source::program(seed), seed));
    }
    check_many(60, check_source);
}
