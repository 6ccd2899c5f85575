//! A process that ends while commands are in flight ends promptly and does not crash.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::process::Command as Process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{ALL, adder, buffer, device, launch, start, write};
use wgcl_api::backend::{Device, LaunchArg};

/// Enqueues about a second of work and ends the process. `a_process_may_end_with_work_in_flight` runs this in a child
/// process.
#[test]
#[ignore = "ends the process"]
fn exit_with_work_in_flight() {
    let device = device(ALL[0]);
    let program = adder(&device);
    let memory = device.allocate(64 << 20).unwrap();
    write(&*device, &memory, 0, &[0; 4]);
    for _ in 0..20 {
        let value = LaunchArg::Value(vec![1, 0, 0, 0].into());
        drop(start(&*device, launch(&program, "add", vec![buffer(&memory), value], [16 << 20, 1, 1], [64, 1, 1]), false));
    }
    device.flush();
    if std::env::var_os("WGCL_TEST_LEAK").is_some() {
        // Leaks the objects, like an application that never releases them.
        std::mem::forget((Arc::clone(&device), memory, program));
    }
    std::process::exit(0);
}

/// Ends the process during compilations that take an hour. `a_process_may_end_while_kernels_are_compiled` runs this in
/// a child process.
#[test]
#[ignore = "ends the process"]
fn exit_while_compiling() {
    let device = device(ALL[0]);
    let (begun, wait) = std::sync::mpsc::channel();
    let kernels = ["one", "two", "three"].map(|name| (name.to_owned(), vec![])).to_vec();
    let make = move |_: &str, _: &_| {
        begun.send(()).unwrap();
        std::thread::sleep(Duration::from_secs(3600));
        Err(wgcl_api::backend::BackendError::OutOfHostMemory)
    };
    let program = device.load_shaders(kernels, make).unwrap();
    program.precompile("one", Some([1, 1, 1]), &[]);
    for name in ["two", "three"] {
        drop(start(&*device, launch(&program, name, vec![], [1, 1, 1], [1, 1, 1]), false));
    }
    wait.recv().unwrap();
    std::mem::forget((device, program));
    std::process::exit(7);
}

#[test]
fn a_process_may_end_while_kernels_are_compiled() {
    let begin = Instant::now();
    let mut child = Process::new(std::env::current_exe().unwrap());
    let status = child.args(["--exact", "exit_while_compiling", "--ignored", "--nocapture"]).status().unwrap();
    assert_eq!(status.code(), Some(7), "{status}");
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_process_may_end_with_work_in_flight() {
    for leak in [false, true] {
        let begin = Instant::now();
        let mut child = Process::new(std::env::current_exe().unwrap());
        child.args(["--exact", "exit_with_work_in_flight", "--ignored", "--nocapture"]);
        if leak {
            child.env("WGCL_TEST_LEAK", "1");
        }
        let status = child.status().unwrap();
        assert_eq!(status.code(), Some(0), "{status}");
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
}
