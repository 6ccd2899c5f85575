//! Starts the children, and checks how they end.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use super::child::STATUS;

/// The environment variable with the way in which a child ends.
pub const WAY: &str = "WGCL_TEST_EXIT";

/// Each way, and its exit status.
const WAYS: [(&str, i32); 5] = [("return", 0), ("exit", STATUS), ("exit_process", STATUS), ("unload", 0), ("unload_unused", 0)];

/// The time limit of a child.
const LIMIT: Duration = Duration::from_secs(60);

pub fn run() -> ExitCode {
    let count = std::env::var("WGCL_TEST_EXITS").ok().and_then(|text| text.parse().ok()).unwrap_or(50);
    let mut failed = 0;
    println!("\nrunning {} tests", WAYS.len());
    for (way, status) in WAYS {
        let problems: Vec<String> =
            (0..count).filter_map(|number| Some(format!("child {number}: {}", end_of_child(way, status).err()?))).collect();
        println!("test {way} ... {}", if problems.is_empty() { "ok" } else { "FAILED" });
        problems.iter().for_each(|problem| println!("  {problem}"));
        failed += usize::from(!problems.is_empty());
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {} passed; {failed} failed; 0 ignored", WAYS.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn end_of_child(way: &str, wanted: i32) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program).env(WAY, way).stdin(Stdio::null()).spawn().map_err(|error| error.to_string())?;
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
