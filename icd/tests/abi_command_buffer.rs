//! Command buffers (cl_khr_command_buffer): recording, synchronisation points, replays, queries, and every error that
//! the specification names.

mod common;

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use common::commands::{Commands, Handle, Point, functions};
use common::ffi::{
    CL_COMPLETE, CL_DEVICE_EXTENSIONS, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_TYPE, CL_INVALID_COMMAND_QUEUE,
    CL_INVALID_CONTEXT, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_KERNEL, CL_INVALID_KERNEL_ARGS, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION,
    CL_INVALID_VALUE, CL_INVALID_WORK_GROUP_SIZE, CL_MEM_COPY_OVERLAP, CL_MEM_OBJECT_IMAGE2D, CL_PROFILING_COMMAND_END,
    CL_PROFILING_COMMAND_START, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CL_R, CL_SUCCESS, CL_UNSIGNED_INT8,
    cl_command_queue, cl_int, cl_kernel, cl_mem, cl_uint,
};
use common::images::{desc, format, image};
use common::objects::{Context, Event, Mem};
use common::{info, info_bytes, info_string, target};

const CL_INVALID_COMMAND_BUFFER_KHR: cl_int = -1138;
const CL_INVALID_SYNC_POINT_WAIT_LIST_KHR: cl_int = -1139;
const CL_COMMAND_BUFFER_FLAGS_KHR: u64 = 0x1293;
const CL_COMMAND_BUFFER_QUEUES_KHR: cl_uint = 0x1294;
const CL_COMMAND_BUFFER_NUM_QUEUES_KHR: cl_uint = 0x1295;
const CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR: cl_uint = 0x1296;
const CL_COMMAND_BUFFER_STATE_KHR: cl_uint = 0x1297;
const CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR: cl_uint = 0x1298;
const CL_COMMAND_BUFFER_CONTEXT_KHR: cl_uint = 0x1299;
const CL_COMMAND_COMMAND_BUFFER_KHR: cl_uint = 0x12A8;

const SOURCE: &str = "
kernel void add(global uint *a, uint by) { a[get_global_id(0)] += by; }
kernel void twice(global const uint *a, global uint *b) { b[get_global_id(0)] = 2 * a[get_global_id(0)]; }
kernel void speak(int x) { printf(\"said %d\\n\", x); }
";

#[test]
fn the_implemented_version_of_the_extension_is_reported() {
    let target = target();
    let names = info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS, size, value, ret))
        .unwrap_or_default();
    let Some(_) = functions() else { return };
    assert!(names.split_whitespace().any(|name| name == "cl_khr_command_buffer"), "{names}");
    // Each cl_name_version has a cl_uint and 64 bytes.
    let with_version = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, 0x1060, size, value, ret)).expect("versions");
    let version = with_version.chunks(68).find_map(|entry| {
        let name = CStr::from_bytes_until_nul(&entry[4..]).ok()?;
        (name == c"cl_khr_command_buffer").then(|| u32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]))
    });
    if target.is_wgcl() {
        assert_eq!(version, Some((9 << 12) | 8), "0.9.8");
        let device = |name| info::<u64>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret));
        let has_queues = info::<cl_uint>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, 0x1051, size, value, ret)) != Ok(0);
        let expected = if has_queues { 0b10111 } else { 0b10101 };
        assert_eq!(device(0x12A9), Ok(expected), "printf, simultaneous use, several queues, and kernels that enqueue others");
        assert_eq!(device(0x129A), Ok(3), "out-of-order and profiling queues");
        assert_eq!(device(0x12AA), Ok(0), "nothing is required");
    }
}

#[test]
fn a_recorded_command_buffer_runs_many_times() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(SOURCE);
    let (add, twice) = (program.kernel("add"), program.kernel("twice"));
    let (a, b, c) = (context.buffer(256), context.buffer(256), context.buffer(256));
    queue.write(&a, &[1u32; 64]);
    queue.write(&c, &[0u32; 64]);
    let commands = Commands::new(functions, &queue);
    add.set_mem(0, &a);
    assert_eq!(add.set(1, &10u32), CL_SUCCESS);
    let first = commands.launch(&add, 64, Some(16), &[]);
    // Later changes of the kernel's arguments do not affect the recorded command.
    assert_eq!(add.set(1, &1000u32), CL_SUCCESS);
    twice.set_mem(0, &a);
    twice.set_mem(1, &b);
    let second = commands.launch(&twice, 64, None, &[first]);
    assert_ne!(first, second);
    assert_eq!(commands.barrier(&[first, second]).0, CL_SUCCESS);
    assert_eq!(commands.copy(&b, &c, (0, 4, 252)).0, CL_SUCCESS);
    assert_eq!(commands.fill(&c, 7, (0, 4)).0, CL_SUCCESS);
    assert_eq!(commands.barrier(&[]).0, CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&a, 64), [1; 64], "recording runs nothing");
    commands.finalize();
    for round in 1..=50u32 {
        commands.enqueue();
        let value = 1 + 10 * round;
        if round % 10 == 0 {
            assert_eq!(queue.read::<u32>(&a, 64), [value; 64]);
            let mut want = [2 * value; 64];
            want[0] = 7;
            assert_eq!(queue.read::<u32>(&c, 64), want);
        }
    }
    // The command buffer runs between other commands of the queue.
    queue.write(&a, &[5u32; 64]);
    commands.enqueue();
    assert_eq!(queue.launch(&add, &[64], None), CL_SUCCESS);
    commands.enqueue();
    assert_eq!(queue.read::<u32>(&a, 64), [5 + 10 + 1000 + 10; 64]);
}

#[test]
fn rectangles_are_copied() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let (a, b) = (context.buffer(64), context.buffer(64));
    queue.write(&a, &(0..64u8).collect::<Vec<_>>());
    queue.write(&b, &[0u8; 64]);
    let commands = Commands::new(functions, &queue);
    let (origin, target, region) = ([2usize, 1, 0], [1usize, 3, 0], [4usize, 3, 1]);
    let record = |src: cl_mem, src_row: usize| {
        functions.clCommandCopyBufferRectKHR(
            commands.0,
            null_mut(),
            null(),
            src,
            b.0,
            origin.as_ptr(),
            target.as_ptr(),
            region.as_ptr(),
            src_row,
            0,
            8,
            0,
            0,
            null(),
            null_mut(),
            null_mut(),
        )
    };
    assert_eq!(record(a.0, 8), CL_SUCCESS);
    assert_eq!(record(a.0, 3), CL_INVALID_VALUE, "the pitch is less than the width");
    assert_eq!(record(null_mut(), 8), CL_INVALID_MEM_OBJECT);
    commands.finalize();
    commands.enqueue();
    let mut want = [0u8; 64];
    for row in 0..3 {
        for column in 0..4 {
            want[(3 + row) * 8 + 1 + column] = ((1 + row) * 8 + 2 + column) as u8;
        }
    }
    assert_eq!(queue.read::<u8>(&b, 64), want);
}

#[test]
fn images_are_filled_and_copied() {
    let Some(functions) = functions() else { return };
    if !common::images::supported() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let form = desc(CL_MEM_OBJECT_IMAGE2D, [4, 3, 1]);
    let byte = format(CL_R, CL_UNSIGNED_INT8);
    let (a, b) = (image(&context, 0, byte, &form, null_mut()), image(&context, 0, byte, &form, null_mut()));
    let out = context.buffer(16);
    queue.write(&out, &(10..26u8).collect::<Vec<_>>());
    let commands = Commands::new(functions, &queue);
    let recorder = commands.0;
    let (none, point, handle) = (null(), null_mut(), null_mut());
    let fill = |mem: &Mem, value: u32, origin: [usize; 3], region: [usize; 3]| {
        let color = [value; 4];
        let (at, size) = (origin.as_ptr(), region.as_ptr());
        functions.clCommandFillImageKHR(recorder, null_mut(), null(), mem.0, color.as_ptr().cast(), at, size, 0, none, point, handle)
    };
    let (zero, all) = ([0usize; 3], [4usize, 3, 1]);
    assert_eq!(fill(&a, 1, zero, all), CL_SUCCESS);
    assert_eq!(fill(&a, 2, [1, 1, 0], [2, 2, 1]), CL_SUCCESS, "a box with gaps");
    assert_eq!(fill(&a, 2, [1, 1, 0], [4, 2, 1]), CL_INVALID_VALUE);
    assert_eq!(fill(&out, 2, zero, all), CL_INVALID_MEM_OBJECT);
    let (from, to, part) = ([1usize, 0, 0], [0usize, 0, 0], [3usize, 3, 1]);
    let pointers = (from.as_ptr(), to.as_ptr(), part.as_ptr());
    let copy = |dst: &Mem| {
        let (from, to, part) = pointers;
        functions.clCommandCopyImageKHR(recorder, null_mut(), null(), a.0, dst.0, from, to, part, 0, none, point, handle)
    };
    assert_eq!(fill(&b, 9, zero, all), CL_SUCCESS);
    assert_eq!(copy(&b), CL_SUCCESS);
    assert_eq!(copy(&a), CL_MEM_COPY_OVERLAP);
    let (row, last) = ([4usize, 1, 1], [0usize, 2, 0]);
    let (size, at) = (row.as_ptr(), last.as_ptr());
    let status = functions.clCommandCopyBufferToImageKHR(recorder, null_mut(), null(), out.0, b.0, 3, at, size, 0, none, point, handle);
    assert_eq!(status, CL_SUCCESS);
    let (size, at) = (all.as_ptr(), zero.as_ptr());
    let status = functions.clCommandCopyImageToBufferKHR(recorder, null_mut(), null(), b.0, out.0, at, size, 4, 0, none, point, handle);
    assert_eq!(status, CL_SUCCESS);
    let status = functions.clCommandCopyImageToBufferKHR(recorder, null_mut(), null(), b.0, out.0, at, size, 5, 0, none, point, handle);
    assert_eq!(status, CL_INVALID_VALUE);
    commands.finalize();
    commands.enqueue();
    assert_eq!(queue.read::<u8>(&out, 16), [10, 11, 12, 13, 1, 1, 1, 9, 2, 2, 1, 9, 13, 14, 15, 16]);
    // Run the command buffer again, with the results of the first run in the buffer.
    commands.enqueue();
    assert_eq!(queue.read::<u8>(&out, 16), [10, 11, 12, 13, 1, 1, 1, 9, 2, 2, 1, 9, 13, 1, 1, 1]);
}

#[test]
fn an_enqueue_waits_for_events_and_returns_one() {
    let Some(functions) = functions() else { return };
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(CL_QUEUE_PROFILING_ENABLE);
    let program = context.build(SOURCE);
    let add = program.kernel("add");
    let a = context.buffer(256);
    queue.write(&a, &[0u32; 64]);
    add.set_mem(0, &a);
    assert_eq!(add.set(1, &1u32), CL_SUCCESS);
    let commands = Commands::new(functions, &queue);
    for _ in 0..5 {
        commands.launch(&add, 64, None, &[]);
    }
    commands.finalize();
    let mut status = 1;
    let user = Event(cl.clCreateUserEvent(context.0, &mut status));
    assert_eq!(status, CL_SUCCESS);
    let mut done = null_mut();
    assert_eq!(functions.clEnqueueCommandBufferKHR(1, &queue.0, commands.0, 1, &user.0, &mut done), CL_SUCCESS);
    let done = Event(done);
    let event = |name| info::<cl_uint>(|size, value, ret| cl.clGetEventInfo(done.0, name, size, value, ret));
    assert_eq!(event(CL_EVENT_COMMAND_TYPE), Ok(CL_COMMAND_COMMAND_BUFFER_KHR));
    assert_ne!(event(CL_EVENT_COMMAND_EXECUTION_STATUS), Ok(CL_COMPLETE as cl_uint));
    assert_eq!(cl.clSetUserEventStatus(user.0, CL_COMPLETE), CL_SUCCESS);
    assert_eq!(cl.clWaitForEvents(1, &done.0), CL_SUCCESS);
    let time = |name| info::<u64>(|size, value, ret| cl.clGetEventProfilingInfo(done.0, name, size, value, ret)).expect("profiled");
    let (start, end) = (time(CL_PROFILING_COMMAND_START), time(CL_PROFILING_COMMAND_END));
    assert!(start > 0 && end >= start, "{start} {end}");
    assert_eq!(queue.read::<u32>(&a, 64), [5; 64]);
    // An empty command buffer can also be enqueued, and completes its event.
    let empty = Commands::new(functions, &queue);
    empty.finalize();
    let mut nothing = null_mut();
    assert_eq!(functions.clEnqueueCommandBufferKHR(0, null(), empty.0, 0, null(), &mut nothing), CL_SUCCESS);
    let nothing = Event(nothing);
    assert_eq!(cl.clWaitForEvents(1, &nothing.0), CL_SUCCESS);
}

#[test]
fn a_pending_command_buffer_may_be_enqueued_again_and_to_other_queues() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let (queue, unordered) = (context.queue(0), context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    let program = context.build("kernel void count(global int *a) { atomic_inc(a + get_global_id(0)); }");
    let count = program.kernel("count");
    let a = context.buffer(256);
    queue.write(&a, &[0i32; 64]);
    count.set_mem(0, &a);
    let mut status = 1;
    let properties = [CL_COMMAND_BUFFER_FLAGS_KHR, 1, 0];
    let commands = Commands(functions.clCreateCommandBufferKHR(1, &queue.0, properties.as_ptr(), &mut status), functions);
    assert_eq!(status, CL_SUCCESS, "with CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR");
    commands.launch(&count, 64, None, &[]);
    commands.launch(&count, 64, None, &[]);
    commands.finalize();
    for _ in 0..100 {
        commands.enqueue();
        assert_eq!(functions.clEnqueueCommandBufferKHR(1, &unordered.0, commands.0, 0, null(), null_mut()), CL_SUCCESS);
    }
    unordered.finish();
    assert_eq!(queue.read::<i32>(&a, 64), [400; 64]);
}

#[test]
fn a_command_buffer_retains_its_objects() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let (a, b) = (context.buffer(16), context.buffer(16));
    queue.write(&a, &[3u32; 4]);
    let commands = {
        let program = context.build(SOURCE);
        let twice = program.kernel("twice");
        twice.set_mem(0, &a);
        twice.set_mem(1, &b);
        let other = context.queue(0);
        let commands = Commands::new(functions, &other);
        commands.launch(&twice, 4, None, &[]);
        commands.finalize();
        commands
    };
    assert_eq!(functions.clEnqueueCommandBufferKHR(1, &queue.0, commands.0, 0, null(), null_mut()), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&b, 4), [6; 4]);
    // Release the command buffer while it may still be running.
    queue.write(&a, &[4u32; 4]);
    assert_eq!(functions.clEnqueueCommandBufferKHR(1, &queue.0, commands.0, 0, null(), null_mut()), CL_SUCCESS);
    drop(commands);
    assert_eq!(queue.read::<u32>(&b, 4), [8; 4]);
}

#[test]
fn queries_are_answered() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let commands = Commands::new(functions, &queue);
    assert_eq!(commands.info(CL_COMMAND_BUFFER_NUM_QUEUES_KHR), Ok(1u32));
    assert_eq!(commands.info(CL_COMMAND_BUFFER_QUEUES_KHR), Ok(queue.0 as usize));
    assert_eq!(commands.info(CL_COMMAND_BUFFER_CONTEXT_KHR), Ok(context.0 as usize));
    assert_eq!(commands.info(CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR), Ok(1u32));
    assert_eq!(functions.clRetainCommandBufferKHR(commands.0), CL_SUCCESS);
    assert_eq!(commands.info(CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR), Ok(2u32));
    assert_eq!(functions.clReleaseCommandBufferKHR(commands.0), CL_SUCCESS);
    assert_eq!(commands.info(CL_COMMAND_BUFFER_STATE_KHR), Ok(0u32), "recording");
    commands.finalize();
    assert_eq!(commands.info(CL_COMMAND_BUFFER_STATE_KHR), Ok(1u32), "executable");
    assert_eq!(commands.info::<u32>(0xdead), Err(CL_INVALID_VALUE));
    let array = |commands: &Commands| {
        info_bytes(|size, value, ret| {
            functions.clGetCommandBufferInfoKHR(commands.0, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR, size, value, ret)
        })
    };
    assert!(array(&commands).is_ok_and(|bytes| bytes.is_empty() || bytes == [0; 8]));
    let properties = [CL_COMMAND_BUFFER_FLAGS_KHR, 0u64, 0];
    let mut status = 1;
    let other = Commands(functions.clCreateCommandBufferKHR(1, &queue.0, properties.as_ptr(), &mut status), functions);
    assert_eq!(status, CL_SUCCESS);
    let want: Vec<u8> = properties.iter().flat_map(|value| value.to_ne_bytes()).collect();
    assert_eq!(array(&other), Ok(want));
}

#[test]
fn invalid_creation_is_rejected() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let create = |count: cl_uint, queues: *const cl_command_queue, properties: &[u64]| {
        let mut status = 1;
        let list = if properties.is_empty() { null() } else { properties.as_ptr() };
        assert!(functions.clCreateCommandBufferKHR(count, queues, list, &mut status).is_null());
        status
    };
    assert_eq!(create(0, &queue.0, &[]), CL_INVALID_VALUE);
    assert_eq!(create(1, null(), &[]), CL_INVALID_VALUE);
    assert_eq!(create(1, &null_mut(), &[]), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(create(1, &queue.0, &[CL_COMMAND_BUFFER_FLAGS_KHR, u64::MAX, 0]), CL_INVALID_VALUE);
    assert_eq!(create(1, &queue.0, &[0xdead, 0, 0]), CL_INVALID_VALUE);
    let twice = [CL_COMMAND_BUFFER_FLAGS_KHR, 0, CL_COMMAND_BUFFER_FLAGS_KHR, 0, 0];
    assert_eq!(create(1, &queue.0, &twice), CL_INVALID_VALUE);
}

#[test]
fn invalid_recording_is_rejected() {
    let Some(functions) = functions() else { return };
    let (context, stranger) = (Context::new(), Context::new());
    let queue = context.queue(0);
    let program = context.build(SOURCE);
    let (add, twice) = (program.kernel("add"), program.kernel("twice"));
    let (a, b, foreign) = (context.buffer(64), context.buffer(64), stranger.buffer(64));
    let commands = Commands::new(functions, &queue);
    let barrier = |buffer: Handle, queue, properties: *const u64, n, waits: *const Point, command| {
        functions.clCommandBarrierWithWaitListKHR(buffer, queue, properties, n, waits, null_mut(), command)
    };
    assert_eq!(barrier(null_mut(), null_mut(), null(), 0, null(), null_mut()), CL_INVALID_COMMAND_BUFFER_KHR);
    assert_eq!(barrier(queue.0, null_mut(), null(), 0, null(), null_mut()), CL_INVALID_COMMAND_BUFFER_KHR);
    assert_eq!(barrier(commands.0, queue.0, null(), 0, null(), null_mut()), CL_SUCCESS, "its own queue may be named");
    assert_eq!(barrier(commands.0, context.queue(0).0, null(), 0, null(), null_mut()), CL_INVALID_COMMAND_QUEUE, "another one not");
    assert_eq!(barrier(commands.0, null_mut(), [1u64, 1, 0].as_ptr(), 0, null(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(barrier(commands.0, null_mut(), [0u64].as_ptr(), 0, null(), null_mut()), CL_SUCCESS, "an empty list of properties");
    let mut command = null_mut();
    assert_eq!(barrier(commands.0, null_mut(), null(), 0, null(), &mut command), CL_INVALID_VALUE, "commands cannot be changed");
    assert_eq!(barrier(commands.0, null_mut(), null(), 1, null(), null_mut()), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
    assert_eq!(barrier(commands.0, null_mut(), null(), 0, &1, null_mut()), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
    for wrong in [0, 1000, u32::MAX] {
        assert_eq!(commands.barrier(&[wrong]).0, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, "{wrong}");
    }

    assert_eq!(commands.copy(&a, &foreign, (0, 0, 16)).0, CL_INVALID_CONTEXT);
    assert_eq!(commands.copy(&a, &b, (0, 60, 16)).0, CL_INVALID_VALUE);
    assert_eq!(commands.copy(&a, &a, (0, 8, 16)).0, CL_MEM_COPY_OVERLAP);
    assert_eq!(commands.fill(&foreign, 1, (0, 16)).0, CL_INVALID_CONTEXT);
    assert_eq!(commands.fill(&a, 1, (2, 16)).0, CL_INVALID_VALUE);
    assert_eq!(commands.fill(&a, 1, (0, 128)).0, CL_INVALID_VALUE);

    let record = |kernel: cl_kernel, dim, local: *const usize| {
        let global = [6usize, 1, 1];
        functions.clCommandNDRangeKernelKHR(
            commands.0,
            null_mut(),
            null(),
            kernel,
            dim,
            null(),
            global.as_ptr(),
            local,
            0,
            null(),
            null_mut(),
            null_mut(),
        )
    };
    assert_eq!(record(null_mut(), 1, null()), CL_INVALID_KERNEL);
    assert_eq!(record(add.0, 1, null()), CL_INVALID_KERNEL_ARGS);
    add.set_mem(0, &a);
    assert_eq!(add.set(1, &1u32), CL_SUCCESS);
    assert_eq!(record(add.0, 1, &4), CL_INVALID_WORK_GROUP_SIZE);
    assert_eq!(record(add.0, 1, &3), CL_SUCCESS);
    let there = {
        let elsewhere = stranger.build(SOURCE);
        elsewhere.kernel("add")
    };
    there.set_mem(0, &foreign);
    assert_eq!(there.set(1, &1u32), CL_SUCCESS);
    assert_eq!(record(there.0, 1, null()), CL_INVALID_CONTEXT);

    // Only finalised command buffers run. No command can be added to a finalised command buffer.
    let enqueue = |n, waits| functions.clEnqueueCommandBufferKHR(0, null(), commands.0, n, waits, null_mut());
    assert_eq!(enqueue(0, null()), CL_INVALID_OPERATION, "not finalized");
    queue.write(&a, &[0u32; 16]);
    commands.finalize();
    assert_eq!(functions.clFinalizeCommandBufferKHR(commands.0), CL_INVALID_OPERATION);
    assert_eq!(record(add.0, 1, null()), CL_INVALID_OPERATION);
    assert_eq!(commands.barrier(&[]).0, CL_INVALID_OPERATION);
    assert_eq!(commands.copy(&a, &b, (0, 0, 16)).0, CL_INVALID_OPERATION);
    assert_eq!(commands.fill(&a, 1, (0, 16)).0, CL_INVALID_OPERATION);
    commands.enqueue();
    let mut want = [0u32; 16];
    want[..6].fill(1);
    assert_eq!(queue.read::<u32>(&a, 16), want);
    drop(twice);

    let outside = stranger.queue(0);
    let send = |num, queues: *const cl_command_queue, buffer, n, waits| {
        functions.clEnqueueCommandBufferKHR(num, queues, buffer, n, waits, null_mut())
    };
    assert_eq!(send(0, null(), null_mut(), 0, null()), CL_INVALID_COMMAND_BUFFER_KHR);
    assert_eq!(send(1, null(), commands.0, 0, null()), CL_INVALID_VALUE);
    assert_eq!(send(0, &queue.0, commands.0, 0, null()), CL_INVALID_VALUE);
    assert_eq!(send(2, [queue.0, queue.0].as_ptr(), commands.0, 0, null()), CL_INVALID_VALUE);
    assert_eq!(send(1, &null_mut(), commands.0, 0, null()), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(send(1, &outside.0, commands.0, 0, null()), CL_INVALID_CONTEXT);
    assert_eq!(enqueue(1, null()), CL_INVALID_EVENT_WAIT_LIST);
    let mut status: cl_int = 1;
    let foreign_event = Event(target().cl.clCreateUserEvent(stranger.0, &mut status));
    assert_eq!(enqueue(1, &foreign_event.0), CL_INVALID_CONTEXT);
    assert_eq!(functions.clRetainCommandBufferKHR(null_mut()), CL_INVALID_COMMAND_BUFFER_KHR);
    assert_eq!(functions.clReleaseCommandBufferKHR(null_mut()), CL_INVALID_COMMAND_BUFFER_KHR);
    assert_eq!(functions.clFinalizeCommandBufferKHR(null_mut()), CL_INVALID_COMMAND_BUFFER_KHR);
}

/// Tests a command buffer with more launches than fit in one submission to the device.
#[test]
fn long_command_buffers_run_completely() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(SOURCE);
    let add = program.kernel("add");
    let a = context.buffer(16);
    queue.write(&a, &[0u32; 4]);
    add.set_mem(0, &a);
    let commands = Commands::new(functions, &queue);
    for k in 0..3000u32 {
        assert_eq!(add.set(1, &(k % 7)), CL_SUCCESS);
        commands.launch(&add, 4, None, &[]);
    }
    commands.finalize();
    commands.enqueue();
    commands.enqueue();
    let want: u32 = (0..3000).map(|k| k % 7).sum();
    assert_eq!(queue.read::<u32>(&a, 4), [2 * want; 4]);
}
