//! Built-in kernels: their list, their arguments, their results compared with those of the host, queries of their
//! programs, and the errors of the specification.

mod common;

use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

use common::commands::{Commands, functions};
use common::ffi::{
    CL_BUILD_NONE, CL_DEVICE_BUILT_IN_KERNELS, CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, CL_INVALID_CONTEXT, CL_INVALID_DEVICE,
    CL_INVALID_KERNEL_NAME, CL_INVALID_OPERATION, CL_INVALID_PROGRAM, CL_INVALID_VALUE, CL_KERNEL_ARG_ADDRESS_GLOBAL,
    CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_CONST, CL_KERNEL_ARG_TYPE_NAME,
    CL_KERNEL_ARG_TYPE_QUALIFIER, CL_KERNEL_ARG_TYPE_RESTRICT, CL_KERNEL_ATTRIBUTES, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
    CL_KERNEL_FUNCTION_NAME, CL_KERNEL_GLOBAL_WORK_SIZE, CL_KERNEL_NUM_ARGS, CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_WORK_GROUP_SIZE,
    CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARY_TYPE, CL_PROGRAM_BINARY_TYPE_NONE, CL_PROGRAM_BUILD_LOG,
    CL_PROGRAM_BUILD_OPTIONS, CL_PROGRAM_BUILD_STATUS, CL_PROGRAM_DEVICES, CL_PROGRAM_IL, CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_NUM_DEVICES,
    CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_SOURCE, CL_SUCCESS, cl_int, cl_kernel, cl_program, cl_uint,
};
use common::objects::{Context, Kernel, Mem, Program, Queue};
use common::random::Random;
use common::{info, info_bytes, info_string, target};

/// The parameters of each kernel: types and names. Pointers are global, and those with `const` are read-only.
const PARAMETERS: [(&str, &str); 14] = [
    ("pocl.copy.i8", "const char* input, char* output"),
    ("pocl.add.i8", "const char* input1, const char* input2, char* output"),
    ("pocl.add.i16", "const short* input1, const short* input2, short* output"),
    ("pocl.add.i32", "const int* input1, const int* input2, int* output"),
    ("pocl.mul.i8", "const char* input1, const char* input2, char* output"),
    ("pocl.mul.i16", "const short* input1, const short* input2, short* output"),
    ("pocl.mul.i32", "const int* input1, const int* input2, int* output"),
    ("pocl.abs.f32", "const float* input, float* output"),
    ("pocl.sgemm.local.f32", "const float* A, const float* B, float* C, uint M, uint N, uint K"),
    (
        "pocl.dnn.conv2d.nchw.f32",
        "const float* input, const float* weights, float* output, int input_n, int input_c, int input_h, int input_w, int filt_k, \
         int filt_c, int filt_h, int filt_w, int stride_h, int stride_w, int dilation_h, int dilation_w, int padding_h, int padding_w, \
         int groups, float alpha, float beta",
    ),
    (
        "org.khronos.openvx.scale_image.nn.u8",
        "const uchar* input, uchar* output, float width_scale, float height_scale, int input_width, int input_height",
    ),
    (
        "org.khronos.openvx.scale_image.bl.u8",
        "const uchar* input, uchar* output, float width_scale, float height_scale, int input_width, int input_height",
    ),
    ("org.khronos.openvx.tensor_convert_depth.wrap.u8.f32", "const uchar* input, float* output, float norm, float offset"),
    ("org.khronos.openvx.minmaxloc.r1.u8", "const uchar* input, uchar* min, uchar* max, uint* minloc, uint* maxloc"),
];

/// Whether the device under test has the built-in kernels. Other platforms have other kernels.
fn has_kernels() -> bool {
    target().is_wgcl()
}

fn device_text(name: cl_uint) -> String {
    let target = target();
    info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret)).expect("an answer")
}

fn all_names() -> Vec<String> {
    device_text(CL_DEVICE_BUILT_IN_KERNELS).split(';').map(str::to_owned).collect()
}

fn program_text(program: &Program, name: cl_uint) -> Result<String, cl_int> {
    info_string(|size, value, ret| target().cl.clGetProgramInfo(program.0, name, size, value, ret))
}

fn program_info<T: Copy + Default>(program: &Program, name: cl_uint) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetProgramInfo(program.0, name, size, value, ret))
}

fn kernel_text(kernel: &Kernel, name: cl_uint) -> String {
    info_string(|size, value, ret| target().cl.clGetKernelInfo(kernel.0, name, size, value, ret)).expect("an answer")
}

fn group_info<T: Copy + Default>(kernel: &Kernel, name: cl_uint) -> Result<T, cl_int> {
    let target = target();
    info(|size, value, ret| target.cl.clGetKernelWorkGroupInfo(kernel.0, target.device, name, size, value, ret))
}

/// The parameters of a kernel in the form of [`PARAMETERS`].
fn parameters(kernel: &Kernel) -> String {
    let cl = &target().cl;
    let count: cl_uint = info(|size, value, ret| cl.clGetKernelInfo(kernel.0, CL_KERNEL_NUM_ARGS, size, value, ret)).expect("a count");
    let describe = |index: cl_uint| {
        let text = |name| info_string(|size, value, ret| cl.clGetKernelArgInfo(kernel.0, index, name, size, value, ret)).expect("text");
        let number = |name| info::<cl_uint>(|size, value, ret| cl.clGetKernelArgInfo(kernel.0, index, name, size, value, ret));
        let qualifiers =
            info::<u64>(|size, value, ret| cl.clGetKernelArgInfo(kernel.0, index, CL_KERNEL_ARG_TYPE_QUALIFIER, size, value, ret))
                .expect("qualifiers");
        let type_name = text(CL_KERNEL_ARG_TYPE_NAME);
        let is_pointer = type_name.ends_with('*');
        let address = if is_pointer { CL_KERNEL_ARG_ADDRESS_GLOBAL } else { CL_KERNEL_ARG_ADDRESS_PRIVATE };
        assert_eq!(number(CL_KERNEL_ARG_ADDRESS_QUALIFIER), Ok(address));
        assert_eq!(qualifiers & u64::from(CL_KERNEL_ARG_TYPE_RESTRICT) != 0, is_pointer, "restrict");
        let constant = if qualifiers & u64::from(CL_KERNEL_ARG_TYPE_CONST) != 0 { "const " } else { "" };
        format!("{constant}{type_name} {}", text(CL_KERNEL_ARG_NAME))
    };
    (0..count).map(describe).collect::<Vec<_>>().join(", ")
}

/// A context and a queue of the device under test.
struct Bench {
    context: Context,
    queue: Queue,
}

impl Bench {
    fn new() -> Self {
        let context = Context::new();
        let queue = context.queue(0);
        Self { context, queue }
    }

    fn kernel(&self, name: &str) -> Kernel {
        self.context.built_in(name).expect("a program").kernel(name)
    }

    fn input<T: Copy>(&self, data: &[T]) -> Mem {
        let mem = self.context.buffer(size_of_val(data));
        self.queue.write(&mem, data);
        mem
    }

    /// Runs a kernel with the given buffers as its first arguments.
    fn run(&self, kernel: &Kernel, buffers: &[&Mem], global: &[usize], local: Option<&[usize]>) {
        for (index, mem) in (0..).zip(buffers) {
            kernel.set_mem(index, mem);
        }
        assert_eq!(self.queue.launch(kernel, global, local), CL_SUCCESS, "clEnqueueNDRangeKernel");
        self.queue.finish();
    }
}

fn set_all<T>(kernel: &Kernel, first: cl_uint, values: &[T]) {
    for (index, value) in (first..).zip(values) {
        assert_eq!(kernel.set(index, value), CL_SUCCESS, "clSetKernelArg({index})");
    }
}

fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut random = Random(seed);
    (0..count).map(|_| random.below(256) as u8).collect()
}

/// Small integers, so that sums of products are exact.
fn small_floats(seed: u64, count: usize) -> Vec<f32> {
    let mut random = Random(seed);
    (0..count).map(|_| random.below(17) as f32 - 8.0).collect()
}

#[test]
fn the_lists_of_kernels_agree() {
    if !has_kernels() {
        return;
    }
    let names = all_names();
    assert_eq!(names, PARAMETERS.map(|(name, _)| name));
    let target = target();
    let query = |size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, size, value, ret);
    // Each cl_name_version has a cl_uint and 64 bytes.
    let entries = info_bytes(query).expect("the names with versions");
    assert_eq!(entries.len(), 68 * names.len());
    for (entry, name) in entries.chunks(68).zip(&names) {
        let text = CStr::from_bytes_until_nul(&entry[4..]).expect("a terminated name");
        assert_eq!(text.to_str(), Ok(name.as_str()));
        assert_eq!(u32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]), 1 << 22, "version 1.0.0");
    }
}

#[test]
fn every_listed_kernel_can_be_created_and_queried() {
    if !has_kernels() {
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    for (name, expected) in PARAMETERS {
        let program = context.built_in(name).expect("a program");
        let kernel = program.kernel(name);
        assert_eq!(kernel_text(&kernel, CL_KERNEL_FUNCTION_NAME), name);
        assert_eq!(kernel_text(&kernel, CL_KERNEL_ATTRIBUTES), "");
        assert_eq!(parameters(&kernel), expected, "{name}");
        assert_eq!(group_info(&kernel, CL_KERNEL_GLOBAL_WORK_SIZE), Ok([u32::MAX as usize; 3]));
        assert_eq!(group_info(&kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE), Ok([0_usize; 3]));
        assert!(group_info::<usize>(&kernel, CL_KERNEL_WORK_GROUP_SIZE).is_ok_and(|size| size > 0));
        assert!(group_info::<u64>(&kernel, CL_KERNEL_PRIVATE_MEM_SIZE).is_ok());
        let mut status = 1;
        let copy = Kernel(cl.clCloneKernel(kernel.0, &mut status));
        assert_eq!((status, kernel_text(&copy, CL_KERNEL_FUNCTION_NAME).as_str()), (CL_SUCCESS, name));
        // The name of the function is not the name of the kernel.
        assert_eq!(program.try_kernel(&name.replace('.', "_")).err(), Some(CL_INVALID_KERNEL_NAME));
    }
    // The query is for built-in kernels only.
    let other = context.build("kernel void other(global int *a) { a[0] = 1; }").kernel("other");
    assert_eq!(group_info::<[usize; 3]>(&other, CL_KERNEL_GLOBAL_WORK_SIZE), Err(CL_INVALID_VALUE));
}

#[test]
fn programs_contain_the_requested_kernels() {
    if !has_kernels() {
        return;
    }
    let (cl, device) = (&target().cl, target().device);
    let context = Context::new();
    // Separators without a name between them, and repeated names, are ignored.
    let program = context.built_in("pocl.mul.i32;org.khronos.openvx.minmaxloc.r1.u8;;pocl.mul.i32;").expect("a program");
    assert_eq!(program_info(&program, CL_PROGRAM_NUM_KERNELS), Ok(2_usize));
    let names = program_text(&program, CL_PROGRAM_KERNEL_NAMES);
    assert_eq!(names.as_deref(), Ok("pocl.mul.i32;org.khronos.openvx.minmaxloc.r1.u8"));
    let mut count = 0;
    let mut kernels: [cl_kernel; 2] = [null_mut(); 2];
    assert_eq!(cl.clCreateKernelsInProgram(program.0, 1, kernels.as_mut_ptr(), &mut count), CL_INVALID_VALUE);
    assert_eq!(cl.clCreateKernelsInProgram(program.0, 2, kernels.as_mut_ptr(), &mut count), CL_SUCCESS);
    assert_eq!(count, 2);
    let created = kernels.map(|kernel| kernel_text(&Kernel(kernel), CL_KERNEL_FUNCTION_NAME));
    assert_eq!(created, ["pocl.mul.i32", "org.khronos.openvx.minmaxloc.r1.u8"]);
    // A kernel of the same file that was not requested.
    assert_eq!(program.try_kernel("pocl.add.i32").err(), Some(CL_INVALID_KERNEL_NAME));
    assert_eq!(program.try_kernel("position").err(), Some(CL_INVALID_KERNEL_NAME));

    assert_eq!(program_info(&program, CL_PROGRAM_NUM_DEVICES), Ok(1_u32));
    assert_eq!(program_info(&program, CL_PROGRAM_DEVICES), Ok(device as usize));
    assert_eq!(program_text(&program, CL_PROGRAM_SOURCE).as_deref(), Ok(""));
    let il = info_bytes(|size, value, ret| cl.clGetProgramInfo(program.0, CL_PROGRAM_IL, size, value, ret));
    assert_eq!(il, Ok(Vec::new()));
    assert_eq!(program_info(&program, CL_PROGRAM_BINARY_SIZES), Ok(0_usize));
    assert_eq!(program_info(&program, CL_PROGRAM_BINARIES), Ok(0_usize), "the null pointer is not replaced");
    let build = |name: cl_uint| info_bytes(|size, value, ret| cl.clGetProgramBuildInfo(program.0, device, name, size, value, ret));
    assert_eq!(build(CL_PROGRAM_BUILD_STATUS), Ok(CL_BUILD_NONE.to_ne_bytes().to_vec()));
    assert_eq!(build(CL_PROGRAM_BINARY_TYPE), Ok(CL_PROGRAM_BINARY_TYPE_NONE.to_ne_bytes().to_vec()));
    assert_eq!(build(CL_PROGRAM_BUILD_OPTIONS), Ok(vec![0]));
    assert_eq!(build(CL_PROGRAM_BUILD_LOG), Ok(vec![0]));

    let all = context.built_in(&all_names().join(";")).expect("a program");
    assert_eq!(program_text(&all, CL_PROGRAM_KERNEL_NAMES), Ok(device_text(CL_DEVICE_BUILT_IN_KERNELS)));
    assert_eq!(cl.clCreateKernelsInProgram(all.0, 0, null_mut(), &mut count), CL_SUCCESS);
    assert_eq!(count as usize, PARAMETERS.len());
}

#[test]
fn wrong_arguments_are_rejected() {
    let (cl, device) = (&target().cl, target().device);
    let context = Context::new();
    let name = all_names().first().cloned().unwrap_or_default();
    let name = std::ffi::CString::new(name).expect("a name");
    let create = |context, count, devices, names: Option<&CStr>| {
        let mut status = 1;
        let names = names.map_or(null(), CStr::as_ptr).cast::<c_char>();
        let program = cl.clCreateProgramWithBuiltInKernels(context, count, devices, names, &mut status);
        assert!(program.is_null());
        status
    };
    assert_eq!(create(null_mut(), 1, &device, Some(&name)), CL_INVALID_CONTEXT);
    assert_eq!(create(context.0, 0, &device, Some(&name)), CL_INVALID_VALUE, "no devices");
    assert_eq!(create(context.0, 1, null(), Some(&name)), CL_INVALID_VALUE, "no list of devices");
    assert_eq!(create(context.0, 0, null(), Some(&name)), CL_INVALID_VALUE);
    assert_eq!(create(context.0, 1, &device, None), CL_INVALID_VALUE, "no names");
    for names in [c"", c";", c"no.such.kernel", c"pocl.add.i8;no.such.kernel", c"pocl.add.i8, pocl.mul.i8", c" pocl.add.i8"] {
        assert_eq!(create(context.0, 1, &device, Some(names)), CL_INVALID_VALUE, "{names:?}");
    }
    if has_kernels() {
        assert_eq!(create(context.0, 1, &null_mut(), Some(&name)), CL_INVALID_DEVICE);
        // The pointer for the error code is optional.
        let program = cl.clCreateProgramWithBuiltInKernels(context.0, 1, &device, name.as_ptr(), null_mut());
        assert!(!program.is_null());
        assert_eq!(cl.clReleaseProgram(program), CL_SUCCESS);
    }
}

#[test]
fn programs_cannot_be_built_compiled_or_linked() {
    if !has_kernels() {
        return;
    }
    let (cl, device) = (&target().cl, target().device);
    let context = Context::new();
    let program = context.built_in("pocl.add.i32").expect("a program");
    let inputs: [cl_program; 1] = [program.0];
    assert_eq!(program.build(""), CL_INVALID_OPERATION);
    assert_eq!(cl.clBuildProgram(program.0, 0, null(), null(), None, null_mut()), CL_INVALID_OPERATION);
    let compiled = cl.clCompileProgram(program.0, 1, &device, null(), 0, null(), null(), None, null_mut());
    assert_eq!(compiled, CL_INVALID_OPERATION);
    let mut status = 1;
    let linked = cl.clLinkProgram(context.0, 1, &device, null(), 1, inputs.as_ptr(), None, null_mut(), &mut status);
    assert_eq!((linked, status), (null_mut(), CL_INVALID_OPERATION));
    assert_eq!(cl.clSetProgramSpecializationConstant(program.0, 0, 4, [0_u32].as_ptr().cast()), CL_INVALID_PROGRAM);
    // The attempts change nothing.
    let query = |size, value, ret| cl.clGetProgramBuildInfo(program.0, device, CL_PROGRAM_BUILD_STATUS, size, value, ret);
    assert_eq!(info::<cl_int>(query), Ok(CL_BUILD_NONE));
    drop(program.kernel("pocl.add.i32"));
}

/// Checks an operation on two arrays of integers.
macro_rules! check_arithmetic {
    ($bench:expr, $name:literal, $type:ty, $operation:ident) => {{
        let read = |seed| -> Vec<$type> {
            let all = bytes(seed, 300 * size_of::<$type>());
            all.chunks_exact(size_of::<$type>()).map(|b| <$type>::from_ne_bytes(b.try_into().expect("the size"))).collect()
        };
        let (a, b) = (read(1), read(2));
        let output = $bench.input(&[0 as $type; 300]);
        $bench.run(&$bench.kernel($name), &[&$bench.input(&a), &$bench.input(&b), &output], &[300], None);
        let expected: Vec<$type> = a.iter().zip(&b).map(|(a, b)| a.$operation(*b)).collect();
        assert_eq!($bench.queue.read::<$type>(&output, 300), expected, $name);
    }};
}

#[test]
fn arrays() {
    if !has_kernels() {
        return;
    }
    let bench = Bench::new();
    check_arithmetic!(bench, "pocl.add.i8", i8, wrapping_add);
    check_arithmetic!(bench, "pocl.add.i16", i16, wrapping_add);
    check_arithmetic!(bench, "pocl.add.i32", i32, wrapping_add);
    check_arithmetic!(bench, "pocl.mul.i8", i8, wrapping_mul);
    check_arithmetic!(bench, "pocl.mul.i16", i16, wrapping_mul);
    check_arithmetic!(bench, "pocl.mul.i32", i32, wrapping_mul);

    let floats = [0.0_f32, -0.0, 1.5, -2.25, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY];
    let output = bench.input(&[0_f32; 8]);
    bench.run(&bench.kernel("pocl.abs.f32"), &[&bench.input(&floats), &output], &[8], None);
    let bits = |list: &[f32]| list.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&bench.queue.read::<f32>(&output, 8)), bits(&floats.map(f32::abs)));

    // With several dimensions, the index is the position in the NDRange.
    let data = bytes(3, 3 * 5 * 7);
    let (copy, input) = (bench.kernel("pocl.copy.i8"), bench.input(&data));
    for (global, local) in [(vec![105], None), (vec![7, 15], Some(vec![7, 1])), (vec![7, 5, 3], Some(vec![1, 5, 1]))] {
        let output = bench.input(&vec![0_u8; data.len()]);
        bench.run(&copy, &[&input, &output], &global, local.as_deref());
        assert_eq!(bench.queue.read::<u8>(&output, data.len()), data, "{global:?}");
    }
    // A global offset is part of the index.
    let output = bench.input(&vec![0_u8; data.len()]);
    copy.set_mem(1, &output);
    let (offset, size) = (100_usize, 5_usize);
    let status = target().cl.clEnqueueNDRangeKernel(bench.queue.0, copy.0, 1, &offset, &size, null(), 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    let expected: Vec<u8> = data.iter().enumerate().map(|(index, &byte)| if index < 100 { 0 } else { byte }).collect();
    assert_eq!(bench.queue.read::<u8>(&output, data.len()), expected);
}

#[test]
fn matrix_product() {
    if !has_kernels() {
        return;
    }
    let bench = Bench::new();
    let kernel = bench.kernel("pocl.sgemm.local.f32");
    // The kernel of PoCL requires multiples of 16. The last size has none, and a larger NDRange.
    for ([m, n, k], local) in [([16, 16, 16], Some([16, 16])), ([32, 48, 64], Some([16, 16])), ([5, 7, 9], None)] {
        let (a, b) = (small_floats(4, m * k), small_floats(5, k * n));
        let output = bench.input(&vec![f32::NAN; m * n]);
        set_all(&kernel, 3, &[m as cl_uint, n as cl_uint, k as cl_uint]);
        let round = |size: usize| size.next_multiple_of(16);
        bench.run(
            &kernel,
            &[&bench.input(&a), &bench.input(&b), &output],
            &[round(n), round(m)],
            local.as_ref().map(<[usize; 2]>::as_slice),
        );
        let element = |at: usize| (0..k).map(|i| a[at / n * k + i] * b[i * n + at % n]).sum::<f32>();
        assert_eq!(bench.queue.read::<f32>(&output, m * n), (0..m * n).map(element).collect::<Vec<_>>(), "{m} x {n} x {k}");
    }
}

/// The sizes of a convolution, in the order of the kernel's arguments.
struct Convolution {
    input: [usize; 4],
    filters: [usize; 4],
    stride: [usize; 2],
    dilation: [usize; 2],
    padding: [usize; 2],
    groups: usize,
}

impl Convolution {
    fn arguments(&self) -> Vec<cl_int> {
        let sizes = [&self.input[..], &self.filters, &self.stride, &self.dilation, &self.padding, &[self.groups]].concat();
        sizes.into_iter().map(|size| size as cl_int).collect()
    }

    fn output(&self) -> [usize; 4] {
        let size = |axis: usize| {
            let covered = self.dilation[axis] * (self.filters[2 + axis] - 1) + 1;
            (self.input[2 + axis] + 2 * self.padding[axis] - covered) / self.stride[axis] + 1
        };
        [self.input[0], self.filters[0], size(0), size(1)]
    }

    /// The sum for an element of the output.
    fn element(&self, input: &[f32], weights: &[f32], [n, k, y, x]: [usize; 4]) -> f32 {
        let ([_, channels, height, width], [filters, depth, rows, columns]) = (self.input, self.filters);
        let first = k / (filters / self.groups) * depth;
        let mut sum = 0.0;
        for (c, row, column) in (0..depth * rows * columns).map(|at| (at / (rows * columns), at / columns % rows, at % columns)) {
            let from_y = (y * self.stride[0] + row * self.dilation[0]).checked_sub(self.padding[0]).filter(|&at| at < height);
            let from_x = (x * self.stride[1] + column * self.dilation[1]).checked_sub(self.padding[1]).filter(|&at| at < width);
            let (Some(from_y), Some(from_x)) = (from_y, from_x) else { continue };
            let value = input[((n * channels + first + c) * height + from_y) * width + from_x];
            sum += value * weights[((k * depth + c) * rows + row) * columns + column];
        }
        sum
    }
}

#[test]
fn convolution() {
    if !has_kernels() {
        return;
    }
    let bench = Bench::new();
    let kernel = bench.kernel("pocl.dnn.conv2d.nchw.f32");
    let plain = Convolution { input: [1, 1, 4, 5], filters: [1, 1, 3, 3], stride: [1; 2], dilation: [1; 2], padding: [0; 2], groups: 1 };
    let grouped = Convolution { input: [2, 4, 9, 8], filters: [6, 2, 3, 2], stride: [2, 1], dilation: [1, 3], padding: [1, 2], groups: 2 };
    for case in [plain, grouped] {
        let [batch, filters, height, width] = case.output();
        let elements = batch * filters * height * width;
        let input = small_floats(6, case.input.iter().product());
        let weights = small_floats(7, case.filters.iter().product());
        let (input_mem, weights_mem) = (bench.input(&input), bench.input(&weights));
        set_all(&kernel, 3, &case.arguments());
        let places =
            (0..elements).map(|at| [at / (width * height * filters), at / (width * height) % filters, at / width % height, at % width]);
        let sums: Vec<f32> = places.map(|place| case.element(&input, &weights, place)).collect();
        // The result does not depend on the size of the NDRange. With beta = 0, the output is not read.
        for (global, alpha, beta) in [(vec![elements], 1.0_f32, 0.0_f32), (vec![3, 2], 2.0, 0.5), (vec![elements + 13], -1.0, 0.0)] {
            let before = if beta == 0.0 { f32::NAN } else { 6.0 };
            let output = bench.input(&vec![before; elements]);
            set_all(&kernel, 18, &[alpha, beta]);
            bench.run(&kernel, &[&input_mem, &weights_mem, &output], &global, None);
            let expected: Vec<f32> = sums.iter().map(|sum| alpha * sum + if beta == 0.0 { 0.0 } else { beta * before }).collect();
            assert_eq!(bench.queue.read::<f32>(&output, elements), expected, "{global:?}");
        }
    }
}

/// The position in the input that belongs to a pixel of the output.
fn sample_position(at: usize, scale: f64) -> f64 {
    (at as f64 + 0.5) * scale - 0.5
}

fn clamp(at: f64, size: usize) -> usize {
    at.clamp(0.0, size as f64 - 1.0) as usize
}

/// Sizes of the input and the output: enlarged, reduced, and equal. The scales are exact.
const SCALES: [([usize; 2], [usize; 2]); 4] = [([4, 3], [16, 12]), ([16, 12], [4, 3]), ([6, 5], [6, 5]), ([12, 3], [8, 24])];

#[test]
fn images_are_scaled_to_the_nearest_pixel() {
    if !has_kernels() {
        return;
    }
    let bench = Bench::new();
    let kernel = bench.kernel("org.khronos.openvx.scale_image.nn.u8");
    for ([in_width, in_height], [width, height]) in SCALES {
        for planes in [1, 3] {
            let data = bytes(8, in_width * in_height * planes);
            let output = bench.input(&vec![0_u8; width * height * planes]);
            let scales = [in_width as f64 / width as f64, in_height as f64 / height as f64];
            set_all(&kernel, 2, &scales.map(|scale| scale as f32));
            set_all(&kernel, 4, &[in_width as cl_int, in_height as cl_int]);
            bench.run(&kernel, &[&bench.input(&data), &output], &[width, height, planes], None);
            let pixel = |at: usize| {
                let nearest = |at, scale, size| clamp((sample_position(at, scale) + 0.5).floor(), size);
                let x = nearest(at / planes % width, scales[0], in_width);
                let y = nearest(at / planes / width, scales[1], in_height);
                data[(y * in_width + x) * planes + at % planes]
            };
            let expected: Vec<u8> = (0..width * height * planes).map(pixel).collect();
            assert_eq!(bench.queue.read::<u8>(&output, expected.len()), expected, "{in_width} x {in_height} to {width} x {height}");
        }
    }
}

#[test]
fn images_are_scaled_by_interpolation() {
    if !has_kernels() {
        return;
    }
    let bench = Bench::new();
    let kernel = bench.kernel("org.khronos.openvx.scale_image.bl.u8");
    for ([in_width, in_height], [width, height]) in SCALES {
        for planes in [1, 3] {
            let data = bytes(9, in_width * in_height * planes);
            let output = bench.input(&vec![0_u8; width * height * planes]);
            let scales = [in_width as f64 / width as f64, in_height as f64 / height as f64];
            set_all(&kernel, 2, &scales.map(|scale| scale as f32));
            set_all(&kernel, 4, &[in_width as cl_int, in_height as cl_int]);
            bench.run(&kernel, &[&bench.input(&data), &output], &[width, height, planes], None);
            let pixel = |at: usize| {
                let (x, y) = (sample_position(at % width, scales[0]), sample_position(at / width % height, scales[1]));
                let plane = &data[at / (width * height) * in_width * in_height..];
                let value = |x: f64, y: f64| f64::from(plane[clamp(y, in_height) * in_width + clamp(x, in_width)]);
                let (left, top) = (x.floor(), y.floor());
                let (s, t) = (x - left, y - top);
                let above = (1.0 - s) * value(left, top) + s * value(left + 1.0, top);
                let below = (1.0 - s) * value(left, top + 1.0) + s * value(left + 1.0, top + 1.0);
                ((1.0 - t) * above + t * below).round_ties_even() as u8
            };
            let expected: Vec<u8> = (0..width * height * planes).map(pixel).collect();
            assert_eq!(bench.queue.read::<u8>(&output, expected.len()), expected, "{in_width} x {in_height} to {width} x {height}");
        }
    }
}

#[test]
fn tensors_are_converted() {
    if !has_kernels() {
        return;
    }
    let bench = Bench::new();
    let kernel = bench.kernel("org.khronos.openvx.tensor_convert_depth.wrap.u8.f32");
    let data: Vec<u8> = (0..=255).collect();
    let output = bench.input(&[0_f32; 256]);
    set_all(&kernel, 2, &[64_f32, 127.5]);
    bench.run(&kernel, &[&bench.input(&data), &output], &[8, 16, 2], None);
    let expected: Vec<f32> = data.iter().map(|&value| (f32::from(value) - 127.5) / 64.0).collect();
    assert_eq!(bench.queue.read::<f32>(&output, 256), expected);
}

#[test]
fn the_smallest_and_the_largest_pixel_are_found() {
    if !has_kernels() {
        return;
    }
    let bench = Bench::new();
    let kernel = bench.kernel("org.khronos.openvx.minmaxloc.r1.u8");
    let single = |count: usize, at: [usize; 2]| {
        let mut image = vec![7_u8; count];
        (image[at[0]], image[at[1]]) = (3, 9);
        image
    };
    // The last pixels of an image with an odd number of pixels, and images of one value.
    let mut images = vec![([41, 23], single(41 * 23, [41 * 23 - 1, 41 * 23 - 2])), ([3, 2], vec![0; 6]), ([40, 24], vec![255; 960])];
    images.extend(
        [[1, 1], [15, 1], [16, 1], [17, 1], [5, 13], [128, 96]].map(|[width, height]| ([width, height], bytes(10, width * height))),
    );
    // A long loop, if the work-group has one work-item: lavapipe ends loops after 65,535 iterations.
    images.push(([1024, 256], single(1024 * 256, [1024 * 256 - 1, 199_999])));
    for (([width, height], image), group) in images.iter().flat_map(|image| [None, Some(4), Some(1)].map(|group| (image, group))) {
        let local = group.filter(|&group| width % group == 0).map(|group| [group, 1]);
        let [min, max] = [(); 2].map(|()| bench.input(&[77_u8; 4]));
        let [minloc, maxloc] = [(); 2].map(|()| bench.input(&[77_u32; 3]));
        let buffers = [&bench.input(image), &min, &max, &minloc, &maxloc];
        bench.run(&kernel, &buffers, &[*width, *height], local.as_ref().map(<[usize; 2]>::as_slice));
        let (smallest, largest) = (*image.iter().min().expect("a pixel"), *image.iter().max().expect("a pixel"));
        let place = |wanted: u8| {
            let at = image.iter().position(|&value| value == wanted).expect("the pixel");
            vec![(at % width) as u32, (at / width) as u32, 77]
        };
        let what = format!("{width} x {height} pixels, groups of {local:?}");
        assert_eq!(bench.queue.read::<u8>(&min, 4), [smallest, 77, 77, 77], "{what}");
        assert_eq!(bench.queue.read::<u8>(&max, 4), [largest, 77, 77, 77], "{what}");
        assert_eq!(bench.queue.read::<u32>(&minloc, 3), place(smallest), "{what}");
        assert_eq!(bench.queue.read::<u32>(&maxloc, 3), place(largest), "{what}");
    }
}

#[test]
fn command_buffers_and_copies_run_built_in_kernels() {
    if !has_kernels() {
        return;
    }
    let Some(functions) = functions() else { return };
    let bench = Bench::new();
    let program = bench.context.built_in("pocl.add.i32;pocl.mul.i32").expect("a program");
    let (add, multiply) = (program.kernel("pocl.add.i32"), program.kernel("pocl.mul.i32"));
    let (a, b, sum, product) = (bench.input(&[3_i32; 64]), bench.input(&[5_i32; 64]), bench.input(&[0_i32; 64]), bench.input(&[0_i32; 64]));
    [&a, &b, &sum].into_iter().zip(0..).for_each(|(mem, index)| add.set_mem(index, mem));
    [&sum, &b, &product].into_iter().zip(0..).for_each(|(mem, index)| multiply.set_mem(index, mem));
    let commands = Commands::new(functions, &bench.queue);
    let first = commands.launch(&add, 64, None, &[]);
    commands.launch(&multiply, 64, Some(8), &[first]);
    commands.finalize();
    for value in [3_i32, -7] {
        bench.queue.write(&a, &[value; 64]);
        commands.enqueue();
        assert_eq!(bench.queue.read::<i32>(&product, 64), [(value + 5) * 5; 64]);
    }
    // A copy of a kernel has the arguments, and the program can be released before its kernels.
    let mut status = 1;
    let copy = Kernel(target().cl.clCloneKernel(add.0, &mut status));
    assert_eq!(status, CL_SUCCESS);
    drop((program, add));
    bench.queue.write(&b, &[100_i32; 64]);
    assert_eq!(bench.queue.launch(&copy, &[64], None), CL_SUCCESS);
    assert_eq!(bench.queue.read::<i32>(&sum, 64), [93; 64]);
}
