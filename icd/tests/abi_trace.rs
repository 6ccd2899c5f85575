//! Tests `WGCL_TRACE` and `WGCL_STATS`. The trace and the summary must contain the program's commands. The trace must
//! be valid even if the program crashed.
//!
//! wgcl reads the two variables once per process, so the tests record child processes.

mod common;

use std::path::Path;
use std::process::Command;
use std::ptr::null;

use common::ffi::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_SUCCESS, cl_event};
use common::objects::{Context, Event};
use common::target;
use serde_json::Value;

/// Environment variable of the process that is recorded. Its value selects how the process exits.
const CHILD: &str = "WGCL_TEST_TRACED";
const ITEMS: usize = 256;
const SOURCE: &str =
    "kernel void twice(global uint *p) { p[get_global_id(0)] *= 2; } kernel void more(global uint *p) { p[get_global_id(0)] += 1; }";

#[test]
#[ignore = "the program that is recorded"]
fn program() {
    let Ok(end) = std::env::var(CHILD) else { return };
    let cl = &target().cl;
    let context = Context::new();
    let (queue, program) = (context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), context.build(SOURCE));
    let mem = context.buffer(4 * ITEMS);
    queue.write(&mem, &[3_u32; ITEMS]);
    queue.finish();
    let mut before: cl_event = std::ptr::null_mut();
    for name in ["twice", "more"] {
        let kernel = program.kernel(name);
        kernel.set_mem(0, &mem);
        let (waits, mut event) = (u32::from(!before.is_null()), std::ptr::null_mut());
        let list = if waits == 0 { null() } else { &raw const before };
        let status = cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &ITEMS, &64, waits, list, &mut event);
        assert_eq!(status, CL_SUCCESS);
        drop((!before.is_null()).then(|| Event(before)));
        before = event;
    }
    drop(Event(before));
    queue.finish();
    assert_eq!(queue.read::<u32>(&mem, ITEMS), [7; ITEMS]);
    if end == "abort" {
        std::process::abort();
    }
}

/// Runs the program. Returns its trace and its summary.
fn record(folder: &Path, end: &str) -> (Vec<Value>, Option<Value>) {
    let (trace, stats) = (folder.join(format!("{end}.json")), folder.join(format!("{end}-stats.json")));
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let command = command.args(["--exact", "program", "--ignored"]).env(CHILD, end).env("WGCL_TRACE", &trace).env("WGCL_STATS", &stats);
    let output = command.output().expect("a process");
    assert_eq!(output.status.success(), end == "exit", "{}", String::from_utf8_lossy(&output.stdout));
    let read = |path: &Path| Some(serde_json::from_slice(&std::fs::read(path).ok()?).expect("JSON"));
    let events = read(&trace).and_then(|trace| Value::as_array(&trace).cloned());
    (events.expect("the trace, an array"), read(&stats))
}

fn slices<'a>(events: &'a [Value], category: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["ph"] == "X" && event["cat"] == category).collect()
}

fn span(slice: &Value) -> (f64, f64) {
    let (start, length) = (slice["ts"].as_f64().expect("a time"), slice["dur"].as_f64().expect("a length"));
    (start, start + length)
}

fn check(events: &[Value]) {
    let commands = slices(events, "command");
    let named = |name: &str| *commands.iter().find(|command| command["name"] == name).expect(name);
    let (twice, more) = (named("twice"), named("more"));
    assert_eq!(twice["args"]["global"], serde_json::json!([ITEMS, 1, 1]));
    assert_eq!(named("WriteBuffer")["args"]["bytes"], 4 * ITEMS);
    // The times are of two clocks. Their comparison may be wrong by half a microsecond.
    assert!(span(twice).1 <= span(more).0 + 0.5, "{twice} {more}");
    let calls = slices(events, "call");
    assert_eq!(calls.iter().filter(|call| call["name"] == "clEnqueueNDRangeKernel" && call["result"] == Value::Null).count(), 2);
    assert!(!slices(events, "build").is_empty());
    // Commands of one track must not overlap.
    for command in &commands {
        let others = commands.iter().filter(|other| other["tid"] == command["tid"] && span(other).0 > span(command).0);
        others.for_each(|other| assert!(span(other).0 >= span(command).1 - 0.5, "{command} {other}"));
    }
    // Every arrow must have a start and an end. One arrow leads from each call to its command, and one from the first
    // kernel to the kernel that waits for it.
    let ends = |phase: &str| {
        let mut numbers: Vec<u64> =
            events.iter().filter(|event| event["ph"] == phase).map(|event| event["id"].as_u64().expect("a number")).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(ends("s"), ends("f"));
    assert!(ends("s").len() > commands.len());
    let is_from_device = |event: &&Value| event["ph"] == "s" && event["pid"] == twice["pid"];
    let arrow = events.iter().find(is_from_device).expect("an arrow between commands");
    let end = events.iter().find(|event| event["ph"] == "f" && event["id"] == arrow["id"]).expect("its end");
    assert_eq!((&end["ts"], &end["tid"]), (&more["ts"], &more["tid"]));
}

#[test]
fn the_commands_of_a_program_are_recorded() {
    if !target().is_wgcl() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (events, stats) = record(folder.path(), "exit");
    check(&events);
    let memory: Vec<u64> =
        events.iter().filter(|event| event["ph"] == "C").map(|event| event["args"]["bytes"].as_u64().expect("bytes")).collect();
    assert_eq!((memory.iter().max(), memory.last()), (Some(&(4 * ITEMS as u64)), Some(&0)));
    let stats = stats.expect("the summary");
    assert_eq!((&stats["kernels"]["twice"]["count"], &stats["kernels"]["more"]["amount"]), (&Value::from(1), &Value::from(ITEMS)));
    assert_eq!(stats["calls"]["clEnqueueNDRangeKernel"]["count"], 2);
    assert_eq!(stats["transfers"]["ReadBuffer"]["amount"], 4 * ITEMS);

    // After a crash, the trace must contain all events. There is no summary.
    let (events, stats) = record(folder.path(), "abort");
    check(&events);
    assert_eq!(stats, None);
}
