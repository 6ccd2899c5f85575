//! Runs the `.cl` files under `tests/cl` through the ICD loader, and checks the directives in their comments.
//!
//! Each file runs in a child process, so that a crash or a hang affects only one test. It runs twice: on the device,
//! and on wgcl's interpreter, which executes the IR of a build. Both results must meet the expectations. They must
//! agree bit by bit if only one value is correct. `WGCL_TEST_INTERPRETER=0` disables the run on the interpreter, as
//! does the choice of a device or a platform.
//!
//! The command line supports the options of Rust's test programs that `cargo test` needs. Words select files by a part
//! of their path, `--list` lists the files, `--jobs N` sets the number of parallel processes. `WGCL_TEST_PART=1/4`
//! selects every fourth file. `WGCL_TEST_SPIRV=0` (or 2) first compiles the sources to SPIR-V with other compilers
//! (`spirv.rs`). `tests/README.md` describes the directives. `WGCL_TEST_PLATFORM` and related variables (see
//! `common/mod.rs`) select another platform for comparison.

#[path = "cl_files/compare.rs"]
mod compare;
#[path = "cl_files/diagnostics.rs"]
mod diagnostics;
#[path = "cl_files/directive.rs"]
mod directive;
#[path = "cl_files/execute.rs"]
mod execute;
#[path = "cl_files/expected.rs"]
mod expected;
#[path = "cl_files/image.rs"]
mod image;
#[path = "cl_files/record.rs"]
mod record;
#[path = "cl_files/spirv.rs"]
mod spirv;

mod common;

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use expected::Expectations;

/// Exit status of a file without a variant that the device supports.
const SKIPPED: u8 = 77;

/// The prefix of a line in which a process reports a missing feature as the reason for a skip.
const SKIPS: &str = "skips: ";

/// The name of the interpreter's device.
const INTERPRETER: &str = "interpreter";

/// The default time limit of a file. `WGCL_TEST_TIMEOUT` sets another limit, in seconds.
const TIMEOUT: Duration = Duration::from_secs(300);

enum Outcome {
    Passed,
    Skipped,
    Failed {
        /// Whether the failure is a crash, a hang, a difference between the devices, or an error of the test itself.
        /// The lists of expected failures cannot contain such a failure.
        crashed: bool,
    },
}

/// The result of a file on a device.
struct Ran {
    outcome: Outcome,
    /// Missing features for which the file, or some of its builds, were skipped.
    skips: BTreeSet<String>,
    report: String,
}

impl Ran {
    fn failed(report: String) -> Self {
        Self { outcome: Outcome::Failed { crashed: true }, skips: BTreeSet::new(), report }
    }
}

/// The options of the command line.
struct Arguments {
    /// Parts of paths that select files.
    filters: Vec<String>,
    list: bool,
    jobs: usize,
}

fn main() -> ExitCode {
    let mut record = None;
    let mut chosen = Arguments { filters: Vec::new(), list: false, jobs: std::thread::available_parallelism().map_or(1, usize::from) };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--record" => record = arguments.next(),
            "--one" => {
                return arguments.next().map_or(ExitCode::FAILURE, |path| run_here(Path::new(&path), record.as_ref().map(Path::new)));
            }
            "--variant" => {
                let (path, number) = (arguments.next(), arguments.next().and_then(|text| text.parse().ok()));
                return path.zip(number).map_or(ExitCode::FAILURE, |(path, number)| run_printing(Path::new(&path), number));
            }
            "--expected" => return name_list(),
            "--list" => chosen.list = true,
            "--jobs" | "--test-threads" => chosen.jobs = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(chosen.jobs),
            // Ignore the other options of the standard harness.
            _ if argument.starts_with('-') => {}
            _ => chosen.filters.push(argument),
        }
    }
    run_all(&chosen).unwrap_or_else(|error| {
        println!("{error}\ntest result: FAILED. 0 passed; 1 failed; 0 ignored");
        ExitCode::FAILURE
    })
}

/// Runs all selected files, each in a child process.
fn run_all(chosen: &Arguments) -> Result<ExitCode, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cl");
    let mut files = Vec::new();
    find(&root, &mut files);
    files.sort();
    let name = |file: &Path| file.strip_prefix(&root).unwrap_or(file).display().to_string().replace(std::path::MAIN_SEPARATOR, "/");
    let known: BTreeSet<String> = files.iter().map(|file| name(file)).collect();
    if let Some(filter) = chosen.filters.iter().find(|filter| !known.iter().any(|name| name.contains(filter.as_str()))) {
        // This is not an error, because cargo passes the filter to every test program.
        println!("the path of no file in tests/cl contains `{filter}`");
    }
    let part = common::Part::selected()?;
    let mut index = 0..;
    files.retain(|_| index.next().is_some_and(|index| part.contains(index)));
    files.retain(|file| chosen.filters.is_empty() || chosen.filters.iter().any(|filter| name(file).contains(filter)));
    if chosen.list {
        files.iter().for_each(|file| println!("{}: test", name(file)));
        return Ok(ExitCode::SUCCESS);
    }

    let lists = Lists {
        device: expectations(None, &known)?,
        interpreter: if both_devices() { Some(expectations(Some(INTERPRETER), &known)?) } else { None },
    };
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    let (passed, skipped) = (AtomicUsize::new(0), AtomicUsize::new(0));
    println!("\nrunning {} tests", files.len());
    std::thread::scope(|scope| {
        for _ in 0..chosen.jobs.max(1) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begin = Instant::now();
                    let name = name(file);
                    let Ran { outcome, report, .. } = lists.run(file, &name);
                    let seconds = begin.elapsed().as_secs_f32();
                    match outcome {
                        Outcome::Passed => {
                            passed.fetch_add(1, Ordering::Relaxed);
                            println!("test {name} ... ok ({}, {seconds:.1} s)", report.trim());
                        }
                        Outcome::Skipped => {
                            skipped.fetch_add(1, Ordering::Relaxed);
                            println!("test {name} ... ignored ({})", report.trim());
                        }
                        Outcome::Failed { .. } => {
                            println!("test {name} ... FAILED ({seconds:.1} s)");
                            failed.lock().unwrap_or_else(PoisonError::into_inner).push((name, report));
                        }
                    }
                }
            });
        }
    });
    let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.sort();
    for (name, report) in &failed {
        println!("\n---- {name} ----\n{}", report.trim_end());
    }
    let verdict = if failed.is_empty() { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {} passed; {} failed; {} ignored", passed.into_inner(), failed.len(), skipped.into_inner());
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the expectations for a device (see [`run_apart`]), if it has a list. A child process finds the device,
/// because this process must not use OpenCL.
fn expectations(device: Option<&str>, known: &BTreeSet<String>) -> Result<Option<Expectations>, String> {
    let output = command(device).and_then(|mut command| command.arg("--expected").output()).map_err(|error| error.to_string())?;
    let listed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() {
        return Err(listed);
    }
    if listed.is_empty() { Ok(None) } else { Expectations::read(&listed, known).map(Some) }
}

/// Prints the name of the device's list in `tests/expected`.
fn name_list() -> ExitCode {
    match expected::list_of_device() {
        Ok(list) => {
            println!("{}", list.unwrap_or_default());
            ExitCode::SUCCESS
        }
        Err(reason) => {
            println!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// Appends all `.cl` files below a folder.
fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "cl") {
            files.push(path);
        }
    }
}

/// Whether to run files on the interpreter in addition to the device.
fn both_devices() -> bool {
    let chosen = ["WGCL_TEST_PLATFORM", "WGCL_TEST_DEVICE"].into_iter().any(|name| std::env::var_os(name).is_some());
    !chosen && std::env::var("WGCL_TEST_INTERPRETER").as_deref() != Ok("0")
}

/// The expectations for the devices.
struct Lists {
    device: Option<Expectations>,
    /// The expectations for the interpreter. `None` if files do not run on it. `Some(None)` if it has no list.
    interpreter: Option<Option<Expectations>>,
}

impl Lists {
    /// Runs a file on all devices and compares the results with the expectations.
    fn run(&self, file: &Path, name: &str) -> Ran {
        let judge = |list: &Option<Expectations>, ran| match list {
            Some(list) => list.judge(name, ran),
            None => ran,
        };
        match &self.interpreter {
            Some(interpreter) => {
                run_on_both(file, |ran| judge(&self.device, ran), |ran| judge(interpreter, ran)).unwrap_or_else(Ran::failed)
            }
            None => judge(&self.device, run_apart(file, None, None)),
        }
    }
}

/// Runs a file on the device and on the interpreter, checks both results, and compares them. A file that the device
/// skips is skipped, unless it fails on the interpreter.
fn run_on_both(file: &Path, on_device: impl Fn(Ran) -> Ran, on_interpreter: impl Fn(Ran) -> Ran) -> Result<Ran, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no folder for outputs: {error}"))?;
    let (first, second) = (folder.path().join("device"), folder.path().join("interpreter"));
    let mut ran = on_device(run_apart(file, None, Some(&first)));
    let interpreted = on_interpreter(run_apart(file, Some(INTERPRETER), Some(&second)));
    if let Outcome::Failed { .. } = interpreted.outcome {
        if !matches!(ran.outcome, Outcome::Failed { .. }) {
            ran.report.clear();
        }
        ran.outcome = interpreted.outcome;
        ran.report.push_str(&format!("on the interpreter:\n{}", interpreted.report));
    }
    if let Outcome::Passed = ran.outcome {
        let differences = record::differences(&first, &second);
        if !differences.is_empty() {
            return Err(format!("{}\n", differences.join("\n")));
        }
    }
    Ok(ran)
}

/// Returns a command that runs this program again. `device` names the device. If it is `None`, the environment selects
/// the device.
fn command(device: Option<&str>) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(device) = device {
        command.env("WGCL_TEST_DEVICE", device);
    }
    Ok(command)
}

/// Runs a file in a child process, on the device with the given name. The child writes the contents of buffers to
/// `record`.
fn run_apart(file: &Path, device: Option<&str>, record: Option<&Path>) -> Ran {
    let limit = std::env::var("WGCL_TEST_TIMEOUT").ok().and_then(|text| text.parse().ok()).map_or(TIMEOUT, Duration::from_secs);
    let child = command(device).and_then(|mut command| {
        if let Some(record) = record {
            command.arg("--record").arg(record);
        }
        if device.is_some() && std::env::var_os("WGCL_LOG").is_none() {
            // The log contains the cause of a fault, which is more useful than the error code of a command.
            command.env("WGCL_LOG", "error");
        }
        command.arg("--one").arg(file).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    });
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Ran::failed(format!("cannot start the test process: {error}")),
    };
    // Read both pipes while the child runs. Otherwise, the child would block if a pipe is full.
    let drain = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // A read error only shortens the report.
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = drain(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let err = drain(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let begin = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begin.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                // The child may have exited in the meantime. In both cases, there is no status to report.
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
    };
    let (mut report, mut skips) = (String::new(), BTreeSet::new());
    for line in out.join().unwrap_or_default().lines() {
        match line.strip_prefix(SKIPS) {
            Some(feature) => drop(skips.insert(feature.to_owned())),
            None => report.extend([line, "\n"]),
        }
    }
    let errors = err.join().unwrap_or_default();
    let outcome = match status {
        Some(status) if status.success() => return Ran { outcome: Outcome::Passed, skips, report },
        Some(status) if status.code() == Some(i32::from(SKIPPED)) => return Ran { outcome: Outcome::Skipped, skips, report },
        Some(status) => {
            let crashed = status.code() != Some(1);
            if crashed {
                report.push_str(&format!("the test process ended with {status}\n"));
            }
            Outcome::Failed { crashed }
        }
        None => {
            report.push_str(&format!("the time limit of {} s was exceeded\n", limit.as_secs()));
            Outcome::Failed { crashed: true }
        }
    };
    report.push_str(&errors);
    Ran { outcome, skips, report }
}

/// Runs a variant that prints in another process, whose standard output contains only the output of the kernels.
/// Compares that output with the expectations.
fn run_for_output(file: &Path, number: usize, variant: &directive::Variant) -> Vec<String> {
    let child = std::env::current_exe()
        .and_then(|program| Command::new(program).arg("--variant").arg(file).arg(number.to_string()).stdin(Stdio::null()).output());
    let output = match child {
        Ok(output) => output,
        Err(error) => return vec![format!("cannot start the test process: {error}")],
    };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return vec![format!("{errors}the process ended with {}", output.status)];
    }
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let (mut have, mut want): (Vec<&str>, Vec<&str>) = (printed.lines().collect(), variant.prints.iter().map(String::as_str).collect());
    if variant.any_order {
        have.sort_unstable();
        want.sort_unstable();
    }
    if have == want { Vec::new() } else { vec![format!("printed:\n{printed}instead of:\n{}", variant.prints.join("\n"))] }
}

/// Runs one variant in this process. Reports mismatches on standard error.
fn run_printing(file: &Path, number: usize) -> ExitCode {
    let Ok(source) = std::fs::read_to_string(file) else { return ExitCode::FAILURE };
    let variants = directive::parse_file(&source).unwrap_or_default();
    let Some(variant) = variants.get(number) else { return ExitCode::FAILURE };
    let problems = execute::variant(&source, variant, &mut record::Recorder::default());
    problems.iter().for_each(|problem| eprintln!("{problem}"));
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a file in this process. Writes its report to standard output.
fn run_here(file: &Path, record: Option<&Path>) -> ExitCode {
    let parsed =
        std::fs::read_to_string(file).map_err(|error| error.to_string()).and_then(|source| Ok((directive::parse_file(&source)?, source)));
    let (variants, source) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    };
    if let Err(reason) = common::try_target() {
        println!("{reason}");
        return ExitCode::FAILURE;
    }
    let (mut done, mut runs, mut failed) = (0, 0, false);
    let mut recorder = record::Recorder::default();
    let mut missing = BTreeSet::new();
    for (number, variant) in variants.iter().enumerate() {
        if variant.diagnostics.is_empty() && variant.runs.is_empty() && variant.log.is_empty() {
            println!("the file has no run, error, warning or log directive: it tests nothing");
            return ExitCode::FAILURE;
        }
        if spirv::is_about_source(variant) {
            continue;
        }
        if let Some(feature) = execute::missing_feature(variant).or_else(|| spirv::missing(&source, variant)) {
            missing.insert(feature);
            continue;
        }
        let problems = if variant.prints.is_empty() {
            execute::variant(&source, variant, &mut recorder)
        } else {
            run_for_output(file, number, variant)
        };
        for problem in &problems {
            let label = if variant.label.is_empty() { String::new() } else { format!("[{}] ", variant.label) };
            println!("{label}{problem}");
        }
        failed |= !problems.is_empty();
        done += 1;
        runs += variant.runs.len();
    }
    if let Some(Err(error)) = record.map(|record| recorder.write(record)) {
        println!("{error}");
        failed = true;
    }
    if failed {
        return ExitCode::FAILURE;
    }
    missing.iter().for_each(|feature| println!("{SKIPS}{feature}"));
    let missing: Vec<&str> = missing.into_iter().collect();
    let missing = if missing.is_empty() {
        "they test the OpenCL C compiler".to_owned()
    } else {
        format!("the device has no {}", missing.join(", no "))
    };
    if done == 0 {
        println!("{missing}");
        return ExitCode::from(SKIPPED);
    }
    let left_out = variants.len() - done;
    let skipped = if left_out == 0 { String::new() } else { format!(", {left_out} variants skipped: {missing}") };
    println!("{done} builds, {runs} runs{skipped}");
    ExitCode::SUCCESS
}
