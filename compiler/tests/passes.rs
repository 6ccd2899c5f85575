//! Runs passes on IR in text form: `tests/passes/*.ir`.
//!
//! The first line of a file names passes or lists of passes, a launch and a device. A module follows, then a line `;
//! =>`, and the expected module. With `alone`, each function is a separate module, so the functions must not call each
//! other. With `unprinted`, only the results of kernels are compared. With `UPDATE_EXPECT=1` in the environment, the
//! expected part is rewritten: review the difference.
//!
//! ```text
//! ; pass: subgroup_coalesce renumber target=nvidia local=64x1x1 key.distinct=true
//! ; run: global=128 bytes=8192 values=7,100
//! ```
//! With a line `; run:`, the interpreter executes every kernel of the file before and after the passes, with the same
//! arguments. The results must be equal. `bytes` is the size of each buffer. Buffers contain pseudo-random words. With
//! `below=8`, the words are less than 8.

#[path = "common/launches.rs"]
mod launches;
#[path = "passes/options.rs"]
mod options;

use launches::{ArgValue, Case, SpecialisedPart, bytes_of, difference, outcome, run_parts, run_whole};
use options::Options;
use std::path::Path;
use wgcl_compiler::interpret::{NdRange, Stage};
use wgcl_compiler::ir::{Func, Function, KernelParam, Module, read::read_module, verify::verify};
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::passes::{self, Driver, Step};

const SEPARATOR: &str = "; =>\n";

fn apply(module: &mut Module, pass: &str, options: &Options) -> Result<(), String> {
    let key = options.key(module.functions.first().ok_or("no function")?)?;
    match pass {
        "build" => return passes::build(module, &options.target).map_err(|error| error.to_string()),
        // Callees have larger numbers than callers, and are inlined first.
        "inline" => {
            let count = u32::try_from(module.functions.len()).map_err(|error| error.to_string())?;
            let order: Vec<Func> = (0..count).rev().map(Func).collect();
            let mut policy = passes::inline::Policy::new(module, &order);
            for func in order {
                passes::inline::run(module, func, &policy).map_err(|error| error.to_string())?;
                policy.decide(func, module, options.target.inlining);
            }
            return Ok(());
        }
        _ => {}
    }
    let driver = Driver::new(&options.target, &key, None);
    let made = match (passes::find(pass), passes::LISTS.iter().find(|(name, _)| *name == pass)) {
        (Some(pass), _) => driver.run(module, &[Step::Pass(pass)]),
        (None, Some((_, steps))) => driver.run(module, steps),
        (None, None) => return Err(format!("unknown pass `{pass}`")),
    };
    made.map(drop).map_err(|error| error.to_string())
}

/// Returns the module before and after the passes.
fn transform(text: &str, options: &Options) -> Result<(Module, Module), String> {
    let before = read_module(text).map_err(|error| error.to_string())?;
    let verified = |module: &Module, when: &str| {
        verify(module).map_err(|errors| {
            let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!("{when}: {}\n{module}", list.join("\n"))
        })
    };
    verified(&before, "the input")?;
    let mut module = before.clone();
    for pass in &options.passes {
        if options.alone {
            for number in 0..module.functions.len() {
                let mut one = Module { functions: vec![module.functions[number].clone()], globals: module.globals.clone() };
                apply(&mut one, pass, options)?;
                module.functions[number] = one.functions.swap_remove(0);
            }
        } else {
            apply(&mut module, pass, options)?;
        }
        verified(&module, pass)?;
    }
    Ok((before, module))
}

/// Creates the launch of a kernel that a line `; run:` describes.
fn case(kernel: &Function, options: &Options, run: &options::Run) -> Result<Case, String> {
    let key: LaunchKey = options.key(kernel)?;
    let (mut memory, mut args, mut merged_offsets) = (Vec::new(), Vec::new(), Vec::new());
    let (mut common, mut values) = (0, run.values.iter());
    for (index, (param, &value)) in (0_u32..).zip(kernel.kernel.iter().flat_map(|data| &data.params).zip(&kernel.params)) {
        merged_offsets.push(if key.binding.merged.contains(&index) { common } else { 0 });
        args.push(match param {
            KernelParam::Buffer { .. } if key.kernel.null_args.contains(&index) => ArgValue::Buffer(None),
            KernelParam::Buffer { .. } => {
                let number = memory.len();
                let word = |at: u32| (at * 8 + index).wrapping_mul(0x9e37_79b1) >> 3;
                let words = (0..run.bytes.div_ceil(4)).map(|at| word(at).checked_rem(run.below).unwrap_or(word(at)));
                memory.push(words.flat_map(u32::to_le_bytes).collect());
                common += if key.binding.merged.contains(&index) { run.bytes.next_multiple_of(256) } else { 0 };
                ArgValue::Buffer(Some((number, if key.binding.started_args.contains(&index) { 128 } else { 0 })))
            }
            KernelParam::Local { .. } => ArgValue::Local(4096),
            _ => ArgValue::Value(bytes_of(kernel.ty(value), values.next().copied().unwrap_or(3))),
        });
    }
    let range = NdRange { work_dim: 3, global_offset: [0; 3], global_size: run.global, local_size: key.kernel.enqueued_local_size };
    let target = options.target.clone();
    Ok(Case {
        profile: "test",
        kernel: kernel.name.clone(),
        target,
        range,
        memory,
        args,
        key,
        merged_offsets,
        common,
        group_independent: false,
        split_at: 0,
    })
}

/// Runs all kernels before and after the passes. Fails if the results differ.
fn compare(before: &Module, after: &Module, options: &Options, run: &options::Run) -> Result<(), String> {
    for kernel in before.functions.iter().filter(|function| function.kernel.is_some()) {
        let case = case(kernel, options, run)?;
        let fail = |error: String| format!("{}: {error}", kernel.name);
        let expected = outcome(&case, |undefined| run_whole(&case, before, Stage::Built, undefined)).map_err(fail)?;
        let made = [SpecialisedPart { module: after.clone(), key: case.key.clone(), part: None }];
        let result =
            outcome(&case, |undefined| run_parts(&case, &made, undefined)).map_err(|error| fail(format!("after the passes {error}")))?;
        if result != expected {
            return Err(fail(format!("the results differ in {}", difference(&case, &expected, &result))));
        }
    }
    Ok(())
}

fn check(path: &Path, bless: bool) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (input, expected) = text.split_once(SEPARATOR).unwrap_or((&text, ""));
    let options = Options::read(input)?;
    let (before, after) = transform(input, &options)?;
    if let Some(run) = &options.run {
        compare(&before, &after, &options, run)?;
        if options.unprinted {
            return Ok(());
        }
    }
    let output = after.to_string();
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
fn passes_produce_the_expected_text() {
    let bless = std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1");
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

/// There are 30 nested loops. A pass that visits the body of each loop twice would visit a billion bodies.
#[test]
fn nested_loops_are_visited_once_per_level() -> Result<(), String> {
    const DEPTH: usize = 30;
    let mut body = String::from("%5: f32x8 = load %0 align 32\nstore %1, %5 align 32\n");
    for level in 0..DEPTH {
        let [iteration, test, next] = [0, 1, 2].map(|k| 10 + 3 * level + k);
        body = format!(
            "loop (%{iteration}: i32 = %3) {{\n%{test}: bool = ult %{iteration}, %2\nif %{test} {{\nyield\n}} else {{\nbreak\n}}\n{body}%{next}: i32 = add %{iteration}, %4\ncontinue %{next}\n}}\n"
        );
    }
    let text = format!(
        "kernel @f0 \"deep\" (%0: ptr.global buffer, %1: ptr.global buffer, %2: i32 value) {{\n%3: i32 = const 0\n%4: i32 = const 1\n{body}return\n}}\n"
    );
    let mut module = read_module(&text).map_err(|error| error.to_string())?;
    let function = &mut module.functions[0];
    let key = LaunchKey::example(function, [64, 1, 1]).changed(|key| key.binding.distinct = true);
    assert!(
        !passes::subgroup_coalesce::run(function, &key, 32),
        "the pass must not change the kernel: all work-items access the same address"
    );
    Ok(())
}
