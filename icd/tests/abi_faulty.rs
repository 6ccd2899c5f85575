//! The sanitizer reports each of 60 kernels with one error (`faulty/kernels.txt`). `scripts/compare-oclgrind` runs the
//! same kernels with Oclgrind: `kernel` then prints the reports of that platform.
//!
//! Reports go to standard error, so each kernel runs in a child process.

mod common;

use std::process::Command;

use common::ffi::{CL_MEM_COPY_HOST_PTR, CL_MEM_READ_ONLY, CL_SUCCESS};
use common::objects::Context;
use common::target;

/// Environment variable of the process that runs a kernel: the number of the kernel.
const CHILD: &str = "WGCL_TEST_FAULTY";

struct Faulty {
    kind: &'static str,
    statements: &'static str,
    /// A part of the report.
    report: &'static str,
}

fn kernels() -> Vec<Faulty> {
    let lines = include_str!("faulty/kernels.txt").lines().filter(|line| !line.starts_with('#'));
    let parts = lines.map(|line| line.split(" | ").collect::<Vec<_>>());
    parts.map(|parts| Faulty { kind: parts[0], statements: parts[1], report: parts[2] }).collect()
}

/// Runs the kernel with the number in the environment, on any platform.
#[test]
#[ignore = "run by the others and by scripts/compare-oclgrind, in processes that check"]
fn kernel() {
    let Some(number) = std::env::var(CHILD).ok().and_then(|number| number.parse::<usize>().ok()) else { return };
    let faulty = &kernels()[number];
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(&format!(
        "kernel void k(global int *out, global int *given, global int *fresh, int n) {{
            local int m[8]; int i = get_global_id(0), l = get_local_id(0);\n{}\n}}",
        faulty.statements
    ));
    let kernel = program.kernel("k");
    let (out, fresh) = (context.buffer(64), context.buffer(64));
    let mut ones = [1_i32; 16];
    let given = context.buffer_with(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, 64, ones.as_mut_ptr().cast());
    queue.write(&out, &[0_u32; 16]);
    queue.write(&fresh, &[0_u32; 4]);
    for (index, mem) in (0..).zip([&out, &given, &fresh]) {
        kernel.set_mem(index, mem);
    }
    assert_eq!(kernel.set(3, &2_i32), CL_SUCCESS);
    if !common::is_cpu() && target().is_wgcl() {
        return;
    }
    eprintln!("@@ {number} {}", faulty.kind);
    assert_eq!(queue.launch(&kernel, &[16], Some(&[8])), CL_SUCCESS);
    // An error of the kernel may fail the launch.
    target().cl.clFinish(queue.0);
    eprintln!("@@ end");
}

#[test]
fn each_faulty_kernel_is_reported() {
    let kernels = kernels();
    assert_eq!(kernels.len(), 60);
    let mut failures = String::new();
    for (number, faulty) in kernels.iter().enumerate() {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        let command = command.args(["--exact", "kernel", "--ignored", "--nocapture"]).env(CHILD, number.to_string()).env("WGCL_CHECK", "1");
        let output = command.output().expect("a process");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        // The device has no sanitizer.
        if !text.contains("@@ ") {
            return;
        }
        let report = text.split_once("@@ ").and_then(|(_, rest)| rest.split_once("@@ end")).map_or("", |(report, _)| report);
        if !report.lines().any(|line| line.starts_with("<source>:3:") && line.contains(faulty.report)) {
            failures.push_str(&format!("{}: {}\n  expected {}\n  found {report}\n", faulty.kind, faulty.statements, faulty.report));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
