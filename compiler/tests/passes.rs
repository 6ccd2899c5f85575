//! Runs passes on IR in text form: `tests/passes/*.ir`.
//!
//! A file names the passes in its first line (`; pass: promote simplify`), then has a module, a line `; =>`, and the module that must come out.
//! With `WGCL_BLESS=1` in the environment the expected part is rewritten; read the difference before you keep it.

use std::path::Path;
use wgcl_compiler::ir::{Func, Module, read::read_module, verify::verify};
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::passes::{self, Driver, Step};
use wgcl_compiler::specialise::Specialised;
use wgcl_compiler::target::Target;

const SEPARATOR: &str = "; =>\n";

/// The launch and the device that a pass is tested for.
fn settings(module: &Module, pass: &str) -> Result<(LaunchKey, Target), String> {
    let kernel = module.functions.first().ok_or("no function")?;
    let local_size = if pass == "groups" { [6, 1, 1] } else { [64, 1, 1] };
    let key = LaunchKey::example(kernel, local_size).changed(|key| {
        key.binding.distinct = matches!(pass, "deal_turns" | "exchange" | "batch_turns" | "side_by_side");
        key.binding.coarsen = 16;
        match pass {
            "null_argument" => key.kernel.null_args = vec![0],
            "started_argument" => key.binding.started_args = vec![0],
            _ => {}
        }
    });
    let target = Target::full().changed(|target| {
        target.shaders.costs.long_code = pass == "unroll";
        target.shaders.costs.lanes_exchange = pass == "side_by_side";
        target.language.max_subgroup_size = match pass {
            "exchange" => 32,
            "uniform_loads" => 4,
            _ => 128,
        };
    });
    Ok((key, target))
}

fn apply(module: &mut Module, pass: &str) -> Result<(), String> {
    let (mut key, target) = settings(module, pass)?;
    let driver = |key| Driver::new(&target, key, None);
    let steps: &[Step] = match pass {
        "build" => return passes::build(module, &target).map_err(|error| error.to_string()),
        "launch" => {
            key.binding.coarsen = 1;
            let name = module.functions.first().map(|kernel| kernel.name.clone()).unwrap_or_default();
            let mut made = Specialised::new(module, &name, &key, &target, None).map_err(|error| error.to_string())?;
            made.bind().map_err(|error| error.to_string())?;
            *module = made.module;
            return Ok(());
        }
        // Callees have the larger numbers, and are made before what calls them.
        "inline" => {
            let mut policy = passes::inline::Policy::new(module);
            for index in (0..module.functions.len()).rev() {
                let func = Func(u32::try_from(index).map_err(|error| error.to_string())?);
                passes::inline::run(module, func, &policy).map_err(|error| error.to_string())?;
                policy.decide(func, module);
            }
            return Ok(());
        }
        // Every function as if it were the kernel.
        "coarsen" => {
            for function in &mut module.functions {
                passes::coarsen::run(function, 16);
            }
            return Ok(());
        }
        "null_argument" => &[Step::Pass(&passes::specialise_key::PASS)],
        "started_argument" => &[Step::Pass(&passes::specialise_key::START)],
        "unroll_generous" => &[Step::Pass(&passes::unroll::PASS)],
        _ => {
            let pass = passes::find(pass).ok_or_else(|| format!("no pass is called `{pass}`"))?;
            return driver(&key).run(module, &[Step::Pass(pass)]).map(drop).map_err(|error| error.to_string());
        }
    };
    driver(&key).run(module, steps).map(drop).map_err(|error| error.to_string())
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
    let key = LaunchKey::example(function, [64, 1, 1]).changed(|key| key.binding.distinct = true);
    assert!(!passes::exchange::run(function, &key, 32), "all load the same");
    Ok(())
}
