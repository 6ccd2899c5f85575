//! `WGCL_CHECK=convert` reports conversions of floats to integers that cannot represent the result. It does not report
//! saturating conversions.
//!
//! Reports go to standard error. The kernels therefore run in child processes, whose output the tests compare.

mod common;

use std::process::{Command, Output};

use common::ffi::{CL_SUCCESS, cl_int};
use common::objects::{Context, Queue};
use common::target;

const CL_OUT_OF_RESOURCES: cl_int = -5;
/// Environment variable that is set in the process that runs the kernels.
const CHILD: &str = "WGCL_TEST_CONVERSIONS";

/// A test case. It contains the statements on line 3 of a source, and the report up to the id of the group. It also
/// contains the start of the expression whose location is reported.
///
/// The kernel has 4 work-items in one group. In the statements, `i` is the index of the work-item, `z` is 0, and `n` is
/// a NaN.
type Case = (&'static str, &'static str, &'static str);

const WRONG: &[Case] = &[
    ("out[i] = (int)(z + 3e9f);", "(int)", "3000000000 to 'int', which can represent -2147483648 to 2147483647, by work-item (0, 0, 0)"),
    (
        "out[i] = z + 2147483648.0f;",
        "z + 2147483648",
        "2147483648 to 'int', which can represent -2147483648 to 2147483647, by work-item (0, 0, 0)",
    ),
    ("out[i] = (uchar)(i * 100.5f);", "(uchar)", "301.5 to 'uchar', which can represent 0 to 255, by work-item (3, 0, 0)"),
    ("uint u = z - 1 - i; out[i] = u;", "z - 1 - i", "-1 to 'uint', which can represent 0 to 4294967295, by work-item (0, 0, 0)"),
    (
        "int k = 5; k += i == 2 ? n : z; out[i] = k;",
        "k += i",
        "NaN to 'int', which can represent -2147483648 to 2147483647, by work-item (2, 0, 0)",
    ),
    (
        "out[i] = convert_short(z - 40000);",
        "convert_short(",
        "-40000 to 'short', which can represent -32768 to 32767, by work-item (0, 0, 0)",
    ),
    (
        "out[i] = convert_uchar_rte(z + 255.5f);",
        "convert_uchar_rte(",
        "256 to 'uchar', which can represent 0 to 255, by work-item (0, 0, 0)",
    ),
    (
        "out[i] = convert_char4((float4)(1, 2, n, 4)).x;",
        "convert_char4(",
        "NaN in component s2 to 'char', which can represent -128 to 127, by work-item (0, 0, 0)",
    ),
    (
        "long k = (double)z + 1e30; out[i] = k;",
        "(double)z + 1e30",
        "1e30 to 'long', which can represent -9223372036854775808 to 9223372036854775807, by work-item (0, 0, 0)",
    ),
    ("out[i] = (ulong)(z - 2);", "(ulong)", "-2 to 'ulong', which can represent 0 to 18446744073709551615, by work-item (0, 0, 0)"),
    (
        "half h = (half)(z + 65504); out[i] = (short)(h * 2);",
        "(short)",
        "inf to 'short', which can represent -32768 to 32767, by work-item (0, 0, 0)",
    ),
    ("out[i] = rounded(z - 1);", "x;", "-1 to 'ushort', which can represent 0 to 65535, by work-item (0, 0, 0)"),
];

const RIGHT: &[&str] = &[
    "out[i] = convert_int_sat(z + 3e9f) + convert_uchar_sat(z - 1) + convert_int_sat(n) + convert_char4_sat((float4)(1e9f)).y;",
    "out[i] = i == 9 ? (int)n : 3; if (i == 9 && (int)n) out[i] = 1;",
    "out[i] = (uchar)(z - 0.9f) + (uchar)(z + 255.9f) + convert_uchar_rte(z + 255.4f) + (int)(z - 2147483648.0f) + (bool)n;",
    "out[i] = (sin(z + 1e30f) + exp(z + 1e10f) + cos((double)z + 1e300) + tgamma(z + 1e10f) > 1) + pown(z + 2, 3) + (int)log2(z + 8);",
    "out[i] = convert_half(z + 1e10f) > 0; long k = (double)z - 9223372036854775808.0; out[i] += k < 0;",
];

fn source(index: usize, does: &str) -> String {
    format!(
        "ushort rounded(float x) {{ return x; }} kernel void case_{index}(global int *out, float z, float n) {{
            int i = get_global_id(0);\n{does}\n}}"
    )
}

/// Runs a kernel. Returns whether its launch succeeds.
fn run(context: &Context, queue: &Queue, index: usize, does: &str) -> bool {
    eprintln!("@@ {index}");
    let program = context.program(&source(index, does));
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS, "{}", program.log());
    let kernel = program.kernel(&format!("case_{index}"));
    let out = context.buffer(16);
    queue.write(&out, &[0_u32; 4]);
    kernel.set_mem(0, &out);
    for (number, value) in (1..).zip([0.0_f32, f32::NAN]) {
        assert_eq!(kernel.set(number, &value), CL_SUCCESS);
    }
    assert_eq!(queue.launch(&kernel, &[4], Some(&[4])), CL_SUCCESS);
    match target().cl.clFinish(queue.0) {
        CL_SUCCESS => true,
        status => {
            assert_eq!(status, CL_OUT_OF_RESOURCES, "{does}");
            false
        }
    }
}

#[test]
#[ignore = "the other tests run it in child processes"]
fn kernels() {
    let Some(mode) = std::env::var_os(CHILD).filter(|_| common::is_cpu()) else {
        eprintln!("@@ none");
        return;
    };
    let context = Context::new();
    let queue = context.queue(0);
    for (index, (does, ..)) in WRONG.iter().enumerate() {
        assert_eq!(run(&context, &queue, index, does), mode != "fatal,convert", "{does}");
    }
    for (index, does) in (WRONG.len()..).zip(RIGHT) {
        assert!(run(&context, &queue, index, does), "{does}");
    }
    eprintln!("@@ end");
}

/// Returns the output of the process that runs the kernels, if the device supports the check.
fn report(mode: &str) -> Option<String> {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let command = command.args(["--exact", "kernels", "--ignored", "--nocapture"]).env(CHILD, mode).env("WGCL_CHECK", mode);
    let Output { status, stderr, .. } = command.output().expect("a process");
    let text = String::from_utf8_lossy(&stderr).into_owned();
    assert!(status.success(), "{text}");
    (!text.contains("@@ none")).then_some(text)
}

/// Returns the lines of one kernel's output that have source locations.
fn of(text: &str, index: usize) -> Vec<&str> {
    let (_, rest) = text.split_once(&format!("@@ {index}\n")).expect("it was run");
    let own = rest.split("@@ ").next().unwrap_or_default();
    own.lines().filter(|line| line.starts_with("<source>")).collect()
}

fn check_report(text: &str) {
    for (index, (does, at, said)) in WRONG.iter().enumerate() {
        let (line, column) = match does.find(at) {
            Some(column) => (3, column + 1),
            None => (1, source(index, does).find(at).expect("a part of the helper") + 1),
        };
        let expected = format!("<source>:{line}:{column}: error: kernel 'case_{index}': conversion of {said} of group (0, 0, 0)");
        assert_eq!(of(text, index), [expected], "{does}");
    }
    for (index, does) in (WRONG.len()..).zip(RIGHT) {
        assert_eq!(of(text, index), [""; 0], "{does}");
    }
}

#[test]
fn conversions_out_of_range_are_reported() {
    if let Some(text) = report("convert") {
        check_report(&text);
    }
}

#[test]
fn conversions_out_of_range_fail_the_launch_on_request() {
    if let Some(text) = report("fatal,convert") {
        check_report(&text);
    }
}

#[test]
fn conversions_are_not_checked_by_default() {
    if let Some(text) = report("nan") {
        assert!(!text.contains("conversion of"), "{text}");
    }
}
