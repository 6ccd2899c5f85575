//! Separate compilation: independent translation units, libraries, and binaries of both.

mod common;

use std::ffi::CString;
use std::ptr::{null, null_mut};

use common::ffi::{
    CL_COMPILE_PROGRAM_FAILURE, CL_LINK_PROGRAM_FAILURE, CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARY_TYPE,
    CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_PROGRAM_BINARY_TYPE_LIBRARY, CL_SUCCESS, cl_int,
    cl_program, cl_uint,
};
use common::objects::{Context, Program};
use common::{info, target};

/// The main translation unit: a kernel that calls functions and reads a table of other units. One of the functions
/// returns a structure. The unit has a helper, a macro and a structure whose names another unit also uses.
const MAIN: &str = "struct Pair { int a; float b; };\n\
    struct Pair pair(int x, float y);\n\
    int weigh(global const int *values, int count);\n\
    extern constant int table[4];\n\
    #define SCALE 10\n\
    static int helper(int x) { return x * SCALE; }\n\
    kernel void run(global const int *in, global int *out)\n\
    {\n\
        int i = get_global_id(0);\n\
        struct Pair p = pair(in[i], 0.5f);\n\
        out[i] = helper(p.a) + (int)p.b + table[i & 3] + weigh(in, 4);\n\
    }\n";
const PARTS: &str = "#define SCALE 1000\n\
    typedef struct { int first; float second; } Pair;\n\
    constant int table[4] = { 1, 2, 3, 4 };\n\
    static int helper(int x) { return x + SCALE; }\n\
    Pair pair(int x, float y) { Pair p = { helper(x), y * 100 }; return p; }\n";
const WEIGH: &str = "kernel void bump(global int *out) { out[get_global_id(0)] += WEIGHT; }\n\
    int weigh(global const int *values, int count) { int s = 0; for (int i = 0; i < count; i++) s += values[i]; return s * WEIGHT; }\n";

fn expected(input: &[i32]) -> Vec<i32> {
    let weight: i32 = input[..4].iter().sum::<i32>() * 7;
    (0..).zip(input).map(|(i, x)| (x + 1000) * 10 + 50 + [1, 2, 3, 4][i % 4] + weight).collect()
}

fn compile(program: &Program, options: &str) -> cl_int {
    let options = CString::new(options).unwrap_or_default();
    let target = target();
    target.cl.clCompileProgram(program.0, 1, &target.device, options.as_ptr(), 0, null(), null(), None, null_mut())
}

fn compiled(context: &Context, source: &str, options: &str) -> Program {
    let program = context.program(source);
    assert_eq!(compile(&program, options), CL_SUCCESS, "{}", program.log());
    program
}

/// Links programs. Returns the linked program, and the status of linking. The program exists even if linking failed.
fn link(context: &Context, options: &str, inputs: &[&Program]) -> (Program, cl_int) {
    let options = CString::new(options).unwrap_or_default();
    let inputs: Vec<cl_program> = inputs.iter().map(|program| program.0).collect();
    let target = target();
    let mut status = 1;
    let count = u32::try_from(inputs.len()).unwrap_or(0);
    let program =
        target.cl.clLinkProgram(context.0, 1, &target.device, options.as_ptr(), count, inputs.as_ptr(), None, null_mut(), &mut status);
    (Program(program), status)
}

fn linked(context: &Context, options: &str, inputs: &[&Program]) -> Program {
    let (program, status) = link(context, options, inputs);
    assert_eq!(status, CL_SUCCESS, "{}", program.log());
    program
}

fn binary_type(program: &Program) -> cl_uint {
    let target = target();
    info(|size, value, ret| target.cl.clGetProgramBuildInfo(program.0, target.device, CL_PROGRAM_BINARY_TYPE, size, value, ret))
        .expect("the binary type")
}

/// Returns a program created from the binary of another program.
fn reloaded(context: &Context, program: &Program) -> Program {
    let target = target();
    let size: usize = info(|size, value, ret| target.cl.clGetProgramInfo(program.0, CL_PROGRAM_BINARY_SIZES, size, value, ret))
        .expect("the binary's size");
    assert!(size > 0);
    let mut bytes = vec![0u8; size];
    let mut pointer = bytes.as_mut_ptr();
    let status = target.cl.clGetProgramInfo(program.0, CL_PROGRAM_BINARIES, size_of::<*mut u8>(), (&raw mut pointer).cast(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    let (mut valid, mut status) = (1, 1);
    let binary = bytes.as_ptr();
    let again = target.cl.clCreateProgramWithBinary(context.0, 1, &target.device, &size, &binary, &mut valid, &mut status);
    assert_eq!((status, valid), (CL_SUCCESS, CL_SUCCESS));
    Program(again)
}

fn check(context: &Context, program: &Program) {
    let input = [3, 1, 4, 1, 5, 9, 2, 6];
    let queue = context.queue(0);
    let (source, out) = (context.buffer(32), context.buffer(32));
    queue.write(&source, &input);
    let kernel = program.kernel("run");
    kernel.set_mem(0, &source);
    kernel.set_mem(1, &out);
    assert_eq!(queue.launch(&kernel, &[8], None), CL_SUCCESS);
    let bump = program.kernel("bump");
    bump.set_mem(0, &out);
    assert_eq!(queue.launch(&bump, &[8], None), CL_SUCCESS);
    let wanted: Vec<i32> = expected(&input).iter().map(|x| x + 7).collect();
    assert_eq!(queue.read::<i32>(&out, 8), wanted);
}

#[test]
fn independent_units_are_linked() {
    let context = Context::new();
    let (main, parts) = (compiled(&context, MAIN, ""), compiled(&context, PARTS, ""));
    let weigh = compiled(&context, WEIGH, "-DWEIGHT=7");
    assert_eq!(binary_type(&main), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    let program = linked(&context, "", &[&main, &parts, &weigh]);
    assert_eq!(binary_type(&program), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    check(&context, &program);
    // Link a library, link in another order, and link programs that were created from binaries.
    let library = linked(&context, "-create-library", &[&weigh, &parts]);
    assert_eq!(binary_type(&library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    check(&context, &linked(&context, "", &[&library, &main]));
    let (library, main) = (reloaded(&context, &library), reloaded(&context, &main));
    assert_eq!(binary_type(&library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    check(&context, &linked(&context, "", &[&main, &library]));
    let executable = reloaded(&context, &program);
    assert_eq!(executable.build(""), CL_SUCCESS, "{}", executable.log());
    check(&context, &executable);
}

#[test]
fn undefined_and_duplicate_symbols_are_reported_in_the_log() {
    let context = Context::new();
    let (main, parts) = (compiled(&context, MAIN, ""), compiled(&context, PARTS, ""));
    let (program, status) = link(&context, "", &[&main, &parts]);
    assert_eq!(status, CL_LINK_PROGRAM_FAILURE);
    assert!(program.log().contains("undefined reference to function 'weigh' in unit 1 (<source>:3:5)"), "{}", program.log());
    let (program, status) = link(&context, "", &[&main, &parts, &parts]);
    assert_eq!(status, CL_LINK_PROGRAM_FAILURE);
    assert!(program.log().contains("pair") && program.log().contains("table"), "{}", program.log());
    let other = compiled(&context, "#line 5 \"other.cl\"\nfloat weigh(global const int *values, int count) { return count; }", "");
    let (program, status) = link(&context, "", &[&main, &parts, &other]);
    assert_eq!(status, CL_LINK_PROGRAM_FAILURE);
    let log = program.log();
    assert!(log.contains("conflicting types for 'weigh'") && log.contains("(other.cl:5:7)") && log.contains("(<source>:3:5)"), "{log}");
    let wrong = context.program("int weigh(int x) { return undeclared; }");
    assert_eq!(compile(&wrong, ""), CL_COMPILE_PROGRAM_FAILURE);
    assert!(wrong.log().contains("undeclared"), "{}", wrong.log());
}

#[test]
fn a_build_requires_all_used_definitions() {
    let context = Context::new();
    let program = context.program("extern constant int foo; kernel void k(global int *a) { a[0] = foo; }");
    assert_ne!(program.build(""), CL_SUCCESS);
    assert!(program.log().contains("foo"), "{}", program.log());
    context.build("extern constant int foo; extern int f(int); kernel void k(global int *a) { a[0] = 1; }");
}
