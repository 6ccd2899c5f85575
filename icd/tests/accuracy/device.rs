//! Runs a function over many arguments on the device under test.

use std::fmt::Write as _;

use crate::common::ffi::{CL_SUCCESS, cl_uint};
use crate::common::objects::{Context, Mem, Program, Queue};
use crate::common::{info, info_string, target};
use crate::format::Format;
use crate::functions::{Bound, FUNCTIONS, Function};
use crate::judge::{DeviceResult, Mode};
use crate::reference::Case;

const CL_DEVICE_SINGLE_FP_CONFIG: cl_uint = 0x101B;
const CL_DEVICE_DOUBLE_FP_CONFIG: cl_uint = 0x1032;
const CL_DEVICE_HALF_FP_CONFIG: cl_uint = 0x1033;
const CL_FP_DENORM: u64 = 1;
const CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT: u64 = 1 << 7;

/// Returns the device's floating-point configuration for a format, or 0 if the device does not support the format.
fn config(format: &Format) -> u64 {
    let name = match format.size {
        2 => CL_DEVICE_HALF_FP_CONFIG,
        4 => CL_DEVICE_SINGLE_FP_CONFIG,
        _ => CL_DEVICE_DOUBLE_FP_CONFIG,
    };
    info::<u64>(|size, value, ret| target().cl.clGetDeviceInfo(target().device, name, size, value, ret)).unwrap_or(0)
}

/// Whether arithmetic in this format keeps denormals.
pub fn keeps_denormals(format: &Format) -> bool {
    config(format) & CL_FP_DENORM != 0
}

pub fn supports(format: &Format) -> bool {
    let extensions = info_string(|size, value, ret| {
        target().cl.clGetDeviceInfo(target().device, crate::common::ffi::CL_DEVICE_EXTENSIONS, size, value, ret)
    })
    .unwrap_or_default();
    let has = |name: &str| extensions.split_whitespace().any(|word| word == name);
    match format.size {
        2 => has("cl_khr_fp16"),
        4 => true,
        _ => has("cl_khr_fp64"),
    }
}

/// Returns the build variants for this format.
pub fn modes(format: &Format) -> Vec<Mode> {
    let config = config(format);
    let flush = !keeps_denormals(format);
    let plain = Mode { options: "", finite: false, flush, relaxed: false, rounded: false };
    let mut modes = vec![
        plain,
        Mode { options: "-cl-fast-relaxed-math", finite: true, flush: true, relaxed: true, ..plain },
        Mode { options: "-cl-finite-math-only", finite: true, ..plain },
        Mode { options: "-cl-denorms-are-zero", flush: true, ..plain },
    ];
    if format.size == 4 && config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0 {
        modes.push(Mode { options: "-cl-fp32-correctly-rounded-divide-sqrt", rounded: true, ..plain });
    }
    modes
}

/// Returns the source of a program with a kernel for each function that has the type.
fn source(format: &Format) -> String {
    let name = format.name;
    let bits = match format.size {
        2 => "as_ushort",
        4 => "as_uint",
        _ => "as_ulong",
    };
    let mut text = format!("#define T {name}\n#define AS_U {bits}\n");
    if format.size == 2 {
        text.push_str("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    }
    for (index, function) in FUNCTIONS.iter().enumerate() {
        if function.bound(format) == Bound::Absent {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "kernel void {}(global const T *a, global const T *b, global const T *c, global const int *n, global T *out, global T *out2, \
             global int *ints)\n{{\n    size_t i = get_global_id(0);\n    T x = a[i], y = b[i], z = c[i], second = 0;\n    int m = n[i], whole = \
             0;\n    {}\n}}\n",
            Function::kernel(index),
            function.body()
        );
    }
    text
}

pub fn build(context: &Context, format: &Format, mode: Mode) -> Program {
    let program = context.program(&source(format));
    assert_eq!(program.build(mode.options), CL_SUCCESS, "{} {}:\n{}", format.name, mode.options, program.log());
    program
}

/// The arguments in the device's memory, and memory for results.
pub struct Arguments {
    inputs: [Mem; 4],
    out: [Mem; 3],
    count: usize,
    format: Format,
}

pub fn bytes(format: &Format, values: impl Iterator<Item = f64>) -> Vec<u8> {
    values.flat_map(|x| format.encode(x).to_le_bytes().into_iter().take(format.size)).collect()
}

pub fn values(format: &Format, bytes: &[u8]) -> Vec<f64> {
    let decode = |chunk: &[u8]| format.decode(chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)));
    bytes.chunks(format.size).map(decode).collect()
}

impl Arguments {
    pub fn new(context: &Context, queue: &Queue, format: &Format, cases: &[Case]) -> Self {
        let size = cases.len() * format.size;
        let inputs = [context.buffer(size), context.buffer(size), context.buffer(size), context.buffer(cases.len() * 4)];
        let out = [context.buffer(size), context.buffer(size), context.buffer(cases.len() * 4)];
        for (index, mem) in inputs.iter().take(3).enumerate() {
            queue.write(mem, &bytes(format, cases.iter().map(|case| case.x.get(index).copied().unwrap_or(0.0))));
        }
        queue.write(&inputs[3], &cases.iter().map(|case| case.n).collect::<Vec<i32>>());
        Self { inputs, out, count: cases.len(), format: *format }
    }

    pub fn run(&self, queue: &Queue, program: &Program, index: usize) -> Vec<DeviceResult> {
        let kernel = program.kernel(&Function::kernel(index));
        for (at, mem) in (0..).zip(self.inputs.iter().chain(&self.out)) {
            kernel.set_mem(at, mem);
        }
        assert_eq!(queue.launch(&kernel, &[self.count], None), CL_SUCCESS, "clEnqueueNDRangeKernel");
        let read = |mem: &Mem| values(&self.format, &queue.read::<u8>(mem, self.count * self.format.size));
        let (value, second) = (read(&self.out[0]), read(&self.out[1]));
        let ints = queue.read::<i32>(&self.out[2], self.count);
        value.iter().zip(second).zip(ints).map(|((&value, second), int)| DeviceResult { value, second, int: int.into() }).collect()
    }
}
