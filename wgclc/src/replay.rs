//! `wgclc replay`: runs captured launches again, and compares the results with the captured ones.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use wgcl_client::capture::{self, Capture};
use wgcl_client::compare::differences;
use wgcl_client::devices::{Device, Libraries};
use wgcl_client::error::ClientError;
use wgcl_client::replay::{self, Replayed};
use wgcl_client::session::Buffer;

use crate::arguments::ReplayArguments;
use crate::child;
use crate::compile::show;
use crate::run::{exit_code, first_times, format_time, median, print_log, value};

/// Replays the launches that the command line names.
pub fn run(arguments: &ReplayArguments) -> ExitCode {
    if !child::is_child() {
        return child::run(&[&arguments.device], arguments.check);
    }
    exit_code(replay_all(arguments))
}

/// Replays all launches in the directory. Returns false if a result differs from the captured one.
fn replay_all(arguments: &ReplayArguments) -> Result<bool, ClientError> {
    let captures =
        capture::folders(&arguments.directory)?.iter().map(|folder| Capture::read(folder)).collect::<Result<Vec<_>, ClientError>>()?;
    let libraries = Libraries::find(std::env::var_os("WGCL_LIBRARY").map(PathBuf::from));
    let device = libraries.device(arguments.device.as_deref(), |device| arguments.check.is_none() || device.checks_kernels())?;
    show(&format!("{} ({})\n", device.name, device.platform));
    let mut agree = true;
    for capture in &captures {
        agree &= replay_one(arguments, &device, capture)?;
    }
    Ok(agree)
}

fn replay_one(arguments: &ReplayArguments, device: &Device, capture: &Capture) -> Result<bool, ClientError> {
    let mut text =
        format!("kernel {}, launch {}, captured on {} by wgcl {}\n", capture.kernel, capture.launch, capture.device, capture.wgcl);
    if capture.program_variables > 0 {
        let _ = writeln!(text, "the contents of {} bytes of program-scope variables were not captured", capture.program_variables);
    }
    show(&text);
    let ran = replay::replay(device, capture, arguments.repeat)?;
    if !ran.log.is_empty() {
        print_log(&format!("{}\n", ran.log));
    }
    show(&times(&ran));
    if !capture.is_complete() {
        show(&format!("the captured launch did not complete, so there are no results to compare: {}\n", capture.status));
        return Ok(true);
    }
    let mut agree = true;
    for (index, after) in ran.memory.into_iter().enumerate() {
        let captured = Buffer { after: capture.contents(index, "after")?, ..after.clone() };
        agree &= compare(arguments, &captured, &after);
    }
    Ok(agree)
}

/// Describes the times of a replay.
fn times(ran: &Replayed) -> String {
    let mut text = first_times(ran.build, ran.first, ran.first_on_device);
    let further = &ran.further;
    if let (Some(&least), Some(median), Some(&most)) = (further.iter().min(), median(further), further.iter().max()) {
        let [least, median, most] = [least, median, most].map(format_time);
        let _ = write!(text, ", {} further launches: minimum {least}, median {median}, maximum {most}", further.len());
    }
    text.push('\n');
    text
}

/// Prints how a memory object differs from the captured contents. Returns whether they agree.
fn compare(arguments: &ReplayArguments, captured: &Buffer, replayed: &Buffer) -> bool {
    let name = &captured.name;
    let found = differences(captured, replayed, arguments.within, arguments.print);
    let Some(found) = found else {
        show(&format!("{name}: as captured\n"));
        return true;
    };
    let by = if captured.element.is_float() { format!(", by up to {:.1} ulp", found.ulp) } else { String::new() };
    let mut text = format!("{name}: {} of {} elements differ{by}\n", found.count, found.total);
    for (index, old, new) in &found.first {
        let (old, new) = (value(captured.element, *old), value(captured.element, *new));
        let _ = writeln!(text, "  {name}[{index}] is {new}, captured {old}");
    }
    show(&text);
    false
}
