//! Kernels: creation, arguments, queries, and launches with every error that the specification names.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::ffi::{
    CL_DEVICE_ADDRESS_BITS, CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_PARAMETER_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE,
    CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_INVALID_ARG_INDEX, CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_COMMAND_QUEUE,
    CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_GLOBAL_OFFSET, CL_INVALID_KERNEL, CL_INVALID_KERNEL_ARGS, CL_INVALID_KERNEL_NAME,
    CL_INVALID_MEM_OBJECT, CL_INVALID_PROGRAM, CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_VALUE, CL_INVALID_WORK_DIMENSION,
    CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE, CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_ADDRESS_CONSTANT,
    CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
    CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_ARG_TYPE_QUALIFIER, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_CONTEXT,
    CL_KERNEL_FUNCTION_NAME, CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_NUM_ARGS, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
    CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_PROGRAM, CL_KERNEL_REFERENCE_COUNT, CL_KERNEL_WORK_GROUP_SIZE, CL_OUT_OF_RESOURCES,
    CL_PLATFORM_NUMERIC_VERSION, CL_SUCCESS, CL_TRUE, cl_int, cl_mem, cl_uint,
};
use common::objects::{Context, Kernel};
use common::{info, info_string, target};

const KINDS: &str = "
kernel void kinds(global const float *restrict a, local int *b, constant uchar4 *c, int d, float4 e, volatile global uint *f)
{
    b[0] = d;
    f[0] = a[0] + b[0] + c[0].x + e.x;
}
__attribute__((reqd_work_group_size(8, 4, 1))) kernel void sized(global int *a) { local int l[32]; l[0] = 1; a[0] = l[0]; }
kernel void fill(global uint *a, uint value) { a[get_global_id(0)] = value + get_global_id(0); }
";

fn kernel_info<T: Copy + Default>(kernel: &Kernel, name: cl_uint) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetKernelInfo(kernel.0, name, size, value, ret))
}

fn group_info<T: Copy + Default>(kernel: &Kernel, name: cl_uint) -> Result<T, cl_int> {
    let target = target();
    info(|size, value, ret| target.cl.clGetKernelWorkGroupInfo(kernel.0, target.device, name, size, value, ret))
}

fn argument_info<T: Copy + Default>(kernel: &Kernel, index: cl_uint, name: cl_uint) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetKernelArgInfo(kernel.0, index, name, size, value, ret))
}

fn argument_text(kernel: &Kernel, index: cl_uint, name: cl_uint) -> String {
    info_string(|size, value, ret| target().cl.clGetKernelArgInfo(kernel.0, index, name, size, value, ret)).unwrap_or_default()
}

#[test]
fn kernel_queries_are_answered() {
    let cl = &target().cl;
    let context = Context::new();
    let program = context.build(KINDS);
    let kernel = program.kernel("kinds");
    let name = info_string(|size, value, ret| cl.clGetKernelInfo(kernel.0, CL_KERNEL_FUNCTION_NAME, size, value, ret));
    assert_eq!(name.as_deref(), Ok("kinds"));
    assert_eq!(kernel_info(&kernel, CL_KERNEL_NUM_ARGS), Ok(6u32));
    assert_eq!(kernel_info(&kernel, CL_KERNEL_REFERENCE_COUNT), Ok(1u32));
    assert_eq!(kernel_info(&kernel, CL_KERNEL_CONTEXT), Ok(context.0 as usize));
    assert_eq!(kernel_info(&kernel, CL_KERNEL_PROGRAM), Ok(program.0 as usize));
    assert_eq!(kernel_info::<u32>(&kernel, 0xdead), Err(CL_INVALID_VALUE));
    assert_eq!(cl.clRetainKernel(kernel.0), CL_SUCCESS);
    assert_eq!(kernel_info(&kernel, CL_KERNEL_REFERENCE_COUNT), Ok(2u32));
    assert_eq!(cl.clReleaseKernel(kernel.0), CL_SUCCESS);
    // The kernel retains its program.
    drop(program);
    assert_eq!(kernel_info(&kernel, CL_KERNEL_NUM_ARGS), Ok(6u32));
}

#[test]
fn a_kernel_takes_4096_bytes_of_arguments() {
    let context = Context::new();
    // The arguments have 4,096 bytes: the pointer has 8 bytes, and the 511 numbers have the other 4,088 bytes.
    let parameters: String = (0..511).map(|index| format!(", long a{index}")).collect();
    let sum: String = (0..511).map(|index| format!(" + {} * a{index}", index % 7)).collect();
    let source = format!("kernel void many(global long *out{parameters}) {{ out[get_global_id(0)] = 0{sum}; }}");
    let program = context.build(&source);
    let kernel = program.kernel("many");
    let out = context.buffer(4 * size_of::<i64>());
    kernel.set_mem(0, &out);
    let mut want = 0;
    for index in 0..511_i64 {
        let value = index * 0x1_0000_0001 - 77;
        assert_eq!(kernel.set(index as u32 + 1, &value), CL_SUCCESS);
        want += index % 7 * value;
    }
    let queue = context.queue(0);
    assert_eq!(queue.launch(&kernel, &[4], None), CL_SUCCESS);
    assert_eq!(queue.read::<i64>(&out, 4), vec![want; 4]);
    let more = context.build(&source.replace("long a0,", "long a0, long more,"));
    let kernel = more.kernel("many");
    kernel.set_mem(0, &out);
    (1..=512).for_each(|index| assert_eq!(kernel.set(index, &0_i64), CL_SUCCESS));
    assert_eq!(queue.launch(&kernel, &[4], None), CL_OUT_OF_RESOURCES);
}

#[test]
fn arguments_are_described() {
    let context = Context::new();
    let program = context.program(KINDS);
    assert_eq!(program.build("-cl-kernel-arg-info"), CL_SUCCESS, "{}", program.log());
    let kernel = program.kernel("kinds");
    let spaces: Vec<_> = (0..6).map(|index| argument_info(&kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER)).collect();
    let (global, local) = (Ok(CL_KERNEL_ARG_ADDRESS_GLOBAL), Ok(CL_KERNEL_ARG_ADDRESS_LOCAL));
    let (constant, private) = (Ok(CL_KERNEL_ARG_ADDRESS_CONSTANT), Ok(CL_KERNEL_ARG_ADDRESS_PRIVATE));
    assert_eq!(spaces, [global, local, constant, private, private, global]);
    let names: Vec<_> = (0..6).map(|index| argument_text(&kernel, index, CL_KERNEL_ARG_NAME)).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e", "f"]);
    let types: Vec<_> = (0..6).map(|index| argument_text(&kernel, index, CL_KERNEL_ARG_TYPE_NAME)).collect();
    assert_eq!(types, ["float*", "int*", "uchar4*", "int", "float4", "uint*"]);
    // const is 1, restrict 2, and volatile 4. The pointee of a __constant pointer is const as well.
    let qualifiers: Vec<u64> = (0..6).map(|index| argument_info(&kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER).unwrap_or(99)).collect();
    assert_eq!(qualifiers, [3, 0, 1, 0, 0, 4]);
    assert_eq!(argument_info(&kernel, 0, CL_KERNEL_ARG_ACCESS_QUALIFIER), Ok(0x11a3u32), "CL_KERNEL_ARG_ACCESS_NONE");
    assert_eq!(argument_info::<u32>(&kernel, 6, CL_KERNEL_ARG_ADDRESS_QUALIFIER), Err(CL_INVALID_ARG_INDEX));
}

#[test]
fn work_group_queries_are_answered() {
    let context = Context::new();
    let program = context.build(KINDS);
    let (kinds, sized) = (program.kernel("kinds"), program.kernel("sized"));
    let most: usize =
        info(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_MAX_WORK_GROUP_SIZE, size, value, ret))
            .expect("the device's limit");
    let group: usize = group_info(&kinds, CL_KERNEL_WORK_GROUP_SIZE).expect("the kernel's limit");
    assert!((1..=most).contains(&group));
    assert_eq!(group_info(&kinds, CL_KERNEL_COMPILE_WORK_GROUP_SIZE), Ok([0usize; 3]));
    assert_eq!(group_info(&sized, CL_KERNEL_COMPILE_WORK_GROUP_SIZE), Ok([8usize, 4, 1]));
    let multiple: usize = group_info(&kinds, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE).expect("the multiple");
    assert!(multiple >= 1 && multiple <= group);
    assert!(group_info::<u64>(&sized, CL_KERNEL_LOCAL_MEM_SIZE).is_ok_and(|size| size >= 128));
    assert!(group_info::<u64>(&kinds, CL_KERNEL_PRIVATE_MEM_SIZE).is_ok());
    assert_eq!(group_info::<usize>(&kinds, 0xdead), Err(CL_INVALID_VALUE));
    assert_eq!(target().cl.clSetKernelArg(kinds.0, 1, 4096, null()), CL_SUCCESS);
    assert!(group_info::<u64>(&kinds, CL_KERNEL_LOCAL_MEM_SIZE).is_ok_and(|size| size >= 4096), "an argument counts once it is set");
}

#[test]
fn kernels_are_created_by_name_or_all_at_once() {
    let cl = &target().cl;
    let context = Context::new();
    let program = context.program(KINDS);
    assert_eq!(program.try_kernel("kinds").err(), Some(CL_INVALID_PROGRAM_EXECUTABLE));
    assert_eq!(cl.clCreateKernelsInProgram(program.0, 0, null_mut(), &mut 0), CL_INVALID_PROGRAM_EXECUTABLE);
    assert_eq!(program.build(""), CL_SUCCESS);
    assert_eq!(program.try_kernel("missing").err(), Some(CL_INVALID_KERNEL_NAME));
    let mut status = 1;
    assert!(cl.clCreateKernel(program.0, null(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_VALUE);
    assert!(cl.clCreateKernel(null_mut(), c"kinds".as_ptr(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_PROGRAM);
    let mut count = 0;
    assert_eq!(cl.clCreateKernelsInProgram(program.0, 0, null_mut(), &mut count), CL_SUCCESS);
    assert_eq!(count, 3);
    let mut kernels = [null_mut(); 3];
    assert_eq!(cl.clCreateKernelsInProgram(program.0, 2, kernels.as_mut_ptr(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clCreateKernelsInProgram(program.0, 3, kernels.as_mut_ptr(), null_mut()), CL_SUCCESS);
    let mut arguments: Vec<u32> = kernels.map(Kernel).iter().map(|kernel| kernel_info(kernel, CL_KERNEL_NUM_ARGS).unwrap_or(99)).collect();
    arguments.sort_unstable();
    assert_eq!(arguments, [1, 2, 6]);
}

#[test]
fn invalid_arguments_are_rejected() {
    let cl = &target().cl;
    let context = Context::new();
    let program = context.build(KINDS);
    let kernel = program.kernel("kinds");
    let mem = context.buffer(64);
    assert_eq!(kernel.set(6, &0u32), CL_INVALID_ARG_INDEX);
    assert_eq!(kernel.set(0, &mem.0), CL_SUCCESS);
    assert_eq!(kernel.set(0, &0u32), CL_INVALID_ARG_SIZE, "a buffer argument has the size of a handle");
    assert_eq!(kernel.set(3, &0u64), CL_INVALID_ARG_SIZE);
    assert_eq!(kernel.set(3, &0u16), CL_INVALID_ARG_SIZE);
    assert_eq!(kernel.set(4, &[0f32; 3]), CL_INVALID_ARG_SIZE);
    assert_eq!(cl.clSetKernelArg(kernel.0, 3, 4, null()), CL_INVALID_ARG_VALUE);
    assert_eq!(kernel.set(1, &0usize), CL_INVALID_ARG_VALUE, "local memory has a size and no value");
    // Since OpenCL 3.1 a local size of zero is valid.
    let version: Result<u32, _> =
        info(|size, value, ret| cl.clGetPlatformInfo(target().platform, CL_PLATFORM_NUMERIC_VERSION, size, value, ret));
    let none = if version >= Ok(3 << 22 | 1 << 12) { CL_SUCCESS } else { CL_INVALID_ARG_SIZE };
    assert_eq!(cl.clSetKernelArg(kernel.0, 1, 0, null()), none);
    assert_eq!(cl.clSetKernelArg(kernel.0, 1, 64, null()), CL_SUCCESS);
    assert_eq!(cl.clSetKernelArg(null_mut(), 0, 8, null()), CL_INVALID_KERNEL);
    let nothing: cl_mem = null_mut();
    assert_eq!(kernel.set(0, &nothing), CL_SUCCESS, "a null buffer");
    assert_eq!(cl.clSetKernelArg(kernel.0, 0, size_of::<cl_mem>(), null()), CL_SUCCESS, "a null pointer instead of a pointer to a buffer");
    if target().is_wgcl() {
        assert_eq!(kernel.set(0, &context.0), CL_INVALID_MEM_OBJECT);
        assert_eq!(kernel.set(0, &0x1234usize), CL_INVALID_MEM_OBJECT);
    }
}

#[test]
fn argument_values_are_captured_at_the_enqueue() {
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(KINDS);
    let kernel = program.kernel("fill");
    let buffers: Vec<_> = (0..8).map(|_| context.buffer(64)).collect();
    for (n, buffer) in (0u32..).zip(&buffers) {
        kernel.set_mem(0, buffer);
        assert_eq!(kernel.set(1, &(n * 100)), CL_SUCCESS);
        assert_eq!(queue.launch(&kernel, &[16], None), CL_SUCCESS);
    }
    // A clone starts with the arguments of the original. Later changes of the original do not affect the clone.
    let mut status = 1;
    let clone = Kernel(target().cl.clCloneKernel(kernel.0, &mut status));
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(kernel.set(1, &5u32), CL_SUCCESS);
    assert_eq!(queue.launch(&clone, &[4], None), CL_SUCCESS);
    for (n, buffer) in (0u32..).zip(&buffers) {
        let want: Vec<u32> = (0..16).map(|k| n * 100 + k).collect();
        assert_eq!(queue.read::<u32>(buffer, 16), want);
    }
}

#[test]
fn a_buffer_may_be_two_arguments() {
    let context = Context::new();
    let source = "kernel void both(global const int *a, global int *b, global int *c) {
        int i = get_global_id(0);
        int before = a[i];
        b[i] = before + 1;
        c[i] = a[i] * 1000 + before;
    }";
    let program = context.build(source);
    let kernel = program.kernel("both");
    let queue = context.queue(0);
    let (one, two, three) = (context.buffer(256), context.buffer(256), context.buffer(256));
    // Launch the same kernel with and without aliasing buffers. The driver must not use facts about one launch for the
    // other.
    for round in 0..4 {
        let shared = round % 2 == 1;
        let numbers: Vec<cl_int> = (0..64).collect();
        queue.write(&one, &numbers);
        kernel.set_mem(0, &one);
        kernel.set_mem(1, if shared { &one } else { &two });
        kernel.set_mem(2, &three);
        assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS);
        let expected: Vec<cl_int> = numbers.iter().map(|n| (n + cl_int::from(shared)) * 1000 + n).collect();
        assert_eq!(queue.read::<cl_int>(&three, 64), expected, "round {round}");
    }
}

#[test]
fn invalid_launches_are_rejected() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(KINDS);
    let (kernel, sized) = (program.kernel("fill"), program.kernel("sized"));
    let mem = context.buffer(4096);
    assert_eq!(queue.launch(&kernel, &[16], None), CL_INVALID_KERNEL_ARGS, "no argument is set");
    kernel.set_mem(0, &mem);
    assert_eq!(queue.launch(&kernel, &[16], None), CL_INVALID_KERNEL_ARGS, "one argument is missing");
    assert_eq!(kernel.set(1, &1u32), CL_SUCCESS);
    sized.set_mem(0, &mem);

    let launch = |dim, offset: *const usize, global: *const usize, local: *const usize| {
        cl.clEnqueueNDRangeKernel(queue.0, kernel.0, dim, offset, global, local, 0, null(), null_mut())
    };
    let sixteen = [16usize, 1, 1, 1];
    assert_eq!(launch(0, null(), sixteen.as_ptr(), null()), CL_INVALID_WORK_DIMENSION);
    assert_eq!(launch(4, null(), sixteen.as_ptr(), null()), CL_INVALID_WORK_DIMENSION);
    assert_eq!(launch(1, null(), sixteen.as_ptr(), [5usize].as_ptr()), CL_INVALID_WORK_GROUP_SIZE, "16 is not a multiple of 5");
    assert_eq!(launch(1, [usize::MAX - 3].as_ptr(), sixteen.as_ptr(), null()), CL_INVALID_GLOBAL_OFFSET);
    let huge = [1usize << 20];
    let status = launch(1, null(), huge.as_ptr(), huge.as_ptr());
    assert!([CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE].contains(&status), "{status}");
    assert_eq!(queue.launch(&sized, &[8, 8], Some(&[4, 4])), CL_INVALID_WORK_GROUP_SIZE, "not the required size");
    assert_eq!(queue.launch(&sized, &[8, 8], Some(&[8, 4])), CL_SUCCESS);
    if target().is_wgcl() {
        assert_eq!(queue.launch(&sized, &[8, 8], None), CL_SUCCESS, "the required size is taken");
        // Since OpenCL 2.1 an empty range is a command that does nothing.
        assert_eq!(launch(1, null(), [0usize].as_ptr(), null()), CL_SUCCESS);
        assert_eq!(launch(1, null(), null(), null()), CL_SUCCESS);
    }
    assert_eq!(
        cl.clEnqueueNDRangeKernel(null_mut(), kernel.0, 1, null(), sixteen.as_ptr(), null(), 0, null(), null_mut()),
        CL_INVALID_COMMAND_QUEUE
    );
    assert_eq!(
        cl.clEnqueueNDRangeKernel(queue.0, null_mut(), 1, null(), sixteen.as_ptr(), null(), 0, null(), null_mut()),
        CL_INVALID_KERNEL
    );
    assert_eq!(
        cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), sixteen.as_ptr(), null(), 1, null(), null_mut()),
        CL_INVALID_EVENT_WAIT_LIST
    );
    queue.finish();
}

#[test]
fn local_memory_may_be_empty() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let source = "kernel void k(global int *a, local int *b, local int *c) { if (a[0] == 7) b[0] = a[1]; c[get_local_id(0)] = 3;
                  barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = c[0] + (int)get_local_id(0); }";
    let kernel = context.build(source).kernel("k");
    let mem = context.buffer(16);
    queue.write(&mem, &[0u32; 4]);
    kernel.set_mem(0, &mem);
    assert_eq!(cl.clSetKernelArg(kernel.0, 2, 16, null()), CL_SUCCESS);
    if cl.clSetKernelArg(kernel.0, 1, 0, null()) == CL_SUCCESS {
        assert_eq!(queue.launch(&kernel, &[4], Some(&[4])), CL_SUCCESS);
        assert_eq!(queue.read::<u32>(&mem, 4), [3, 4, 5, 6]);
    }
}

const SIZES: &str = "kernel void sizes(global uint *a) { a[get_global_id(0)] = get_local_size(0); }";

#[test]
fn non_uniform_work_groups_are_supported_where_the_program_permits_them() {
    let target = target();
    let reported =
        info(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, size, value, ret));
    if reported != Ok(CL_TRUE) {
        assert!(!target.is_wgcl(), "not reported");
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(40);
    for (options, allowed) in [
        ("", false),
        ("-cl-std=CL1.2", false),
        ("-cl-std=CL3.0", true),
        ("-cl-std=CL2.0", true),
        ("-cl-std=CL3.0 -cl-uniform-work-group-size", false),
    ] {
        let program = context.program(SIZES);
        if program.build(options) != CL_SUCCESS && !target.is_wgcl() {
            continue;
        }
        let kernel = program.kernel("sizes");
        kernel.set_mem(0, &mem);
        queue.write(&mem, &[0u32; 10]);
        let status = queue.launch(&kernel, &[10], Some(&[4]));
        assert_eq!(status, if allowed { CL_SUCCESS } else { CL_INVALID_WORK_GROUP_SIZE }, "{options}");
        let want = if allowed { [4, 4, 4, 4, 4, 4, 4, 4, 2, 2] } else { [0; 10] };
        assert_eq!(queue.read::<u32>(&mem, 10), want, "{options}");
        assert_eq!(queue.launch(&kernel, &[8], Some(&[4])), CL_SUCCESS, "{options}");
    }
}

#[test]
fn linked_programs_permit_non_uniform_work_groups_only_if_all_units_do() {
    let target = target();
    let cl = &target.cl;
    if !target.is_wgcl() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(40);
    let compile = |source: &str, options: &std::ffi::CStr| {
        let program = context.program(source);
        let status = cl.clCompileProgram(program.0, 1, &target.device, options.as_ptr(), 0, null(), null(), None, null_mut());
        assert_eq!(status, CL_SUCCESS, "{}", program.log());
        program
    };
    for (options, wanted) in [(c"-cl-std=CL3.0", CL_SUCCESS), (c"-cl-std=CL1.2", CL_INVALID_WORK_GROUP_SIZE)] {
        let (main, other) = (compile(SIZES, c"-cl-std=CL3.0"), compile("int other(int x) { return x; }", options));
        let mut status = 1;
        let linked = cl.clLinkProgram(context.0, 1, &target.device, null(), 2, [main.0, other.0].as_ptr(), None, null_mut(), &mut status);
        assert_eq!(status, CL_SUCCESS);
        let kernel = common::objects::Program(linked).kernel("sizes");
        kernel.set_mem(0, &mem);
        assert_eq!(queue.launch(&kernel, &[10], Some(&[4])), wanted);
        queue.finish();
    }
}

#[test]
fn too_much_local_memory_is_rejected() {
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build("kernel void f(global int *a, local int *l) { l[get_local_id(0)] = 1; a[0] = l[0]; }");
    let kernel = program.kernel("f");
    let mem = context.buffer(16);
    kernel.set_mem(0, &mem);
    let limit: u64 = info(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_LOCAL_MEM_SIZE, size, value, ret))
        .expect("the device's local memory");
    let status = target().cl.clSetKernelArg(kernel.0, 1, limit as usize + 16, null());
    let refused = status != CL_SUCCESS || queue.launch(&kernel, &[1], None) != CL_SUCCESS;
    assert!(refused, "{} bytes of {limit} were granted", limit + 16);
    assert_eq!(target().cl.clSetKernelArg(kernel.0, 1, limit as usize / 2, null()), CL_SUCCESS);
    assert_eq!(queue.launch(&kernel, &[1], None), CL_SUCCESS);
    assert_eq!(queue.read::<i32>(&mem, 1), [1]);
}

#[test]
fn all_of_the_local_memory_can_be_used() {
    let context = Context::new();
    let queue = context.queue(0);
    let limit: u64 = info(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_LOCAL_MEM_SIZE, size, value, ret))
        .expect("the device's local memory");
    let words = limit as usize / 4;
    let program = context.build(&format!(
        "kernel void f(global uint *a) {{
            local uint l[{words}];
            for (uint i = get_local_id(0); i < {words}; i += 16) l[i] = i * 3;
            barrier(CLK_LOCAL_MEM_FENCE);
            uint wrong = 0;
            for (uint i = 15 - get_local_id(0); i < {words}; i += 16) wrong += l[i] != i * 3;
            a[get_local_id(0)] = wrong;
        }}"
    ));
    let kernel = program.kernel("f");
    let mem = context.buffer(64);
    queue.write(&mem, &[7_u32; 16]);
    kernel.set_mem(0, &mem);
    assert_eq!(queue.launch(&kernel, &[16], Some(&[16])), CL_SUCCESS, "{limit} bytes");
    assert_eq!(queue.read::<u32>(&mem, 16), [0; 16]);
}

#[test]
fn ranges_beyond_65535_groups_run_completely() {
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(
        "kernel void f(global uchar *a) { a[get_global_id(0)] += 1 + (get_group_id(0) == get_global_id(0) && get_num_groups(0) == get_global_size(0)); }
         kernel void g(global uchar *a) { a[get_global_id(1)] += get_global_id(0) + get_global_offset(1); }",
    );
    let count = 200_000;
    let mem = context.buffer(count);
    queue.write(&mem, &vec![0u8; count]);
    let kernel = program.kernel("f");
    kernel.set_mem(0, &mem);
    assert_eq!(queue.launch(&kernel, &[count], Some(&[1])), CL_SUCCESS, "200,000 groups of one");
    assert!(queue.read::<u8>(&mem, count).iter().all(|&byte| byte == 2));

    let kernel = program.kernel("g");
    kernel.set_mem(0, &mem);
    let status = target().cl.clEnqueueNDRangeKernel(
        queue.0,
        kernel.0,
        2,
        [1, 3].as_ptr(),
        [1, 70_000].as_ptr(),
        [1, 1].as_ptr(),
        0,
        null(),
        null_mut(),
    );
    assert_eq!(status, CL_SUCCESS);
    let bytes = queue.read::<u8>(&mem, count);
    assert_eq!((bytes[2], bytes[3], bytes[70_002], bytes[70_003]), (2, 6, 6, 2), "in the second dimension, with an offset");
}

#[test]
fn large_and_structured_arguments_are_passed() {
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(
        "typedef struct { char c; float8 v; int tail[200]; } big;
         kernel void f(global int *out, big b, uchar small, long wide, float16 v) { out[0] = b.tail[199] + b.c + small; out[1] = (int)(wide >> 32); out[2] = (int)v.sf; }",
    );
    #[repr(C, align(32))]
    struct Big {
        c: i8,
        v: Vector,
        tail: [i32; 200],
    }
    #[repr(C, align(32))]
    struct Vector([f32; 8]);
    let mem = context.buffer(12);
    let kernel = program.kernel("f");
    kernel.set_mem(0, &mem);
    let mut big = Big { c: -3, v: Vector([0.0; 8]), tail: [0; 200] };
    big.tail[199] = 1000;
    assert!(big.v.0.iter().all(|&x| x == 0.0));
    assert_eq!(i32::from(big.c), -3);
    assert_eq!(kernel.set(1, &big), CL_SUCCESS);
    assert_eq!(kernel.set(2, &200u8), CL_SUCCESS);
    assert_eq!(kernel.set(3, &(-7i64 << 32)), CL_SUCCESS);
    let mut wide = [0f32; 16];
    wide[15] = 42.5;
    assert_eq!(kernel.set(4, &wide), CL_SUCCESS);
    assert_eq!(queue.launch(&kernel, &[1], None), CL_SUCCESS);
    assert_eq!(queue.read::<i32>(&mem, 3), [1000 - 3 + 200, -7, 42]);
}

#[test]
fn arguments_may_have_the_maximum_size() {
    const LIMIT: usize = 4096;
    let context = Context::new();
    let queue = context.queue(0);
    let limit: usize =
        info(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_MAX_PARAMETER_SIZE, size, value, ret))
            .expect("the maximum size of the arguments");
    assert!(limit >= LIMIT, "{limit} bytes");
    let bits: u32 = info(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_ADDRESS_BITS, size, value, ret))
        .expect("the size of a pointer");
    // A pointer and two structures.
    let words = (LIMIT - bits as usize / 8) / 4;
    let (first, second) = (words / 2, words - words / 2);
    let program = context.build(&format!(
        "typedef struct {{ int a[{first}]; }} A; typedef struct {{ int b[{second}]; }} B;
         kernel void sum(global int *out, A a, B b)
         {{ int i = get_global_id(0); out[i] = (i < {first} ? a.a[i] : b.b[i - {first}]) * 3; }}"
    ));
    let mem = context.buffer(4 * words);
    let kernel = program.kernel("sum");
    kernel.set_mem(0, &mem);
    let values: Vec<i32> = (0..words as i32).map(|i| i * 7 - 3000).collect();
    let set = |index, part: &[i32]| target().cl.clSetKernelArg(kernel.0, index, 4 * part.len(), part.as_ptr().cast());
    assert_eq!((set(1, &values[..first]), set(2, &values[first..])), (CL_SUCCESS, CL_SUCCESS));
    assert_eq!(queue.launch(&kernel, &[words], None), CL_SUCCESS);
    assert_eq!(queue.read::<i32>(&mem, words), values.iter().map(|value| value * 3).collect::<Vec<_>>());
}

/// A device may cache the state of a launch. It must notice every difference between two launches.
#[test]
fn cached_launches_use_the_new_arguments() {
    let context = Context::new();
    let queue = context.queue(0);
    let source = "constant int table[4] = { 1, 2, 4, 8 };
         kernel void f(global int *out, global const int *in, local int *shared, int add)
         { int i = get_global_id(0); shared[get_local_id(0)] = table[i & 3] + add; barrier(CLK_LOCAL_MEM_FENCE);
           out[i] = shared[get_local_id(0)] + (in ? in[i] : 1000) + (int)get_global_size(0) * 10000 + (int)get_local_size(0) * 1000000; }";
    let expect = |global: usize, local: usize, add: i32, input: i32| -> Vec<i32> {
        (0..global as i32).map(|i| (1 << (i & 3)) + add + input + global as i32 * 10_000 + local as i32 * 1_000_000).collect()
    };
    for _program in 0..2 {
        let program = context.build(source);
        let kernel = program.kernel("f");
        for round in 0..4 {
            // These objects may get the handles and addresses of the released objects of the previous round.
            let (out, other, input) = (context.buffer(256), context.buffer(256), context.buffer(256));
            queue.write(&input, &[round * 100; 64]);
            assert_eq!(target().cl.clSetKernelArg(kernel.0, 2, 4 * 64, null()), CL_SUCCESS);
            for (mem, global, local, add, given) in [
                (&out, 64, 16, 1, true),
                (&out, 64, 16, 1, true),
                (&out, 64, 16, 2, true),
                (&other, 64, 16, 2, true),
                (&other, 64, 32, 2, true),
                (&other, 32, 32, 2, true),
                (&other, 32, 32, 3, false),
                (&other, 32, 32, 3, true),
                (&out, 64, 16, 1, true),
            ] {
                kernel.set_mem(0, mem);
                if given {
                    kernel.set_mem(1, &input);
                } else {
                    assert_eq!(kernel.set(1, &null_mut::<c_void>()), CL_SUCCESS);
                }
                assert_eq!(kernel.set(3, &(add + round)), CL_SUCCESS);
                assert_eq!(queue.launch(&kernel, &[global], Some(&[local])), CL_SUCCESS);
                let input = if given { round * 100 } else { 1000 };
                assert_eq!(queue.read::<i32>(mem, global), expect(global, local, add + round, input), "{global}, {local}, {add}, {given}");
            }
        }
    }
}

#[test]
fn other_handles_are_rejected() {
    let cl = &target().cl;
    assert_eq!(cl.clRetainKernel(null_mut()), CL_INVALID_KERNEL);
    assert_eq!(cl.clReleaseKernel(null_mut()), CL_INVALID_KERNEL);
    if target().is_wgcl() {
        let context = Context::new();
        let program = context.build(KINDS);
        assert_eq!(cl.clReleaseKernel(program.0), CL_INVALID_KERNEL);
        let kernel = program.kernel("fill");
        let handle: *mut c_void = kernel.0;
        drop(kernel);
        assert_eq!(cl.clReleaseKernel(handle), CL_INVALID_KERNEL);
        assert_eq!(cl.clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, 0, null_mut(), null_mut()), CL_INVALID_KERNEL);
    }
}
