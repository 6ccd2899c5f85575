//! Random OpenCL C programs must have the same results on the device and on wgcl's interpreter.
//!
//! `compiler/tests/passes_fuzz` compares the same programs before and after the passes. This test also covers code
//! generation, the driver and the API. `WGCL_FUZZ_SEED` and `WGCL_FUZZ_COUNT` select the programs, `WGCL_FUZZ_KIND`
//! selects one kind (`sources`, `arrays`, `straight`), and `WGCL_FUZZ_ITEMS` sets the number of work-items.
//! `WGCL_FUZZ_SHRINK` reduces a failing program.

#[path = "../../compiler/tests/passes_fuzz/arrays.rs"]
mod arrays;
mod common;
#[path = "../../compiler/tests/passes_fuzz/lines.rs"]
mod lines;
#[path = "../../compiler/tests/passes_fuzz/random.rs"]
mod random;
#[path = "../../compiler/tests/passes_fuzz/source.rs"]
mod source;
#[path = "random_sources/straight.rs"]
mod straight;

use std::ptr::{null, null_mut};

use common::ffi::{
    CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_NAME, CL_DEVICE_SINGLE_FP_CONFIG, CL_DEVICE_TYPE_ALL, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
    CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, CL_PROGRAM_BUILD_LOG, CL_SUCCESS, CL_TRUE, cl_device_fp_config, cl_device_id, cl_uint,
};
use common::objects::{Context, Kernel, Mem, Program, Queue};
use common::{info_string, target};

/// The default number of programs of each kind. It is small, because drivers compile these programs slowly.
const COUNT: u64 = 8;

/// A kind of program: its name, and its generator.
type Kind = (&'static str, fn(u64) -> String);

const KINDS: [Kind; 3] = [("sources", source::program), ("arrays", arrays::program), ("straight", straight::program)];

/// The default number of work-items of the group that runs a program. Sixteen work-items fill a vector of the CPU.
/// `WGCL_FUZZ_ITEMS` sets another number, at most 16: the programs have local arrays with 16 elements.
const ITEMS: u64 = 4;
/// Bytes of a buffer for each work-item.
const SIZE: usize = 128;
/// Disables contraction. Otherwise, two devices may contract different operations, and their results may differ.
const PREFIX: &str = "#pragma OPENCL FP_CONTRACT OFF\n";
/// Removes divisions and square roots of `float` from a program, for devices that do not round them correctly.
const NO_DIVISIONS: &str = "#define ROUNDS_DIFFERENTLY\n";

/// Replaces `double` in a program, for devices without cl_khr_fp64.
const NO_DOUBLES: &str = "#define double float\n";

/// Replaces `double` by `float` in a program, for devices without cl_khr_fp64.
fn without_doubles(text: &str) -> String {
    let text = text
        .replace("#define divide_double(a, b) ((a) / (b))", "#define divide_double divide_float")
        .replace("#define sqrt_double(a) sqrt(a)", "#define sqrt_double sqrt_float")
        .replace("as_long(y0) >> 13", "as_int(y0)")
        .replace("as_long(y0)", "as_int(y0)");
    format!("{NO_DOUBLES}{text}")
}

/// Returns the number in an environment variable.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn devices() -> Vec<cl_device_id> {
    let target = target();
    let mut count: cl_uint = 0;
    assert_eq!(target.cl.clGetDeviceIDs(target.platform, CL_DEVICE_TYPE_ALL, 0, null_mut(), &mut count), CL_SUCCESS);
    let mut devices = vec![null_mut(); count as usize];
    assert_eq!(target.cl.clGetDeviceIDs(target.platform, CL_DEVICE_TYPE_ALL, count, devices.as_mut_ptr(), null_mut()), CL_SUCCESS);
    devices
}

fn name(device: cl_device_id) -> String {
    info_string(|size, value, ret| target().cl.clGetDeviceInfo(device, CL_DEVICE_NAME, size, value, ret)).unwrap_or_default()
}

/// Whether a device rounds divisions and square roots of `float` correctly.
fn rounds_correctly(device: cl_device_id) -> bool {
    fp_config(device, CL_DEVICE_SINGLE_FP_CONFIG) & cl_device_fp_config::from(CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0
}

fn has_doubles(device: cl_device_id) -> bool {
    fp_config(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0
}

fn fp_config(device: cl_device_id, param: cl_uint) -> cl_device_fp_config {
    let mut config: cl_device_fp_config = 0;
    let (size, value) = (size_of_val(&config), (&raw mut config).cast());
    assert_eq!(target().cl.clGetDeviceInfo(device, param, size, value, null_mut()), CL_SUCCESS);
    config
}

/// Runs a program on a device. Returns the contents of the buffers after the run.
fn run(device: cl_device_id, text: &str) -> Result<Vec<Vec<u32>>, String> {
    let cl = &target().cl;
    let mut status = 1;
    let context = Context(cl.clCreateContext(null(), 1, &device, None, null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS, "clCreateContext");
    let queue = Queue(cl.clCreateCommandQueue(context.0, device, 0, &mut status));
    assert_eq!(status, CL_SUCCESS, "clCreateCommandQueue");
    // Without doubles, constants have the type `float` on this device. They must have the same type on the interpreter.
    let options = if text.contains(NO_DOUBLES) { c"-cl-std=CL3.0 -cl-single-precision-constant" } else { c"-cl-std=CL3.0" };
    let text = format!("{PREFIX}{text}");
    let program = Program(cl.clCreateProgramWithSource(context.0, 1, &text.as_ptr().cast(), &text.len(), &mut status));
    assert_eq!(status, CL_SUCCESS, "clCreateProgramWithSource");
    let status = cl.clBuildProgram(program.0, 1, &device, options.as_ptr(), None, null_mut());
    if status != CL_SUCCESS {
        let log = info_string(|size, value, ret| cl.clGetProgramBuildInfo(program.0, device, CL_PROGRAM_BUILD_LOG, size, value, ret));
        return Err(format!("clBuildProgram returned {status}\n{}", log.unwrap_or_default()));
    }
    let kernel: Kernel = program.kernel("k");
    let mut buffers: Vec<Mem> = Vec::new();
    let items = number("WGCL_FUZZ_ITEMS").unwrap_or(ITEMS) as usize;
    let size = SIZE * items;
    for number in 0..2_u16 {
        let mut bytes: Vec<u8> = (0..size as u16).map(|byte| (byte.wrapping_mul(37).wrapping_add(number) & 0xff) as u8).collect();
        buffers.push(context.buffer_with(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, bytes.as_mut_ptr().cast()));
    }
    for (index, mem) in (0..).zip(&buffers) {
        kernel.set_mem(index, mem);
    }
    assert_eq!((kernel.set(2, &5_u32), kernel.set(3, &0xffff_fff0_u32)), (CL_SUCCESS, CL_SUCCESS));
    let status = queue.launch(&kernel, &[items], Some(&[items]));
    if status != CL_SUCCESS {
        return Err(format!("clEnqueueNDRangeKernel returned {status}"));
    }
    let mut contents = Vec::new();
    for mem in &buffers {
        let mut words = vec![0_u32; size / 4];
        let status = cl.clEnqueueReadBuffer(queue.0, mem.0, CL_TRUE, 0, size, words.as_mut_ptr().cast(), 0, null(), null_mut());
        if status != CL_SUCCESS {
            return Err(format!("clEnqueueReadBuffer returned {status}"));
        }
        contents.push(words);
    }
    Ok(contents)
}

/// Whether two runs have the same results. The sign of a NaN may differ between devices.
fn have_equal_results(have: &Result<Vec<Vec<u32>>, String>, want: &Result<Vec<Vec<u32>>, String>) -> bool {
    let words =
        |have: &u32, want: &u32| have == want || (have ^ want == 1 << 31 && matches!(have & u32::MAX >> 1, 0x7fc0_0000 | 0x7ff8_0000));
    match (have, want) {
        (Ok(have), Ok(want)) => have.iter().flatten().zip(want.iter().flatten()).all(|(have, want)| words(have, want)),
        _ => false,
    }
}

/// Whether the program would be undefined or endless without this line. Functions must return, work-items must use
/// separate memory, arrays must be initialised, and loops must count.
fn is_needed(line: &str) -> bool {
    ["#", "return ", "get_global_id(0);", "cells[id] =", "[i]", "a++;", "a += 32"].iter().any(|needed| line.contains(needed))
}

/// Removes lines from a program while the devices still disagree about the results.
fn smaller(text: &str, disagree: &dyn Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut size = lines.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < lines.len() {
            let mut fewer = lines.clone();
            let needed = fewer.drain(at..(at + size).min(lines.len())).any(is_needed);
            if !needed && disagree(&fewer.join("\n")) { lines = fewer } else { at += size }
        }
        size /= 2;
    }
    lines.join("\n")
}

#[test]
fn devices_agree_with_the_interpreter() {
    // SAFETY: the only test of this program, which has started no thread that reads the environment.
    unsafe { std::env::set_var("WGCL_INTERPRETER", "1") };
    if !target().is_wgcl() {
        return;
    }
    let devices = devices();
    let Some(&interpreter) = devices.iter().find(|&&device| name(device) == "wgcl interpreter") else {
        assert!(devices.is_empty(), "the interpreter device is missing");
        return;
    };
    let device = target().device;
    let (exact, doubles) = (rounds_correctly(device), has_doubles(device));
    let (first, count) = (number("WGCL_FUZZ_SEED").unwrap_or(1), number("WGCL_FUZZ_COUNT").unwrap_or(COUNT));
    let wanted = std::env::var("WGCL_FUZZ_KIND").ok();
    let kinds = KINDS.into_iter().filter(|(kind, _)| wanted.as_ref().is_none_or(|wanted| wanted == kind));
    let mut wrong = Vec::new();
    for (seed, (kind, program)) in (first..first + count).flat_map(|seed| kinds.clone().map(move |kind| (seed, kind))) {
        let text = if doubles { program(seed) } else { without_doubles(&program(seed)) };
        let text = if exact { text } else { format!("{NO_DIVISIONS}{text}") };
        let (have, want) = (run(device, &text), run(interpreter, &text));
        if have_equal_results(&have, &want) {
            continue;
        }
        let disagree = |text: &str| {
            let want = run(interpreter, text);
            want.is_ok() && !have_equal_results(&run(device, text), &want)
        };
        let text = if number("WGCL_FUZZ_SHRINK").is_some() { smaller(&text, &disagree) } else { text };
        wrong.push(((kind, seed), text, have, want));
    }
    let seeds: Vec<(&str, u64)> = wrong.iter().map(|(seed, ..)| *seed).collect();
    if let Some(((kind, seed), text, have, want)) = wrong.into_iter().min_by_key(|(_, text, ..)| text.len()) {
        let difference = match (&have, &want) {
            (Ok(have), Ok(want)) => {
                let pairs = have.iter().flatten().zip(want.iter().flatten()).enumerate();
                format!("{:x?}", pairs.filter(|(_, (have, want))| have != want).take(8).collect::<Vec<_>>())
            }
            other => format!("{other:?}"),
        };
        assert_eq!(seeds, [], "program {seed} of {kind} on {}:\n{text}\n{difference}", name(device));
    }
}
