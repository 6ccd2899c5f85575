//! Runs passes on IR in text form: `tests/passes/*.ir`.
//!
//! A file names the passes in its first line (`; pass: promote simplify`), then has a module, a line `; =>`, and the module that must come out.
//! With `WGCL_BLESS=1` in the environment the expected part is rewritten; read the difference before you keep it.

use std::path::Path;
use wgcl_compiler::ir::{Func, Function, Module, read::read_module, verify::verify};
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::passes::{self, simplify::Purity};
use wgcl_compiler::target::Target;

const SEPARATOR: &str = "; =>\n";

fn apply(module: &mut Module, pass: &str) -> Result<(), String> {
    let target = Target::full();
    match pass {
        "build" => return passes::build(module, &target).map_err(|error| error.to_string()),
        "launch" => {
            let kernel = module.functions.first().ok_or("no kernel")?;
            let key = LaunchKey::example(kernel, [64, 1, 1]);
            let name = kernel.name.clone();
            *module = passes::launch(module, &name, &key, &target).map_err(|error| error.to_string())?;
            return Ok(());
        }
        "groups" => {
            passes::groups::run(module, [6, 1, 1], 128);
            return Ok(());
        }
        "inline" => {
            let mut policy = passes::inline::Policy::new(module);
            for index in (0..module.functions.len()).rev() {
                let func = Func(u32::try_from(index).map_err(|error| error.to_string())?);
                passes::inline::run(module, func, &policy).map_err(|error| error.to_string())?;
                policy.decide(func, module);
            }
            return Ok(());
        }
        "constant_arrays" | "constant_loads" => {
            for function in &mut module.functions {
                match pass {
                    "constant_arrays" => passes::constant_arrays::run(function, &module.globals),
                    _ => passes::constant_loads::run(function, &module.globals),
                }
            }
            return Ok(());
        }
        "resolve_pointers" => {
            let globals = module.globals.clone();
            for function in &mut module.functions {
                passes::resolve_pointers::run(function, &globals, 8).map_err(|error| error.to_string())?;
            }
            return Ok(());
        }
        _ => {}
    }
    for function in &mut module.functions {
        function_pass(function, pass)?;
    }
    Ok(())
}

fn function_pass(function: &mut Function, pass: &str) -> Result<(), String> {
    match pass {
        "structure_returns" => passes::structure_returns::run(function, 8),
        "lower_memory" => passes::lower_memory::run(function, 8),
        "promote" => {
            passes::promote::run(function, 8);
        }
        "simplify" => passes::simplify::run(function, &Purity::unknown()),
        "dce" => {
            passes::dce::run(function, &Purity::unknown());
        }
        "narrow" => passes::narrow::run(function),
        "uniform_loads" => {
            let key = LaunchKey::example(function, [64, 1, 1]);
            passes::uniform_loads::run(function, &key, 4);
        }
        "merge_exits" => passes::merge_exits::run(function),
        "null_argument" => {
            let key = LaunchKey { null_args: vec![0], ..LaunchKey::example(function, [64, 1, 1]) };
            passes::specialise_key::run(function, &key);
        }
        "started_argument" => {
            let key = LaunchKey { started_args: vec![0], ..LaunchKey::example(function, [64, 1, 1]) };
            passes::specialise_key::start_parameters(function, &key);
        }
        "unroll" => {
            passes::unroll::run(function, passes::unroll::Mode::Full);
        }
        "unroll_generous" => {
            passes::unroll::run(function, passes::unroll::Mode::Generous);
        }
        "unroll_partial" => {
            passes::unroll::run(function, passes::unroll::Mode::Partial);
        }
        "align" => passes::align::run(function),
        "batch_turns" => {
            passes::batch_turns::run(function, true, &Purity::unknown());
        }
        "deal_turns" => {
            let key = LaunchKey { distinct: true, ..LaunchKey::example(function, [64, 1, 1]) };
            passes::deal_turns::run(function, &key, &Purity::unknown(), passes::deal_turns::WIDTHS);
        }
        "coarsen" => {
            passes::coarsen::run(function, 16);
        }
        "compact" => passes::compact::run(function),
        "constants_inward" => {
            passes::constants_inward::run(function);
        }
        "side_by_side" => {
            passes::side_by_side::run(function, true, &Purity::unknown(), passes::exchange::SHARED);
        }
        "exchange" => {
            let key = LaunchKey { distinct: true, ..LaunchKey::example(function, [64, 1, 1]) };
            passes::exchange::run(function, &key, 32);
        }
        "specialise_key" => {
            let key = LaunchKey::example(function, [64, 1, 1]);
            passes::specialise_key::run(function, &key);
        }
        _ => return Err(format!("no pass is called `{pass}`")),
    }
    Ok(())
}

fn transform(text: &str) -> Result<String, String> {
    let (first, _) = text.split_once('\n').ok_or("an empty file")?;
    let list = first.strip_prefix("; pass:").ok_or("the first line names no passes")?;
    let mut module = read_module(text).map_err(|error| error.to_string())?;
    let verified = |module: &Module, when: &str| {
        verify(module).map_err(|errors| {
            let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!("{when}: {}\n{module}", list.join("\n"))
        })
    };
    verified(&module, "the input")?;
    for pass in list.split_whitespace() {
        apply(&mut module, pass)?;
        verified(&module, pass)?;
    }
    Ok(module.to_string())
}

fn check(path: &Path, bless: bool) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (input, expected) = text.split_once(SEPARATOR).unwrap_or((&text, ""));
    let output = transform(input)?;
    if output == expected {
        return Ok(());
    }
    if bless {
        let text = format!("{}{SEPARATOR}{output}", if input.ends_with('\n') { input.to_owned() } else { format!("{input}\n") });
        return std::fs::write(path, text).map_err(|error| error.to_string());
    }
    Err(format!("expected:\n{expected}\ngot:\n{output}"))
}

#[test]
fn passes_give_the_expected_text() {
    let bless = std::env::var_os("WGCL_BLESS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .map(|entries| {
            entries
                .filter_map(Result::ok)
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|ext| ext == "ir"))
                .collect()
        })
        .unwrap_or_default();
    paths.sort();
    let failures: Vec<String> = paths
        .iter()
        .filter_map(|path| check(path, bless).err().map(|error| format!("{}:\n{error}", path.file_name().unwrap_or_default().display())))
        .collect();
    assert!(!paths.is_empty(), "no tests in {}", folder.display());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Thirty loops within each other: a pass that looks into each of them twice would look a billion times.
#[test]
fn nested_loops_are_looked_at_once_a_level() -> Result<(), String> {
    const DEPTH: usize = 30;
    let mut body = String::from("%5: f32x8 = load %0 align 32\nstore %1, %5 align 32\n");
    for level in 0..DEPTH {
        let [turn, test, next] = [0, 1, 2].map(|k| 10 + 3 * level + k);
        body = format!(
            "loop (%{turn}: i32 = %3) {{\n%{test}: bool = ult %{turn}, %2\nif %{test} {{\nyield\n}} else {{\nbreak\n}}\n{body}%{next}: i32 = add %{turn}, %4\ncontinue %{next}\n}}\n"
        );
    }
    let text = format!(
        "kernel @f0 \"deep\" (%0: ptr.global buffer, %1: ptr.global buffer, %2: i32 value) {{\n%3: i32 = const 0\n%4: i32 = const 1\n{body}return\n}}\n"
    );
    let mut module = read_module(&text).map_err(|error| error.to_string())?;
    let function = &mut module.functions[0];
    let key = LaunchKey { distinct: true, ..LaunchKey::example(function, [64, 1, 1]) };
    assert!(!passes::exchange::run(function, &key, 32), "all load the same");
    Ok(())
}
