//! Pipes (OpenCL API 5.4): device queries, creation and queries of pipes, kernel arguments, rejected uses, and many
//! kernels on one pipe.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::commands::{Commands, functions};
use common::ffi::{
    CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_CONTEXT, CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE,
    CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_TYPE_NAME,
    CL_KERNEL_ARG_TYPE_QUALIFIER, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_FLAGS, CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_PTR, CL_MEM_HOST_READ_ONLY,
    CL_MEM_MAP_COUNT, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OFFSET, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_REFERENCE_COUNT,
    CL_MEM_SIZE, CL_MEM_TYPE, CL_R, CL_SUCCESS, CL_TRUE, CL_UNSIGNED_INT8, cl_bitfield, cl_int, cl_mem, cl_uint,
};
use common::images::{desc, format};
use common::objects::{Context, Mem, Program};
use common::{info, info_string, target};

const CL_DEVICE_MAX_PIPE_ARGS: cl_uint = 0x1055;
const CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS: cl_uint = 0x1056;
const CL_DEVICE_PIPE_MAX_PACKET_SIZE: cl_uint = 0x1057;
const CL_DEVICE_PIPE_SUPPORT: cl_uint = 0x1071;
const CL_MEM_OBJECT_PIPE: cl_uint = 0x10F7;
const CL_MEM_PROPERTIES: cl_uint = 0x110A;
const CL_PIPE_PACKET_SIZE: cl_uint = 0x1120;
const CL_PIPE_MAX_PACKETS: cl_uint = 0x1121;
const CL_PIPE_PROPERTIES: cl_uint = 0x1122;
const CL_KERNEL_ARG_ACCESS_READ_ONLY: cl_uint = 0x11A0;
const CL_KERNEL_ARG_ACCESS_WRITE_ONLY: cl_uint = 0x11A1;
const CL_KERNEL_ARG_TYPE_PIPE: cl_bitfield = 1 << 3;
const CL_INVALID_PIPE_SIZE: cl_int = -69;
const CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED: cl_bitfield = 1 << 1;

const SOURCE: &str = "
kernel void put(write_only pipe uint out, uint first, global uint *lost) {
    uint packet = first + get_global_id(0);
    if (write_pipe(out, &packet) != 0) atomic_inc(lost);
}
kernel void take(read_only pipe uint in, global uint *seen, global uint *count) {
    uint packet;
    if (read_pipe(in, &packet) == 0) {
        atomic_inc(&seen[packet]);
        atomic_inc(count);
    }
}
kernel void named(const read_only pipe unsigned int in, write_only pipe float4 out, global int *x) {}
";

fn device<T: Copy + Default>(name: cl_uint) -> T {
    info(|size, value, ret| target().cl.clGetDeviceInfo(target().device, name, size, value, ret)).expect("an answer")
}

/// Whether the platform under test has pipes.
fn supported() -> bool {
    let target = target();
    let has =
        info::<cl_uint>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_PIPE_SUPPORT, size, value, ret)) == Ok(1);
    assert!(has || !target.is_wgcl(), "every wgcl device has pipes");
    has
}

fn build(context: &Context) -> Program {
    let program = context.program(SOURCE);
    assert_eq!(program.build("-cl-std=CL3.0 -cl-kernel-arg-info"), CL_SUCCESS, "{}", program.log());
    program
}

fn try_pipe(context: &Context, flags: cl_bitfield, packet: cl_uint, packets: cl_uint) -> cl_int {
    let mut status = 1;
    let mem = target().cl.clCreatePipe(context.0, flags, packet, packets, null(), &mut status);
    assert_eq!(mem.is_null(), status != CL_SUCCESS);
    if !mem.is_null() {
        drop(Mem(mem));
    }
    status
}

#[test]
fn devices_report_pipe_limits() {
    if !supported() {
        return;
    }
    assert!(device::<cl_uint>(CL_DEVICE_MAX_PIPE_ARGS) >= 16);
    assert!(device::<cl_uint>(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS) >= 1);
    assert!(device::<cl_uint>(CL_DEVICE_PIPE_MAX_PACKET_SIZE) >= 1024);
}

#[test]
fn invalid_creation_is_rejected() {
    if !supported() {
        return;
    }
    let context = Context::new();
    let most = device::<cl_uint>(CL_DEVICE_PIPE_MAX_PACKET_SIZE);
    for flags in [0, CL_MEM_READ_WRITE, CL_MEM_HOST_NO_ACCESS, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS] {
        assert_eq!(try_pipe(&context, flags, 4, 3), CL_SUCCESS);
    }
    for flags in [CL_MEM_READ_ONLY, CL_MEM_HOST_READ_ONLY, 1 << 40] {
        assert_eq!(try_pipe(&context, flags, 4, 3), CL_INVALID_VALUE);
    }
    assert_eq!(try_pipe(&context, 0, most, 1), CL_SUCCESS);
    for (packet, packets) in [(0, 1), (4, 0), (most + 1, 1)] {
        assert_eq!(try_pipe(&context, 0, packet, packets), CL_INVALID_PIPE_SIZE);
    }
    assert_ne!(try_pipe(&context, 0, most, u32::MAX), CL_SUCCESS, "256 TiB");
    let mut status = 1;
    let properties = [0isize];
    let cl = &target().cl;
    assert!(cl.clCreatePipe(context.0, 0, 4, 4, properties.as_ptr(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_VALUE);
    assert!(cl.clCreatePipe(null_mut(), 0, 4, 4, null(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_CONTEXT);
}

#[test]
fn queries_are_answered() {
    if !supported() {
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    let (pipe, buffer) = (context.pipe(24, 5), context.buffer(64));
    let of_pipe = |mem: cl_mem, name| info::<cl_uint>(|size, value, ret| cl.clGetPipeInfo(mem, name, size, value, ret));
    assert_eq!(of_pipe(pipe.0, CL_PIPE_PACKET_SIZE), Ok(24));
    assert_eq!(of_pipe(pipe.0, CL_PIPE_MAX_PACKETS), Ok(5));
    assert_eq!(of_pipe(pipe.0, CL_MEM_TYPE), Err(CL_INVALID_VALUE));
    assert_eq!(of_pipe(buffer.0, CL_PIPE_PACKET_SIZE), Err(CL_INVALID_MEM_OBJECT));
    assert_eq!(of_pipe(null_mut(), CL_PIPE_PACKET_SIZE), Err(CL_INVALID_MEM_OBJECT));
    let mut size = 1;
    assert_eq!(cl.clGetPipeInfo(pipe.0, CL_PIPE_PROPERTIES, 0, null_mut(), &mut size), CL_SUCCESS);
    assert_eq!(size, 0);
    let of_mem = |name| info::<u64>(|size, value, ret| cl.clGetMemObjectInfo(pipe.0, name, size, value, ret));
    let number = |name| info::<cl_uint>(|size, value, ret| cl.clGetMemObjectInfo(pipe.0, name, size, value, ret));
    assert_eq!(number(CL_MEM_TYPE), Ok(CL_MEM_OBJECT_PIPE));
    assert_eq!(of_mem(CL_MEM_FLAGS), Ok(CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS));
    assert!(of_mem(CL_MEM_SIZE).is_ok_and(|size| size >= 24 * 5));
    for name in [CL_MEM_HOST_PTR, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_OFFSET] {
        assert_eq!(of_mem(name), Ok(0));
    }
    assert_eq!(number(CL_MEM_MAP_COUNT), Ok(0));
    assert_eq!(cl.clGetMemObjectInfo(pipe.0, CL_MEM_PROPERTIES, 0, null_mut(), &mut size), CL_SUCCESS);
    assert_eq!(size, 0);
    assert_eq!(cl.clRetainMemObject(pipe.0), CL_SUCCESS);
    assert_eq!(number(CL_MEM_REFERENCE_COUNT), Ok(2));
    assert_eq!(cl.clReleaseMemObject(pipe.0), CL_SUCCESS);
    assert_eq!(number(CL_MEM_REFERENCE_COUNT), Ok(1));
}

#[test]
fn invalid_arguments_are_rejected() {
    if !supported() {
        return;
    }
    let cl = &target().cl;
    let (context, other) = (Context::new(), Context::new());
    let program = build(&context);
    let put = program.kernel("put");
    let (pipe, wide, foreign, buffer) = (context.pipe(4, 5), context.pipe(8, 5), other.pipe(4, 5), context.buffer(64));
    assert_eq!(put.set(0, &pipe.0), CL_SUCCESS);
    assert_eq!(put.set(0, &buffer.0), CL_INVALID_MEM_OBJECT);
    assert_eq!(put.set::<cl_mem>(0, &null_mut()), CL_INVALID_MEM_OBJECT);
    assert_eq!(cl.clSetKernelArg(put.0, 0, size_of::<cl_mem>(), null()), CL_INVALID_MEM_OBJECT);
    assert_eq!(cl.clSetKernelArg(put.0, 0, 4, (&raw const pipe.0).cast()), CL_INVALID_ARG_SIZE);
    assert_eq!(put.set(2, &pipe.0), CL_INVALID_MEM_OBJECT, "a pipe is not a buffer");
    assert_eq!(put.set(0, &foreign.0), CL_INVALID_CONTEXT);
    if target().is_wgcl() {
        assert_eq!(put.set(0, &wide.0), CL_INVALID_ARG_VALUE, "packets of another size");
        assert_eq!(cl.clSetKernelArgSVMPointer(put.0, 0, null()), CL_INVALID_ARG_VALUE);
    }

    let named = program.kernel("named");
    let of_arg = |index, name| info::<u64>(|size, value, ret| cl.clGetKernelArgInfo(named.0, index, name, size, value, ret));
    let number = |index, name| info::<cl_uint>(|size, value, ret| cl.clGetKernelArgInfo(named.0, index, name, size, value, ret));
    let text = |index| info_string(|size, value, ret| cl.clGetKernelArgInfo(named.0, index, CL_KERNEL_ARG_TYPE_NAME, size, value, ret));
    for (index, access, name) in [(0, CL_KERNEL_ARG_ACCESS_READ_ONLY, "uint"), (1, CL_KERNEL_ARG_ACCESS_WRITE_ONLY, "float4")] {
        assert_eq!(of_arg(index, CL_KERNEL_ARG_TYPE_QUALIFIER), Ok(CL_KERNEL_ARG_TYPE_PIPE));
        assert_eq!(number(index, CL_KERNEL_ARG_ACCESS_QUALIFIER), Ok(access));
        assert_eq!(number(index, CL_KERNEL_ARG_ADDRESS_QUALIFIER), Ok(CL_KERNEL_ARG_ADDRESS_GLOBAL));
        assert_eq!(text(index).as_deref(), Ok(name));
    }
    assert_eq!(of_arg(2, CL_KERNEL_ARG_TYPE_QUALIFIER), Ok(0));
}

#[test]
fn the_host_has_no_access() {
    if !supported() {
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let (pipe, buffer) = (context.pipe(16, 64), context.buffer(64));
    let mut bytes = [0u8; 64];
    let at: *mut c_void = bytes.as_mut_ptr().cast();
    let (none, nothing) = (null(), null_mut());
    assert_eq!(cl.clEnqueueReadBuffer(queue.0, pipe.0, CL_TRUE, 0, 64, at, 0, none, nothing), CL_INVALID_MEM_OBJECT);
    assert_eq!(cl.clEnqueueWriteBuffer(queue.0, pipe.0, CL_TRUE, 0, 64, at, 0, none, nothing), CL_INVALID_MEM_OBJECT);
    assert_eq!(cl.clEnqueueCopyBuffer(queue.0, pipe.0, buffer.0, 0, 0, 64, 0, none, nothing), CL_INVALID_MEM_OBJECT);
    assert_eq!(cl.clEnqueueCopyBuffer(queue.0, buffer.0, pipe.0, 0, 0, 64, 0, none, nothing), CL_INVALID_MEM_OBJECT);
    assert_eq!(cl.clEnqueueFillBuffer(queue.0, pipe.0, at, 4, 0, 64, 0, none, nothing), CL_INVALID_MEM_OBJECT);
    assert_eq!(cl.clEnqueueUnmapMemObject(queue.0, pipe.0, at, 0, none, nothing), CL_INVALID_MEM_OBJECT);
    let mut status = 1;
    assert!(cl.clEnqueueMapBuffer(queue.0, pipe.0, CL_TRUE, 1, 0, 64, 0, none, nothing, &mut status).is_null());
    assert_eq!(status, CL_INVALID_MEM_OBJECT);
    let region = [0usize, 16];
    assert!(cl.clCreateSubBuffer(pipe.0, 0, 0x1220, region.as_ptr().cast(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_MEM_OBJECT);
    if common::images::reported() {
        let shape = common::ffi::cl_image_desc { mem_object: pipe.0.cast(), ..desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, [16, 1, 1]) };
        let (format, mut status) = (format(CL_R, CL_UNSIGNED_INT8), 1);
        assert!(cl.clCreateImage(context.0, 0, &format, &shape, null_mut(), &mut status).is_null());
        assert_eq!(status, CL_INVALID_IMAGE_DESCRIPTOR);
    }
    if let Some(functions) = functions() {
        let commands = Commands::new(functions, &queue);
        assert_eq!(commands.copy(&pipe, &buffer, (0, 0, 16)).0, CL_INVALID_MEM_OBJECT);
        assert_eq!(commands.fill(&pipe, 1, (0, 16)).0, CL_INVALID_MEM_OBJECT);
    }
}

#[test]
fn command_buffers_fill_and_empty_a_pipe() {
    let Some(functions) = functions().filter(|_| supported()) else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let program = build(&context);
    let (put, take) = (program.kernel("put"), program.kernel("take"));
    let (pipe, lost, seen, count) = (context.pipe(4, 100), context.buffer(4), context.buffer(256), context.buffer(4));
    queue.write(&lost, &[0u32]);
    queue.write(&count, &[0u32]);
    queue.write(&seen, &[0u32; 64]);
    put.set_mem(0, &pipe);
    assert_eq!(put.set(1, &0u32), CL_SUCCESS);
    put.set_mem(2, &lost);
    take.set_mem(0, &pipe);
    take.set_mem(1, &seen);
    take.set_mem(2, &count);
    let commands = Commands::new(functions, &queue);
    let first = commands.launch(&put, 64, Some(16), &[]);
    commands.launch(&take, 64, None, &[first]);
    commands.finalize();
    for _ in 0..20 {
        commands.enqueue();
    }
    assert_eq!(queue.read::<u32>(&seen, 64), [20; 64]);
    assert_eq!((queue.read::<u32>(&count, 1)[0], queue.read::<u32>(&lost, 1)[0]), (20 * 64, 0));
}

#[test]
fn kernels_of_two_queues_write_and_read_concurrently() {
    const ITEMS: u32 = 1 << 14;
    const ROUNDS: u32 = 8;
    if !supported() {
        return;
    }
    let context = Context::new();
    let (writers, readers) = (context.queue(0), context.queue(0));
    let program = build(&context);
    let (put, take) = (program.kernel("put"), program.kernel("take"));
    // The pipe is so small that writers find it full, and reuse its slots.
    let pipe = context.pipe(4, 5000);
    let (lost, seen, count) = (context.buffer(4), context.buffer((ITEMS * ROUNDS * 4) as usize), context.buffer(4));
    writers.write(&lost, &[0u32]);
    writers.write(&count, &[0u32]);
    writers.write(&seen, &vec![0u32; (ITEMS * ROUNDS) as usize]);
    put.set_mem(0, &pipe);
    put.set_mem(2, &lost);
    take.set_mem(0, &pipe);
    take.set_mem(1, &seen);
    take.set_mem(2, &count);
    for round in 0..ROUNDS {
        assert_eq!(put.set(1, &(round * ITEMS)), CL_SUCCESS);
        assert_eq!(writers.launch(&put, &[ITEMS as usize], None), CL_SUCCESS);
        assert_eq!(readers.launch(&take, &[ITEMS as usize], None), CL_SUCCESS);
        assert_eq!(target().cl.clFlush(writers.0) | target().cl.clFlush(readers.0), CL_SUCCESS);
    }
    writers.finish();
    readers.finish();
    assert_eq!(readers.launch(&take, &[5000], None), CL_SUCCESS);
    let (lost, count) = (readers.read::<u32>(&lost, 1)[0], readers.read::<u32>(&count, 1)[0]);
    assert_eq!(lost + count, ITEMS * ROUNDS, "all written packets were read");
    let seen = readers.read::<u32>(&seen, (ITEMS * ROUNDS) as usize);
    assert!(seen.iter().all(|&times| times <= 1), "no packet was read twice");
    assert_eq!(seen.iter().sum::<u32>(), count);
}

#[test]
fn a_pipe_is_migrated_and_released_like_other_memory() {
    static DIED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn died(_: cl_mem, _: *mut c_void) {
        DIED.fetch_add(1, Ordering::Relaxed);
    }
    if !supported() {
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let program = build(&context);
    let (put, take) = (program.kernel("put"), program.kernel("take"));
    let (lost, seen, count) = (context.buffer(4), context.buffer(256), context.buffer(4));
    queue.write(&count, &[0u32]);
    queue.write(&lost, &[0u32]);
    queue.write(&seen, &[0u32; 64]);
    let pipe = context.pipe(4, 64);
    assert_eq!(cl.clSetMemObjectDestructorCallback(pipe.0, Some(died), null_mut()), CL_SUCCESS);
    put.set_mem(0, &pipe);
    assert_eq!(put.set(1, &0u32), CL_SUCCESS);
    put.set_mem(2, &lost);
    take.set_mem(0, &pipe);
    take.set_mem(1, &seen);
    take.set_mem(2, &count);
    assert_eq!(queue.launch(&put, &[64], None), CL_SUCCESS);
    // For pipes, wgcl ignores the flag, so the packets remain.
    let flags = CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    assert_eq!(cl.clEnqueueMigrateMemObjects(queue.0, 1, &pipe.0, flags, 0, null(), null_mut()), CL_SUCCESS);
    assert_eq!(queue.launch(&take, &[64], None), CL_SUCCESS);
    // The enqueued commands retain their objects.
    drop(pipe);
    queue.finish();
    assert_eq!(queue.read::<u32>(&count, 1), [64]);
    drop((put, take, program, queue, lost, seen, count));
    drop(context);
    let waited = std::time::Instant::now();
    while DIED.load(Ordering::Relaxed) == 0 && waited.elapsed().as_secs() < 10 {
        std::thread::yield_now();
    }
    assert_eq!(DIED.load(Ordering::Relaxed), 1);
}
