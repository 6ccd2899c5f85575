//! `WGCL_CHECK=nan` reports operators and built-in functions that produce a NaN from operands that
//! are not NaN. It does not report NaNs of the input, nor intermediate NaNs of the built-in library.
//!
//! Reports go to standard error. The kernels therefore run in child processes, whose output the tests compare.

mod common;

use std::process::{Command, Output};

use common::ffi::{CL_SUCCESS, cl_int};
use common::objects::{Context, Queue};
use common::target;

const CL_OUT_OF_RESOURCES: cl_int = -5;
/// Environment variable that is set in the process that runs the kernels.
const CHILD: &str = "WGCL_TEST_NAN";

/// A test case. It contains the statements on line 3 of a source, and the start of the expression whose location is
/// reported. The last string contains the operands and the work-item in the report.
///
/// The kernel has 4 work-items in one group. In the statements, `i` is the index of the work-item, `z` is 0, `inf` is
/// infinity, and `n` is a NaN.
type Case = (&'static str, &'static str, &'static str);

const WRONG: &[Case] = &[
    ("out[i] = z / z;", "z / z", "0 and 0, by work-item (0, 0, 0)"),
    ("float a = 1; a /= z; a -= inf; out[i] = a;", "a -= inf", "inf and inf, by work-item (0, 0, 0)"),
    ("if (i == 2) out[i] = inf * z;", "inf * z", "inf and 0, by work-item (2, 0, 0)"),
    ("out[i] = (i - 1.0f) * inf;", "(i - 1.0f) * inf", "0 and inf, by work-item (1, 0, 0)"),
    ("out[i] = 2 - z * inf;", "2 - z * inf", "2, 0 and inf, by work-item (0, 0, 0)"),
    ("out[i] = fma(inf, z, n == n ? n : 0.1f);", "fma(inf, z, n == n ? n : 0.1f)", "inf, 0 and 0.1, by work-item (0, 0, 0)"),
    ("out[i] = sqrt(2.0f - i);", "sqrt(2.0f - i)", "-1, by work-item (3, 0, 0)"),
    ("out[i] = native_sqrt(z - 0.5f);", "native_sqrt(z - 0.5f)", "-0.5, by work-item (0, 0, 0)"),
    ("out[i] = log(z - 1.5f);", "log(z - 1.5f)", "-1.5, by work-item (0, 0, 0)"),
    ("out[i] = pow(z - 8, 1.0f / 3);", "pow(z - 8, 1.0f / 3)", "-8 and 0.33333334, by work-item (0, 0, 0)"),
    ("out[i] = powr(z, 0);", "powr(z, 0)", "0 and 0, by work-item (0, 0, 0)"),
    ("out[i] = fmod(1.0f, z);", "fmod(1.0f, z)", "1 and 0, by work-item (0, 0, 0)"),
    ("out[i] = acos(z + 2);", "acos(z + 2)", "2, by work-item (0, 0, 0)"),
    ("float c; out[i] = sincos(inf, &c);", "sincos(inf, &c)", "inf, by work-item (0, 0, 0)"),
    ("out[i] = tgamma(z - 2);", "tgamma(z - 2)", "-2, by work-item (0, 0, 0)"),
    ("out[i] = rootn(z - 1, 4);", "rootn(z - 1, 4)", "-1, by work-item (0, 0, 0)"),
    ("out[i] = mix(inf, -inf, z);", "mix(inf, -inf, z)", "inf, -inf and 0, by work-item (0, 0, 0)"),
    ("out[i] = ((float4)(1, n, inf, 2) - inf).x;", "(float4)(1, n, inf, 2) - inf", "inf and inf in component s2, by work-item (0, 0, 0)"),
    ("out[i] = asin((float8)(n, z, z, z, z, z, z, z + 9)).s1;", "asin(", "9 in component s7, by work-item (0, 0, 0)"),
    ("int2 q; out[i] = remquo((float2)(3, 5), (float2)(1, z), &q).x;", "remquo(", "5 and 0 in component s1, by work-item (0, 0, 0)"),
    ("out[i] = dot((float2)(inf, 1), (float2)(z, 1));", "dot(", "inf, 1, 0 and 1, by work-item (0, 0, 0)"),
    ("double d = z; out[i] = d / (d * 0.1);", "d / (d * 0.1)", "0 and 0, by work-item (0, 0, 0)"),
    ("out[i] = log1p((double)z - 1.1);", "log1p((double)z - 1.1)", "-1.1, by work-item (0, 0, 0)"),
    ("half h = (half)inf; out[i] = h - h;", "h - h", "inf and inf, by work-item (0, 0, 0)"),
    ("half2 h = (half2)(1, i); out[i] = acospi(h).x;", "acospi(h)", "2 in component s1, by work-item (2, 0, 0)"),
    ("out[i] = quotient(z);", "x / x", "0 and 0, by work-item (0, 0, 0)"),
    (
        "barrier(CLK_LOCAL_MEM_FENCE); for (int k = 0; k < 3; k++) out[i] = k / (z + 1 - k) * z;",
        "k / (z + 1 - k) * z",
        "inf and 0, by work-item (0, 0, 0)",
    ),
];

const RIGHT: &[&str] = &[
    "out[i] = n + 1; out[i] += sqrt(n) * NAN - nan(3u); out[i] = as_float(0x7fc00000) * 2;",
    "out[i] = i == 9 ? z / z : z; if (i == 9 && z / z < 1) out[i] = 1;",
    "float4 v = (float4)(n, 1, 2, 3); v *= v; v = normalize(v) + cross(v, v); out[i] = length(v) + dot(v, v) + fmin(n, z);",
    "out[i] = pow(z, 1) + atan2(z, -z) + hypot(inf, n) + pown(z, 0) + fmod(1.0f, inf) + erf(inf) + log2(z + 1) + cbrt(z - 1) + rootn(z - 1, 3);",
    "int e; float4 w, v = (float4)(inf, z, 1, -1); v = fract(v, &w) + modf(v, &w); v = frexp(v, (int4 *)&w); out[i] = asinpi(v * 0).x + lgamma_r(z, &e);",
    "half4 h = (half4)(1, 2, i, -1); double d = exp(-(double)inf) + tanh((double)inf); out[i] = exp2(h).x + sinh(h).y + d + native_divide(1.0f, z);",
];

fn source(index: usize, does: &str) -> String {
    format!(
        "float quotient(float x) {{ return x / x; }} kernel void case_{index}(global float *out, float z, float inf, float n) {{
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
    for (number, value) in (1..).zip([0.0_f32, f32::INFINITY, f32::NAN]) {
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
        assert_eq!(run(&context, &queue, index, does), mode != "fatal,nan", "{does}");
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
        let expected = format!("<source>:{line}:{column}: error: kernel 'case_{index}': NaN produced from {said} of group (0, 0, 0)");
        assert_eq!(of(text, index), [expected], "{does}");
    }
    for (index, does) in (WRONG.len()..).zip(RIGHT) {
        assert_eq!(of(text, index), [""; 0], "{does}");
    }
}

#[test]
fn nans_from_numbers_are_reported() {
    if let Some(text) = report("nan") {
        check_report(&text);
    }
}

#[test]
fn nans_from_numbers_fail_the_launch_on_request() {
    if let Some(text) = report("fatal,nan") {
        check_report(&text);
    }
}

#[test]
fn nans_are_not_checked_by_default() {
    if let Some(text) = report("1") {
        assert!(!text.contains("NaN"), "{text}");
    }
}
