//! Random programs do the same before and after the passes.

mod generate;
mod interpret;
mod shrink;

use wgcl_compiler::ir::verify::verify;
use wgcl_compiler::ir::{Func, Module};
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::passes;
use wgcl_compiler::target::Target;

fn outcome(module: &Module) -> Result<Vec<Vec<u8>>, String> {
    let buffers: Vec<Vec<u8>> =
        (0..2_u8).map(|buffer| (0..=255_u8).map(|byte| byte.wrapping_mul(37).wrapping_add(buffer)).collect()).collect();
    let run = |undefined: u8| interpret::run(module, 0, &buffers, &[5, 0xffff_fff0], undefined);
    let first = run(0x5a)?;
    if run(0x31)? == first { Ok(first) } else { Err("the outcome depends on undefined values".to_owned()) }
}

/// Whether the program ran to its end at first.
fn check(seed: u64) -> Result<bool, String> {
    let mut module = generate::module(seed);
    let fail = |what: &str, message: String, module: &Module| format!("seed {seed}, {what}: {message}\n{module}");
    verify(&module).map_err(|errors| fail("the program", errors.iter().map(|error| format!("{error}\n")).collect(), &module))?;
    let Ok(expected) = outcome(&module) else { return Ok(false) };
    let before = module.clone();
    let target = Target::full();
    passes::build(&mut module, &target).map_err(|error| fail("build", error.to_string(), &before))?;
    let built = outcome(&module).map_err(|error| fail("built", format!("{error}\n{module}"), &before))?;
    if built != expected {
        return Err(fail("build", format!("a different outcome {}", first_difference(&before, &expected)), &before));
    }
    let key = LaunchKey::example(&module.functions[0], [64, 1, 1]);
    // Every other program for a device that limits loops.
    let target = Target { loop_limit: seed.is_multiple_of(2), ..target };
    let launched = passes::launch(&module, "k", &key, &target).map_err(|error| fail("launch", error.to_string(), &module))?;
    let result = outcome(&launched).map_err(|error| fail("launched", format!("{error}\n{launched}"), &module))?;
    if result != expected {
        return Err(fail("launch", format!("a different outcome {}", first_launch_difference(&module, &expected)), &module));
    }
    Ok(true)
}

/// What comes out after all passes.
fn final_outcome(module: &Module) -> Result<Vec<Vec<u8>>, String> {
    let mut module = module.clone();
    let target = Target::full();
    passes::build(&mut module, &target).map_err(|error| error.to_string())?;
    let key = LaunchKey::example(&module.functions[0], [64, 1, 1]);
    let module = passes::launch(&module, "k", &key, &target).map_err(|error| error.to_string())?;
    outcome(&module)
}

/// Names the first step of `build` after which the outcome differs, with the function before and after it.
fn first_difference(module: &Module, expected: &[Vec<u8>]) -> String {
    let mut module = module.clone();
    let mut policy = passes::inline::Policy::new(&module);
    let purity = passes::simplify::Purity::unknown();
    for func in [Func(2), Func(1), Func(0)] {
        for pass in ["structure_returns", "inline", "lower_memory", "promote", "walk", "dce", "simplify", "promote", "simplify", "compact"]
        {
            let before = module.clone();
            let function = &mut module.functions[func.index()];
            match pass {
                "structure_returns" if func.0 > 0 => passes::structure_returns::run(function, 8),
                "structure_returns" => {}
                "inline" => {
                    if let Err(error) = passes::inline::run(&mut module, func, &policy) {
                        return error.to_string();
                    }
                }
                "lower_memory" => passes::lower_memory::run(function, 8),
                "promote" => {
                    passes::promote::run(function, 8);
                }
                "dce" => {
                    passes::dce::run(function, &purity);
                }
                "simplify" => passes::simplify::run(function, &purity),
                "compact" => passes::compact::run(function),
                _ => {}
            }
            if outcome(&module).as_deref() != Ok(expected) {
                let only =
                    |module: &Module| Module { functions: vec![module.functions[func.index()].clone()], globals: Vec::new() }.to_string();
                return format!("after {pass} of {func}:\n{}\n=>\n{}", only(&before), only(&module));
            }
        }
        policy.decide(func, &module);
    }
    "in a later step".to_owned()
}

/// The same for `launch`.
fn first_launch_difference(module: &Module, expected: &[Vec<u8>]) -> String {
    let mut module = module.clone();
    let key = LaunchKey::example(&module.functions[0], [64, 1, 1]);
    let purity = passes::simplify::Purity::unknown();
    for pass in ["specialise_key", "promote", "simplify", "resolve_pointers", "simplify", "narrow", "simplify"] {
        let before = module.clone();
        let globals = module.globals.clone();
        for function in &mut module.functions {
            match pass {
                "specialise_key" => passes::specialise_key::run(function, &key),
                "promote" => {
                    passes::promote::run(function, 8);
                }
                "resolve_pointers" => {
                    if let Err(error) = passes::resolve_pointers::run(function, &globals, 8) {
                        return error.to_string();
                    }
                }
                "narrow" => passes::narrow::run(function),
                _ => passes::simplify::run(function, &purity),
            }
        }
        if outcome(&module).as_deref() != Ok(expected) {
            return format!("after {pass}:\n{before}\n=>\n{module}");
        }
    }
    "in a later step".to_owned()
}

#[test]
fn random_programs_keep_their_meaning() {
    let from_env = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (from_env("WGCL_FUZZ_SEED").unwrap_or(1), from_env("WGCL_FUZZ_COUNT").unwrap_or(400));
    let mut finished = 0;
    let mut failures = Vec::new();
    if let Ok(seed) = std::env::var("WGCL_FUZZ_SHRINK") {
        let module = generate::module(seed.parse().unwrap_or(1));
        let mut small =
            shrink::shrink(&module, &|module| outcome(module).is_ok_and(|expected| final_outcome(module).as_ref() != Ok(&expected)));
        small.functions.iter_mut().for_each(passes::compact::run);
        println!("{small}\n{:?}\n{:?}", outcome(&small), final_outcome(&small));
    }
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
    assert!(count < 100 || finished * 2 > count, "{finished} of {count} programs ran to their end");
}
