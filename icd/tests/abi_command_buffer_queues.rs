//! Command buffers for several queues (cl_khr_command_buffer_multi_device): queues of one device, of sub-devices, and
//! of a device with dedicated memory run in sequence.
//!
//! The interpreter is the device with dedicated memory.

mod common;

use std::ptr::{null, null_mut};

use common::commands::{Commands, Handle, Point, functions};
use common::ffi::{
    CL_COMPLETE, CL_DEVICE_TYPE_ALL, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_OPERATION,
    CL_INVALID_VALUE, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_SUBMIT,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CL_SUCCESS, cl_command_queue, cl_device_id, cl_int, cl_uint,
};
use common::objects::{Context, Event, Kernel, Mem, Queue};
use common::{info, info_bytes, target};

const CL_INCOMPATIBLE_COMMAND_QUEUE_KHR: cl_int = -1140;
const CL_COMMAND_BUFFER_FLAGS_KHR: u64 = 0x1293;
const DEVICE_SIDE_SYNC: u64 = 1 << 2;
const CL_COMMAND_BUFFER_QUEUES_KHR: cl_uint = 0x1294;
const CL_COMMAND_BUFFER_NUM_QUEUES_KHR: cl_uint = 0x1295;
const PLATFORM_CAPABILITIES: cl_uint = 0x0908;
const NUM_SYNC_DEVICES: cl_uint = 0x12AB;
const SYNC_DEVICES: cl_uint = 0x12AC;
const EQUALLY: isize = 0x1086;
const COUNT: usize = 256;
const BYTES: usize = 4 * COUNT;

const SOURCE: &str = "
kernel void add(global uint *a, uint by) { a[get_global_id(0)] += by; }
kernel void twice(global uint *a) { a[get_global_id(0)] *= 2; }
";

common::extension_functions! {
    fn clRemapCommandBufferKHR(buffer: Handle, automatic: cl_uint, n: cl_uint, queues: *const cl_command_queue, handles: cl_uint, list: *const Handle, ret: *mut Handle, status: *mut cl_int) -> Handle;
}

fn create(functions: &'static common::commands::Functions, queues: &[&Queue], properties: &[u64]) -> Result<Commands, cl_int> {
    let queues: Vec<_> = queues.iter().map(|queue| queue.0).collect();
    let mut status = 1;
    let handle = functions.clCreateCommandBufferKHR(queues.len() as cl_uint, queues.as_ptr(), properties.as_ptr(), &mut status);
    if handle.is_null() { Err(status) } else { Ok(Commands(handle, functions)) }
}

fn launch(commands: &Commands, queue: &Queue, kernel: &Kernel, waits: &[Point]) -> Point {
    let (mut point, list) = (0, if waits.is_empty() { null() } else { waits.as_ptr() });
    let (count, none) = (waits.len() as cl_uint, null_mut());
    let recorded = commands.1.clCommandNDRangeKernelKHR(
        commands.0,
        queue.0,
        null(),
        kernel.0,
        1,
        null(),
        &COUNT,
        null(),
        count,
        list,
        &mut point,
        none,
    );
    assert_eq!(recorded, CL_SUCCESS, "clCommandNDRangeKernelKHR");
    point
}

fn copy(commands: &Commands, queue: &Queue, from: &Mem, to: &Mem, waits: &[Point]) -> Point {
    let mut point = 0;
    let (count, list, none) = (waits.len() as cl_uint, if waits.is_empty() { null() } else { waits.as_ptr() }, null_mut());
    let recorded = commands.1.clCommandCopyBufferKHR(commands.0, queue.0, null(), from.0, to.0, 0, 0, BYTES, count, list, &mut point, none);
    assert_eq!(recorded, CL_SUCCESS, "clCommandCopyBufferKHR");
    point
}

fn barrier(commands: &Commands, queue: &Queue) -> Point {
    let mut point = 0;
    let recorded = commands.1.clCommandBarrierWithWaitListKHR(commands.0, queue.0, null(), 0, null(), &mut point, null_mut());
    assert_eq!(recorded, CL_SUCCESS, "clCommandBarrierWithWaitListKHR");
    point
}

/// Creates a context of these devices, and a queue for each device.
fn context(devices: &[cl_device_id], properties: u64) -> (Context, Vec<Queue>) {
    let cl = &target().cl;
    let mut status = 1;
    let context = Context(cl.clCreateContext(null(), devices.len() as cl_uint, devices.as_ptr(), None, null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS, "clCreateContext");
    let queues = devices.iter().map(|&device| Queue(cl.clCreateCommandQueue(context.0, device, properties, &mut status))).collect();
    (context, queues)
}

/// Updates one buffer with three queues in sequence, in several runs. Synchronisation points and one barrier order the
/// commands.
fn update_in_sequence(context: &Context, queues: &[&Queue; 3]) {
    let functions = functions().expect("the functions");
    let program = context.program(SOURCE);
    assert_eq!(target().cl.clBuildProgram(program.0, 0, null(), c"".as_ptr(), None, null_mut()), CL_SUCCESS, "{}", program.log());
    let (first, third, twice) = (program.kernel("add"), program.kernel("add"), program.kernel("twice"));
    let (a, b) = (context.buffer(BYTES), context.buffer(BYTES));
    for (kernel, by) in [(&first, 1u32), (&third, 3)] {
        kernel.set_mem(0, &a);
        assert_eq!(kernel.set(1, &by), CL_SUCCESS);
    }
    twice.set_mem(0, &a);
    let commands = create(functions, queues, &[0]).expect("a command buffer");
    assert_eq!(commands.info(CL_COMMAND_BUFFER_NUM_QUEUES_KHR), Ok(3u32));
    let listed =
        info_bytes(|size, value, ret| functions.clGetCommandBufferInfoKHR(commands.0, CL_COMMAND_BUFFER_QUEUES_KHR, size, value, ret));
    let names: Vec<u8> = queues.iter().flat_map(|queue| (queue.0 as usize).to_ne_bytes()).collect();
    assert_eq!(listed, Ok(names));
    let mut point = launch(&commands, queues[0], &first, &[]);
    point = launch(&commands, queues[1], &twice, &[point]);
    launch(&commands, queues[2], &third, &[point]);
    barrier(&commands, queues[0]);
    copy(&commands, queues[1], &a, &b, &[]);
    commands.finalize();
    queues[2].write(&a, &[5u32; COUNT]);
    queues[2].finish();
    let mut value = 5u32;
    let mut waited: Option<Event> = None;
    for _ in 0..20 {
        let mut event = null_mut();
        let list = waited.as_ref().map_or(null(), |event| &raw const event.0);
        let status = functions.clEnqueueCommandBufferKHR(0, null(), commands.0, u32::from(waited.is_some()), list, &mut event);
        assert_eq!(status, CL_SUCCESS, "clEnqueueCommandBufferKHR");
        waited = Some(Event(event));
        value = (value + 1).wrapping_mul(2).wrapping_add(3);
    }
    let event = waited.expect("an event");
    assert_eq!(target().cl.clWaitForEvents(1, &event.0), CL_SUCCESS);
    let state = info::<cl_int>(|size, value, ret| target().cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, ret));
    assert_eq!(state, Ok(CL_COMPLETE));
    let names = [CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END];
    let times = names.map(|name| info::<u64>(|size, value, ret| target().cl.clGetEventProfilingInfo(event.0, name, size, value, ret)));
    let times: Vec<u64> = times.into_iter().map(|time| time.expect("a time")).collect();
    assert!(times[0] > 0 && times.is_sorted(), "{times:?}");
    assert_eq!(queues[0].read::<u32>(&a, COUNT), [value; COUNT]);
    assert_eq!(queues[2].read::<u32>(&b, COUNT), [value; COUNT]);
}

#[test]
fn queues_run_in_sequence_in_one_command_buffer() {
    if std::env::var_os("WGCL_TEST_PLATFORM").is_some() {
        return;
    }
    assert!(std::env::var_os("WGCL_TEST_DEVICE").is_none(), "WGCL_TEST_DEVICE is set, but this test chooses its own devices: exclude it");
    // SAFETY: the only test of this process; no other thread exists that reads the environment.
    unsafe { std::env::set_var("WGCL_INTERPRETER", "1") };
    let cl = &target().cl;
    // Test in-order and out-of-order queues of one device.
    for properties in [CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let context = Context::new();
        let queues = [0; 3].map(|_| context.queue(properties));
        update_in_sequence(&context, &[&queues[0], &queues[1], &queues[2]]);
    }
    let mut devices = [null_mut(); 8];
    let mut count = 0;
    assert_eq!(cl.clGetDeviceIDs(target().platform, CL_DEVICE_TYPE_ALL, 8, devices.as_mut_ptr(), &mut count), CL_SUCCESS);
    let other = devices[..count as usize].iter().copied().find(|&device| device != target().device);
    let mut parts = [null_mut(); 8];
    let mut found = 0;
    let divided =
        cl.clCreateSubDevices(target().device, [EQUALLY, 1, 0].as_ptr(), 8, parts.as_mut_ptr(), &mut found) == CL_SUCCESS && found > 1;
    // Test queues of the device and of two of its sub-devices.
    if divided {
        let (context, queues) = context(&[target().device, parts[0], parts[1]], CL_QUEUE_PROFILING_ENABLE);
        update_in_sequence(&context, &[&queues[0], &queues[1], &queues[2]]);
        let flags = [CL_COMMAND_BUFFER_FLAGS_KHR, DEVICE_SIDE_SYNC, 0];
        assert!(create(functions().expect("the functions"), &[&queues[1], &queues[2]], &flags).is_ok());
    }
    // Test queues of devices with separate memories.
    if let Some(other) = other {
        let (context, queues) = context(&[target().device, other], CL_QUEUE_PROFILING_ENABLE);
        update_in_sequence(&context, &[&queues[0], &queues[1], &queues[0]]);
        update_in_sequence(&context, &[&queues[1], &queues[0], &queues[1]]);
        let flags = [CL_COMMAND_BUFFER_FLAGS_KHR, DEVICE_SIDE_SYNC, 0];
        let wrong = create(functions().expect("the functions"), &[&queues[0], &queues[1]], &flags).err();
        assert_eq!(wrong, Some(CL_INCOMPATIBLE_COMMAND_QUEUE_KHR));
    }
    parts[..found as usize].iter().for_each(|&part| assert_eq!(cl.clReleaseDevice(part), CL_SUCCESS));
    invalid_arguments_are_rejected();
    capabilities_are_reported();
}

fn invalid_arguments_are_rejected() {
    let commands_of = functions().expect("the functions");
    let remap = Functions::load().expect("clRemapCommandBufferKHR");
    let (context, stranger) = (Context::new(), Context::new());
    let queues = [context.queue(0), context.queue(0)];
    let (outside, third) = (stranger.queue(0), context.queue(0));
    assert_eq!(create(commands_of, &[&queues[0], &outside], &[0]).err(), Some(CL_INVALID_CONTEXT));
    let commands = create(commands_of, &[&queues[0], &queues[1]], &[0]).expect("a command buffer");
    let record =
        |queue: cl_command_queue| commands_of.clCommandBarrierWithWaitListKHR(commands.0, queue, null(), 0, null(), null_mut(), null_mut());
    assert_eq!(record(null_mut()), CL_INVALID_COMMAND_QUEUE, "with two queues, one has to be named");
    assert_eq!(record(third.0), CL_INVALID_COMMAND_QUEUE, "the queue does not belong to the command buffer");
    assert_eq!(record(outside.0), CL_INVALID_CONTEXT);
    assert_eq!(record(queues[1].0), CL_SUCCESS);
    commands.finalize();
    let enqueue = |queues: &[cl_command_queue]| {
        commands_of.clEnqueueCommandBufferKHR(queues.len() as cl_uint, queues.as_ptr(), commands.0, 0, null(), null_mut())
    };
    assert_eq!(enqueue(&[queues[0].0]), CL_INVALID_VALUE, "one for two");
    assert_eq!(enqueue(&[queues[0].0, outside.0]), CL_INVALID_CONTEXT);
    assert_eq!(enqueue(&[queues[1].0, third.0]), CL_SUCCESS, "other queues of the same devices");
    third.finish();
    let mut status = 1;
    assert!(remap.clRemapCommandBufferKHR(commands.0, 0, 1, &third.0, 0, null(), null_mut(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_OPERATION, "no platform capability permits it");
}

fn capabilities_are_reported() {
    let (target, device) = (target(), target().device);
    let of_platform = info::<u64>(|size, value, ret| target.cl.clGetPlatformInfo(target.platform, PLATFORM_CAPABILITIES, size, value, ret));
    assert_eq!(of_platform, Ok(1), "all devices can synchronise, commands stay on their queues");
    let count = info::<cl_uint>(|size, value, ret| target.cl.clGetDeviceInfo(device, NUM_SYNC_DEVICES, size, value, ret));
    let list = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(device, SYNC_DEVICES, size, value, ret));
    assert_eq!((count, list), (Ok(1), Ok((device as usize).to_ne_bytes().to_vec())));
}
