//! Runs the `.cl` files under `tests/cl` through the real ICD loader and checks what their comments say.
//!
//! Each file runs in a process of its own, so that a crash or a hang costs one test. It runs twice: on the device, and on wgcl's
//! interpreter, which executes programs as they are before anything is made for a device; both must meet the expectations, and they must
//! agree bit by bit where a value is exact. `WGCL_TEST_INTERPRETER=0` leaves the second out, as does choosing a device or a platform. The command line is that of
//! Rust's own test programs as far as `cargo test` needs it: words select files by a part of their path, `--list` lists,
//! `--jobs N` sets how many run at once. `tests/README.md` describes the directives; `WGCL_TEST_PLATFORM` and its
//! fellows (see `common/mod.rs`) choose another platform to compare with.

#[path = "cl_files/diagnostics.rs"]
mod diagnostics;
#[path = "cl_files/directive.rs"]
mod directive;
#[path = "cl_files/element.rs"]
mod element;
#[path = "cl_files/execute.rs"]
mod execute;
#[path = "cl_files/expression.rs"]
mod expression;
#[path = "cl_files/image.rs"]
mod image;
#[path = "cl_files/record.rs"]
mod record;

mod common;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Exit status of a file none of whose variants can run on the device.
const SKIPPED: u8 = 77;

/// A file that takes longer is taken for hung; `WGCL_TEST_TIMEOUT` (seconds) overrides it.
const TIMEOUT: Duration = Duration::from_secs(300);

enum Outcome {
    Passed,
    Skipped,
    Failed,
}

fn main() -> ExitCode {
    let mut filters = Vec::new();
    let mut record = None;
    let mut list = false;
    let mut jobs = std::thread::available_parallelism().map_or(1, usize::from);
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
            "--list" => list = true,
            "--jobs" | "--test-threads" => jobs = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(jobs),
            // Options of the standard harness that change nothing here.
            _ if argument.starts_with('-') => {}
            _ => filters.push(argument),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cl");
    let mut files = Vec::new();
    find(&root, &mut files);
    files.sort();
    let name = |file: &Path| file.strip_prefix(&root).unwrap_or(file).display().to_string();
    files.retain(|file| filters.is_empty() || filters.iter().any(|filter| name(file).contains(filter)));
    if list {
        files.iter().for_each(|file| println!("{}: test", name(file)));
        return ExitCode::SUCCESS;
    }

    let both = both_devices();
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    let (passed, skipped) = (AtomicUsize::new(0), AtomicUsize::new(0));
    println!("\nrunning {} tests", files.len());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begin = Instant::now();
                    let (outcome, report) = if both { run_on_both(file) } else { run_apart(file, None, None) };
                    let seconds = begin.elapsed().as_secs_f32();
                    let name = name(file);
                    match outcome {
                        Outcome::Passed => {
                            passed.fetch_add(1, Ordering::Relaxed);
                            println!("test {name} ... ok ({}, {seconds:.1} s)", report.trim());
                        }
                        Outcome::Skipped => {
                            skipped.fetch_add(1, Ordering::Relaxed);
                            println!("test {name} ... ignored ({})", report.trim());
                        }
                        Outcome::Failed => {
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
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All `.cl` files below a folder.
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

/// Whether to run files on the interpreter, too.
fn both_devices() -> bool {
    let chosen = ["WGCL_TEST_PLATFORM", "WGCL_TEST_DEVICE"].into_iter().any(|name| std::env::var_os(name).is_some());
    !chosen && std::env::var("WGCL_TEST_INTERPRETER").as_deref() != Ok("0")
}

/// Runs a file on the device and on the interpreter, and compares.
fn run_on_both(file: &Path) -> (Outcome, String) {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return (Outcome::Failed, format!("no folder for outputs: {error}")),
    };
    let (first, second) = (folder.path().join("device"), folder.path().join("interpreter"));
    let (mut outcome, mut report) = run_apart(file, None, Some(&first));
    let (interpreted, more) = run_apart(file, Some("interpreter"), Some(&second));
    match interpreted {
        Outcome::Failed => {
            if !matches!(outcome, Outcome::Failed) {
                report.clear();
            }
            outcome = Outcome::Failed;
            report.push_str(&format!("on the interpreter:\n{more}"));
        }
        Outcome::Passed if matches!(outcome, Outcome::Skipped) => {
            outcome = Outcome::Passed;
            report = format!("on the interpreter alone: {more}");
        }
        _ => {}
    }
    if matches!(outcome, Outcome::Passed) {
        let differences = record::differences(&first, &second);
        if !differences.is_empty() {
            return (Outcome::Failed, format!("{}\n", differences.join("\n")));
        }
    }
    (outcome, report)
}

/// Runs a file in a child process, on the device of that name, which writes the contents of buffers to `record`.
fn run_apart(file: &Path, device: Option<&str>, record: Option<&Path>) -> (Outcome, String) {
    let limit = std::env::var("WGCL_TEST_TIMEOUT").ok().and_then(|text| text.parse().ok()).map_or(TIMEOUT, Duration::from_secs);
    let child = std::env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        if let Some(record) = record {
            command.arg("--record").arg(record);
        }
        if let Some(device) = device {
            command.env("WGCL_TEST_DEVICE", device);
            if std::env::var_os("WGCL_LOG").is_none() {
                // A fault says more than the status of a command.
                command.env("WGCL_LOG", "error");
            }
        }
        command.arg("--one").arg(file).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    });
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return (Outcome::Failed, format!("cannot start the test process: {error}")),
    };
    // Both pipes are drained while the child runs, or it would block on a full one.
    let drain = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // A broken pipe only shortens the report.
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
                // It may have ended meanwhile; either way there is no status to report.
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
    };
    let mut report = out.join().unwrap_or_default();
    let errors = err.join().unwrap_or_default();
    let outcome = match status {
        Some(status) if status.success() => return (Outcome::Passed, report),
        Some(status) if status.code() == Some(i32::from(SKIPPED)) => return (Outcome::Skipped, report),
        Some(status) => {
            if status.code() != Some(1) {
                report.push_str(&format!("the test process ended with {status}\n"));
            }
            Outcome::Failed
        }
        None => {
            report.push_str(&format!("no end after {} s\n", limit.as_secs()));
            Outcome::Failed
        }
    };
    report.push_str(&errors);
    (outcome, report)
}

/// Runs a variant that prints in yet another process, whose standard output is the kernels' alone, and compares that.
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

/// One variant in this process; what is wrong goes to standard error.
fn run_printing(file: &Path, number: usize) -> ExitCode {
    let Ok(source) = std::fs::read_to_string(file) else { return ExitCode::FAILURE };
    let variants = directive::parse_file(&source).unwrap_or_default();
    let Some(variant) = variants.get(number) else { return ExitCode::FAILURE };
    let problems = execute::variant(&source, variant, &mut record::Recorder::default());
    problems.iter().for_each(|problem| eprintln!("{problem}"));
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a file in this process; its report goes to standard output.
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
    let mut reasons = Vec::new();
    for (number, variant) in variants.iter().enumerate() {
        if variant.diagnostics.is_empty() && variant.runs.is_empty() && variant.log.is_empty() {
            println!("the file has no run, error, warning or log directive: it tests nothing");
            return ExitCode::FAILURE;
        }
        if let Some(reason) = execute::missing_feature(variant) {
            reasons.push(reason);
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
    reasons.dedup();
    if done == 0 {
        println!("{}", reasons.join(", "));
        return ExitCode::from(SKIPPED);
    }
    let skipped =
        if reasons.is_empty() { String::new() } else { format!(", {} variants skipped: {}", variants.len() - done, reasons.join(", ")) };
    println!("{done} builds, {runs} runs{skipped}");
    ExitCode::SUCCESS
}
