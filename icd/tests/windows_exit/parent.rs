//! Starts the children, and checks how they end.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use super::child::STATUS;
use super::wine;

/// The environment variable that contains the name of a [`Way`].
pub const WAY: &str = "WGCL_TEST_EXIT";

/// The environment variable that contains the path for [`wine::open_report`].
pub const REPORT: &str = "WGCL_TEST_EXIT_REPORT";

/// A way in which a child process ends.
struct Way {
    name: &'static str,
    status: i32,
    /// An option that makes the library print at the end of the process.
    option: Option<&'static str>,
    /// For each pair, the library must print one of the two texts. It prints the second text if the result is not
    /// available, because an ended thread held its lock.
    prints: &'static [[&'static str; 2]],
}

const fn way(name: &'static str, status: i32) -> Way {
    Way { name, status, option: None, prints: &[] }
}

const CHECKS: &[[&str; 2]] = &[
    ["of 1 kernel: nothing found", "wgcl: cannot print the summary of the checks"],
    ["wgcl: not released: ", "wgcl: cannot print the list of unreleased objects"],
    [
        "wgcl: the application did not wait for the last commands of ",
        "wgcl: cannot print the number of queues that the application did not wait for",
    ],
];
const STATISTICS: &[[&str; 2]] = &[["memory objects", "wgcl: cannot print the summary (WGCL_STATS)"]];

const WAYS: [Way; 8] = [
    way("return", 0),
    way("exit", STATUS),
    way("exit_process", STATUS),
    way("unload", 0),
    way("unload_unused", 0),
    Way { name: "return_checked", status: 0, option: Some("WGCL_CHECK"), prints: CHECKS },
    Way { name: "exit_process_checked", status: STATUS, option: Some("WGCL_CHECK"), prints: CHECKS },
    Way { name: "exit_process_traced", status: STATUS, option: Some("WGCL_STATS"), prints: STATISTICS },
];

/// The time limit of a child.
const LIMIT: Duration = Duration::from_secs(60);

pub fn run() -> ExitCode {
    let count = std::env::var("WGCL_TEST_EXITS").ok().and_then(|text| text.parse().ok()).unwrap_or(50);
    let mut failed = 0;
    println!("\nrunning {} tests", WAYS.len());
    for way in WAYS {
        let problems: Vec<String> =
            (0..count).filter_map(|number| Some(format!("child {number}: {}", end_of_child(&way).err()?))).collect();
        println!("test {} ... {}", way.name, if problems.is_empty() { "ok" } else { "FAILED" });
        problems.iter().for_each(|problem| println!("  {problem}"));
        failed += usize::from(!problems.is_empty());
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {} passed; {failed} failed; 0 ignored", WAYS.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The maximum number of children that are started because Wine ended the previous one too early.
const TRIES: u32 = 5;

fn end_of_child(way: &Way) -> Result<(), String> {
    for _ in 0..TRIES {
        if let Some(text) = run_child(way)? {
            return if way.option.is_some() { check_output(way, &text) } else { Ok(()) };
        }
    }
    Err(format!("the exit handlers of the library returned in none of {TRIES} processes"))
}

/// The file that receives the output of a child. The output of a child that hangs is available, too.
fn output_file() -> PathBuf {
    std::env::temp_dir().join(format!("wgcl-exit-{}.txt", std::process::id()))
}

/// Runs a child and returns its output. Returns `None` if Wine ended the process before the exit handlers had returned.
fn run_child(way: &Way) -> Result<Option<String>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = output_file();
    let mut command = Command::new(program);
    command.env(WAY, way.name).stdin(Stdio::null());
    if let Some(option) = way.option {
        command
            .env(option, "1")
            .env(REPORT, output.with_extension("end"))
            .stderr(File::create(&output).map_err(|error| error.to_string())?);
        if option == "WGCL_STATS" {
            command.env("WGCL_TRACE", output.with_extension("json"));
        }
    }
    wait(&mut command.spawn().map_err(|error| error.to_string())?, way.status)?;
    if way.option.is_none() {
        return Ok(Some(String::new()));
    }
    let text = std::fs::read(&output).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok((!wine::is_wine() || wine::has_returned(&output.with_extension("end"))).then_some(text))
}

fn check_output(way: &Way, text: &str) -> Result<(), String> {
    if let Some(missing) = way.prints.iter().find(|texts| !texts.iter().any(|part| text.contains(part))) {
        return Err(format!("did not print {missing:?}:\n{text}"));
    }
    if way.option == Some("WGCL_STATS") {
        let events: Vec<serde_json::Value> = std::fs::read(output_file().with_extension("json"))
            .map_err(|error| error.to_string())
            .and_then(|trace| serde_json::from_slice(&trace).map_err(|error| format!("the trace is invalid: {error}")))?;
        if !events.iter().any(|event| event["cat"] == "command") {
            return Err("the trace contains no command".to_owned());
        }
    }
    Ok(())
}

/// Waits until a child ends, and checks its status.
fn wait(child: &mut Child, wanted: i32) -> Result<(), String> {
    let begin = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.code() == Some(wanted) => return Ok(()),
            Some(status) => return Err(format!("ended with {status} instead of {wanted}")),
            None if begin.elapsed() > LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("has not ended after {} s", LIMIT.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}
