//! Programs: sources in several strings, build options, logs, asynchronous builds, queries, and rejected arguments.

mod common;

use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::ffi::{
    CL_BUILD_ERROR, CL_BUILD_NONE, CL_BUILD_PROGRAM_FAILURE, CL_BUILD_SUCCESS, CL_INVALID_BUILD_OPTIONS, CL_INVALID_CONTEXT,
    CL_INVALID_DEVICE, CL_INVALID_OPERATION, CL_INVALID_PROGRAM, CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_VALUE, CL_PROGRAM_BUILD_OPTIONS,
    CL_PROGRAM_BUILD_STATUS, CL_PROGRAM_CONTEXT, CL_PROGRAM_DEVICES, CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_NUM_DEVICES,
    CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_REFERENCE_COUNT, CL_PROGRAM_SOURCE, CL_SUCCESS, cl_int, cl_program, cl_uint,
};
use common::objects::{Context, Program};
use common::{info, info_string, target};

const SOURCE: &str = "kernel void one(global int *a) { a[0] = 1; }\nkernel void two(global int *a, int n) { a[0] = n; }\n";

fn program_info<T: Copy + Default>(program: &Program, name: cl_uint) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetProgramInfo(program.0, name, size, value, ret))
}

fn program_text(program: &Program, name: cl_uint) -> Result<String, cl_int> {
    info_string(|size, value, ret| target().cl.clGetProgramInfo(program.0, name, size, value, ret))
}

fn build_status(program: &Program) -> cl_int {
    let target = target();
    info(|size, value, ret| target.cl.clGetProgramBuildInfo(program.0, target.device, CL_PROGRAM_BUILD_STATUS, size, value, ret))
        .expect("the build status")
}

#[test]
fn program_queries_are_answered() {
    let context = Context::new();
    let program = context.program(SOURCE);
    assert_eq!(program_info(&program, CL_PROGRAM_REFERENCE_COUNT), Ok(1u32));
    assert_eq!(program_info(&program, CL_PROGRAM_CONTEXT), Ok(context.0 as usize));
    assert_eq!(program_info(&program, CL_PROGRAM_NUM_DEVICES), Ok(1u32));
    assert_eq!(program_info(&program, CL_PROGRAM_DEVICES), Ok(target().device as usize));
    assert_eq!(program_text(&program, CL_PROGRAM_SOURCE).as_deref(), Ok(SOURCE));
    assert_eq!(program_info::<usize>(&program, CL_PROGRAM_NUM_KERNELS), Err(CL_INVALID_PROGRAM_EXECUTABLE), "not built yet");
    assert_eq!(program_info::<u32>(&program, 0xdead), Err(CL_INVALID_VALUE));
    assert_eq!(build_status(&program), CL_BUILD_NONE);
    assert_eq!(program.build(""), CL_SUCCESS);
    assert_eq!(build_status(&program), CL_BUILD_SUCCESS);
    assert_eq!(program_info(&program, CL_PROGRAM_NUM_KERNELS), Ok(2usize));
    let mut names: Vec<String> =
        program_text(&program, CL_PROGRAM_KERNEL_NAMES).unwrap_or_default().split(';').map(str::to_owned).collect();
    names.sort();
    assert_eq!(names, ["one", "two"]);
}

#[test]
fn a_source_may_consist_of_several_strings() {
    let context = Context::new();
    let cl = &target().cl;
    let pieces = [
        CString::new("kernel void pie").unwrap_or_default(),
        CString::new("ces(global int *a) XXXX").unwrap_or_default(),
        CString::new("{ a[0] = 7; }").unwrap_or_default(),
    ];
    let pointers: Vec<*const c_char> = pieces.iter().map(|piece| piece.as_ptr()).collect();
    // The middle string ends at its given length, and the other strings end at their NUL.
    let lengths = [0, 18, 0];
    let mut status = 1;
    let program = Program(cl.clCreateProgramWithSource(context.0, 3, pointers.as_ptr(), lengths.as_ptr(), &mut status));
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(program_text(&program, CL_PROGRAM_SOURCE).as_deref(), Ok("kernel void pieces(global int *a){ a[0] = 7; }"));
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    program.kernel("pieces");
}

#[test]
fn invalid_creation_is_rejected() {
    let context = Context::new();
    let cl = &target().cl;
    let text: *const c_char = c"kernel void f() {}".as_ptr();
    let create = |context, count, strings: *const *const c_char| {
        let mut status = 1;
        let program = cl.clCreateProgramWithSource(context, count, strings, null(), &mut status);
        assert_eq!(program.is_null(), status != CL_SUCCESS);
        status
    };
    assert_eq!(create(context.0, 0, &text), CL_INVALID_VALUE);
    assert_eq!(create(context.0, 1, null()), CL_INVALID_VALUE);
    assert_eq!(create(context.0, 2, [text, null()].as_ptr()), CL_INVALID_VALUE);
    assert_eq!(create(null_mut(), 1, &text), CL_INVALID_CONTEXT);
}

#[test]
fn the_log_of_a_failed_build_has_source_locations() {
    let context = Context::new();
    let program = context.program("kernel void f(global int *a)\n{\n    a[0] = nonsense;\n}\n");
    assert_eq!(program.build(""), CL_BUILD_PROGRAM_FAILURE);
    assert_eq!(build_status(&program), CL_BUILD_ERROR);
    let log = program.log();
    assert!(log.contains(":3:12: ") && log.contains("nonsense"), "{log}");
    if target().is_wgcl() {
        assert!(log.contains("    a[0] = nonsense;") && log.contains('^'), "the line and a caret: {log}");
    }
    assert!(program.try_kernel("f").is_err_and(|status| status == CL_INVALID_PROGRAM_EXECUTABLE));
    // A program may be built again, with options that fix the error.
    assert_eq!(program.build("-Dnonsense=5"), CL_SUCCESS, "{}", program.log());
    assert_eq!(build_status(&program), CL_BUILD_SUCCESS);
    program.kernel("f");
}

#[test]
fn build_options_are_stored_and_checked() {
    let context = Context::new();
    let target = target();
    let program = context.program("kernel void f(global int *a) { a[0] = VALUE; }");
    let options = "-DVALUE=3 -cl-mad-enable";
    assert_eq!(program.build(options), CL_SUCCESS, "{}", program.log());
    let kept = info_string(|size, value, ret| {
        target.cl.clGetProgramBuildInfo(program.0, target.device, CL_PROGRAM_BUILD_OPTIONS, size, value, ret)
    });
    assert_eq!(kept.map(|text| text.trim().to_owned()).as_deref(), Ok(options));
    for accepted in [
        "-DVALUE",
        "-D VALUE=1",
        "-DVALUE=1 -I . -w",
        "-DVALUE=1 -cl-std=CL1.2",
        "-DVALUE=1 -cl-std=CL1.1 -cl-opt-disable",
        "-DVALUE=1 -cl-fast-relaxed-math -cl-finite-math-only -cl-unsafe-math-optimizations -cl-no-signed-zeros",
        "-DVALUE=1 -cl-single-precision-constant -cl-denorms-are-zero -cl-kernel-arg-info",
        "  -DVALUE=1   -g  ",
    ] {
        let program = context.program("kernel void f(global int *a) { a[0] = VALUE; }");
        assert_eq!(program.build(accepted), CL_SUCCESS, "{accepted}: {}", program.log());
    }
    for refused in ["-DVALUE=1 -cl-nonsense", "-DVALUE=1 --what", "-DVALUE=1 -cl-std=CL9.9", "-D", "words"] {
        let program = context.program("kernel void f(global int *a) { a[0] = VALUE; }");
        assert_eq!(program.build(refused), CL_INVALID_BUILD_OPTIONS, "{refused}");
        assert!(program.log().starts_with("error: "), "{refused}: {}", program.log());
    }
}

#[test]
fn a_build_for_invalid_device_lists_is_rejected() {
    let context = Context::new();
    let target = target();
    let cl = &target.cl;
    let program = context.program(SOURCE);
    assert_eq!(cl.clBuildProgram(program.0, 1, null(), null(), None, null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clBuildProgram(program.0, 0, &target.device, null(), None, null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clBuildProgram(program.0, 0, null(), null(), None, (&raw const *cl as *mut c_void).cast()), CL_INVALID_VALUE);
    assert_eq!(cl.clBuildProgram(null_mut(), 0, null(), null(), None, null_mut()), CL_INVALID_PROGRAM);
    if target.is_wgcl() {
        let nothing = null_mut();
        assert_eq!(cl.clBuildProgram(program.0, 1, &nothing, null(), None, null_mut()), CL_INVALID_DEVICE);
        assert_eq!(cl.clBuildProgram(context.0, 0, null(), null(), None, null_mut()), CL_INVALID_PROGRAM);
    }
    // Without a device list, the call builds for all devices of the program.
    assert_eq!(cl.clBuildProgram(program.0, 0, null(), null(), None, null_mut()), CL_SUCCESS);
}

#[test]
fn a_program_with_kernels_is_not_built_again() {
    let context = Context::new();
    let program = context.build(SOURCE);
    let kernel = program.kernel("one");
    assert_eq!(program.build(""), CL_INVALID_OPERATION);
    drop(kernel);
    assert_eq!(program.build(""), CL_SUCCESS);
}

static NOTIFIED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn notify(program: cl_program, data: *mut c_void) {
    NOTIFIED.store(program as usize ^ data as usize, Ordering::SeqCst);
}

#[test]
fn an_asynchronous_build_calls_back() {
    let context = Context::new();
    let target = target();
    let program = context.program(SOURCE);
    let data = 0x1234usize;
    let status = target.cl.clBuildProgram(program.0, 1, &target.device, null(), Some(notify), data as *mut c_void);
    assert_eq!(status, CL_SUCCESS);
    let begin = Instant::now();
    while NOTIFIED.load(Ordering::SeqCst) == 0 && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(NOTIFIED.load(Ordering::SeqCst), program.0 as usize ^ data);
    assert_eq!(build_status(&program), CL_BUILD_SUCCESS);
    program.kernel("two");
}

#[test]
fn programs_are_reference_counted_and_other_handles_are_rejected() {
    let cl = &target().cl;
    let context = Context::new();
    let program = context.program(SOURCE);
    assert_eq!(cl.clRetainProgram(program.0), CL_SUCCESS);
    assert_eq!(program_info(&program, CL_PROGRAM_REFERENCE_COUNT), Ok(2u32));
    assert_eq!(cl.clReleaseProgram(program.0), CL_SUCCESS);
    assert_eq!(cl.clRetainProgram(null_mut()), CL_INVALID_PROGRAM);
    assert_eq!(cl.clReleaseProgram(null_mut()), CL_INVALID_PROGRAM);
    if target().is_wgcl() {
        assert_eq!(cl.clReleaseProgram(context.0), CL_INVALID_PROGRAM);
        let handle = program.0;
        drop(program);
        assert_eq!(cl.clReleaseProgram(handle), CL_INVALID_PROGRAM);
    }
}

#[test]
fn malformed_sources_are_rejected_without_harm() {
    let context = Context::new();
    let deep =
        |open: &str, close: &str, n: usize| format!("kernel void f(global int *a) {{ a[0] = {}1{}; }}", open.repeat(n), close.repeat(n));
    if !target().is_wgcl() {
        return;
    }
    for source in [
        String::new(),
        "\0".to_owned(),
        "\u{feff}kernel".to_owned(),
        "kernel void".to_owned(),
        "\"unterminated".to_owned(),
        "/* unterminated".to_owned(),
        "#define A A A\n#define B A A A\nkernel void f() { B }".to_owned(),
        "kernel void f(global int *a) { a[0] = 1 / 0; a[1] = 5 % 0; a[2] = 1 << 100; a[3] = (-2147483647 - 1) / -1; }".to_owned(),
        deep("(", ")", 100_000),
        deep("-", "", 100_000),
        deep("!(", ")", 50_000),
        format!("kernel void f() {{ {} {} }}", "{".repeat(100_000), "}".repeat(100_000)),
        format!("kernel void f() {{ {} ; }}", "if (1) ".repeat(50_000)),
        format!("kernel void f(global int *a) {{ a[0] = {}1; }}", "1 + ".repeat(100_000)),
        format!("{}\n", "#if 1\n".repeat(50_000)),
        format!("typedef int {}x{}; kernel void f() {{}}", "(".repeat(50_000), ")".repeat(50_000)),
        format!("kernel void f(global int *a) {{ a[0] = {}; }}", "9".repeat(100_000)),
        "\u{1}\u{7f}§§§ kernel \\ void".to_owned(),
    ] {
        let program = context.program(if source.is_empty() { " " } else { &source });
        let status = program.build("");
        assert!([CL_SUCCESS, CL_BUILD_PROGRAM_FAILURE].contains(&status), "{status} for {:.60}", source);
        assert_eq!(status == CL_SUCCESS, build_status(&program) == CL_BUILD_SUCCESS);
    }
}
