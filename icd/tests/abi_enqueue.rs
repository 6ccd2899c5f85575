//! Device-side enqueue: queues on the device, and kernels that enqueue kernels (OpenCL API 5.1, 3.2.1; OpenCL C
//! 6.15.18).

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::commands::{self, Commands};
use common::features::require;
use common::ffi::{
    CL_ADDRESS_CLAMP, CL_DEVICE_EXTENSIONS, CL_FALSE, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_FLOAT, CL_INVALID_COMMAND_QUEUE,
    CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_PROFILING_COMMAND_END, CL_PROGRAM_NUM_KERNELS,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES, CL_R, CL_RGBA, CL_SUCCESS, CL_UNORM_INT8,
    cl_command_queue, cl_int, cl_uint,
};
use common::images::{Area, desc, format, image, read, write};
use common::objects::{Context, Event, Kernel, Program, Queue};
use common::{info, info_bytes, info_string, target};

const ON_DEVICE: u64 = 1 << 2;
const DEFAULT: u64 = 1 << 3;
const QUEUE_SIZE: u64 = 0x1094;
const QUEUE_DEVICE_DEFAULT: u32 = 0x1095;
const MAX_ON_DEVICE_QUEUES: u32 = 0x1051;
const MAX_SIZE: u32 = 0x1050;
const PROFILING_COMPLETE: u32 = 0x1284;
const INVALID_QUEUE_PROPERTIES: cl_int = -35;
const INVALID_DEVICE_QUEUE: cl_int = -70;
const WHOLE: u64 = ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

/// Creates an on-device queue.
fn make(context: &Context, bits: u64, size: Option<u64>) -> Result<Queue, cl_int> {
    let mut list = vec![u64::from(CL_QUEUE_PROPERTIES), bits];
    list.extend(size.into_iter().flat_map(|size| [QUEUE_SIZE, size]));
    list.push(0);
    let mut status = 1;
    let queue = target().cl.clCreateCommandQueueWithProperties(context.0, target().device, list.as_ptr().cast(), &mut status);
    if status == CL_SUCCESS { Ok(Queue(queue)) } else { Err(status) }
}

/// Creates a context, or returns `None` if the device has no on-device queues.
fn context() -> Option<Context> {
    let device = |what| info::<cl_uint>(|size, value, ret| target().cl.clGetDeviceInfo(target().device, what, size, value, ret));
    let context = Context::new();
    if !require("on-device queues", device(MAX_ON_DEVICE_QUEUES) != Ok(0)) {
        assert_eq!(make(&context, WHOLE, None).err(), Some(INVALID_QUEUE_PROPERTIES));
        return None;
    }
    Some(context)
}

fn build(context: &Context, source: &str, options: &str) -> Program {
    let program = context.program(source);
    let status = program.build(&format!("-cl-std=CL3.0 {options}"));
    assert_eq!(status, CL_SUCCESS, "{}", program.log());
    program
}

/// Runs a kernel that takes a buffer, and returns the buffer's words.
fn run(context: &Context, kernel: &Kernel, items: usize, words: usize) -> (Vec<i32>, cl_int) {
    let (queue, mem) = (context.queue(0), context.buffer(words * 4));
    queue.write(&mem, &vec![0i32; words]);
    kernel.set_mem(0, &mem);
    let mut event = null_mut();
    let status = target().cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &items, null(), 0, null(), &mut event);
    assert_eq!(status, CL_SUCCESS, "clEnqueueNDRangeKernel");
    let event = Event(event);
    let ended = target().cl.clWaitForEvents(1, &event.0);
    (if ended == CL_SUCCESS { queue.read::<i32>(&mem, words) } else { Vec::new() }, ended)
}

#[test]
fn on_device_queues_have_the_requested_properties() {
    let Some(context) = context() else { return };
    let most = info::<cl_uint>(|size, value, ret| target().cl.clGetDeviceInfo(target().device, MAX_SIZE, size, value, ret)).expect("size");
    assert_eq!(make(&context, ON_DEVICE, None).err(), Some(-30));
    assert_eq!(make(&context, DEFAULT | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, None).err(), Some(-30));
    assert_eq!(make(&context, 0, Some(1024)).err(), Some(-30));
    assert_eq!(make(&context, WHOLE, Some(u64::from(most) + 1)).err(), Some(INVALID_QUEUE_PROPERTIES));
    let first = make(&context, WHOLE | DEFAULT, Some(4096)).expect("a queue");
    let ask = |queue: &Queue, what| info::<cl_uint>(|size, value, ret| target().cl.clGetCommandQueueInfo(queue.0, what, size, value, ret));
    assert_eq!(ask(&first, QUEUE_SIZE as u32), Ok(4096));
    let default = |queue: &Queue| {
        info::<usize>(|size, value, ret| target().cl.clGetCommandQueueInfo(queue.0, QUEUE_DEVICE_DEFAULT, size, value, ret))
            .expect("default")
    };
    assert_eq!(default(&first), first.0.addr());
    // A device has only one default queue, so the second request returns the same queue.
    let again = make(&context, WHOLE | DEFAULT, None).expect("a queue");
    assert_eq!(again.0, first.0);
    let second = make(&context, WHOLE, None).expect("a queue");
    assert_eq!(ask(&second, QUEUE_SIZE as u32), Ok(most));
    assert_eq!(target().cl.clSetDefaultDeviceCommandQueue(context.0, target().device, second.0), CL_SUCCESS);
    assert_eq!(default(&first), second.0.addr());
    let host = context.queue(0);
    assert_eq!(target().cl.clSetDefaultDeviceCommandQueue(context.0, target().device, host.0), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(ask(&host, QUEUE_SIZE as u32), Err(CL_INVALID_COMMAND_QUEUE));
    // The host cannot enqueue to an on-device queue.
    let status = target().cl.clEnqueueMarkerWithWaitList(second.0, 0, null(), null_mut());
    assert_eq!(status, CL_INVALID_COMMAND_QUEUE);
    assert_eq!(target().cl.clFlush(second.0), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(target().cl.clFinish(second.0), CL_INVALID_COMMAND_QUEUE);
}

#[test]
fn children_of_children_run_before_the_next_command() {
    let Some(context) = context() else { return };
    let source = "
        void go(global int *out, int level)
        {
            if (level == 0) return;
            int id = (int)get_global_id(0);
            void (^child)(void) = ^{ atomic_add(out + level, id + 1); go(out, level - 1); };
            if (enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(2), child) != CLK_SUCCESS)
                out[0] = -1;
        }
        kernel void start(global int *out) { go(out, 3); }";
    let program = build(&context, source, "");
    let kernel = program.kernel("start");
    // The driver does not report the kernels that it generates for blocks.
    let count = info::<usize>(|size, value, ret| target().cl.clGetProgramInfo(program.0, CL_PROGRAM_NUM_KERNELS, size, value, ret));
    assert_eq!(count, Ok(1));
    // Without an on-device queue, the kernel cannot enqueue a child.
    assert_eq!(run(&context, &kernel, 3, 4), (vec![-1, 0, 0, 0], CL_SUCCESS));
    let _queue = make(&context, WHOLE | DEFAULT, None).expect("a queue");
    // Each of 3 work-items enqueues 2 work-items. Each of these enqueues 2, and each of those enqueues 2 again.
    assert_eq!(run(&context, &kernel, 3, 4), (vec![0, 36, 18, 12], CL_SUCCESS));
}

#[test]
fn chains_of_children_may_be_long() {
    let Some(context) = context() else { return };
    let _queue = make(&context, WHOLE | DEFAULT, None).expect("a queue");
    let source = "
        void go(global int *out, int level)
        {
            out[0]++;
            if (level > 0)
                enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ go(out, level - 1); });
        }
        kernel void start(global int *out) { go(out, 4999); }";
    let program = build(&context, source, "");
    assert_eq!(run(&context, &program.kernel("start"), 1, 1), (vec![5000], CL_SUCCESS));
}

#[test]
fn concurrent_launches_of_one_program_do_not_interfere() {
    let Some(context) = context() else { return };
    let _queue = make(&context, WHOLE | DEFAULT, None).expect("a queue");
    let source = "
        kernel void twice(global int *out, int n)
        {
            clk_event_t first;
            queue_t q = get_default_queue();
            enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(n), 0, NULL, &first, ^{ atomic_inc(out); });
            enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &first, NULL, ^{ out[1] += out[0] == n; });
            release_event(first);
        }";
    let program = build(&context, source, "");
    // Four threads, each with its own kernel, buffer and queues.
    std::thread::scope(|scope| {
        for thread in 1..5 {
            let (context, program) = (&context, &program);
            scope.spawn(move || {
                let kernel = program.kernel("twice");
                let queues = [context.queue(0), context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)];
                for round in 0..10 {
                    let buffers: Vec<_> = queues.iter().map(|queue| (queue, context.buffer(8))).collect();
                    for (queue, mem) in &buffers {
                        queue.write(mem, &[0i32; 2]);
                        kernel.set_mem(0, mem);
                        assert_eq!(kernel.set(1, &(thread * 10 + round)), CL_SUCCESS);
                        assert_eq!(queue.launch(&kernel, &[1], None), CL_SUCCESS);
                    }
                    for (queue, mem) in &buffers {
                        queue.finish();
                        assert_eq!(queue.read::<i32>(mem, 2), [thread * 10 + round, 1]);
                    }
                }
            });
        }
    });
}

#[test]
fn events_order_children() {
    let Some(context) = context() else { return };
    let _queue = make(&context, WHOLE | DEFAULT | CL_QUEUE_PROFILING_ENABLE, None).expect("a queue");
    let source = "
        kernel void order(global int *out)
        {
            queue_t q = get_default_queue();
            clk_event_t user = create_user_event(), events[2], marker;
            ndrange_t one = ndrange_1D(1);
            int failed = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &user, &events[0], ^{ out[0] = atomic_inc(out + 7) + 1; });
            failed |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &events[0], &events[1], ^(local void *m) {
                *(local int *)m = atomic_inc(out + 7) + 1;
                out[1] = *(local int *)m;
            }, 16);
            failed |= enqueue_marker(q, 2, events, &marker);
            failed |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &marker, NULL, ^{ out[2] = atomic_inc(out + 7) + 1; });
            out[3] = failed;
            out[4] = is_valid_event(marker) + 2 * is_valid_event(CLK_NULL_EVENT);
            capture_event_profiling_info(events[1], CLK_PROFILING_COMMAND_EXEC_TIME, out + 8);
            failed |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &events[1], NULL, ^{ out[5] = out[8] > 0 && out[10] >= out[8]; });
            release_event(events[0]);
            release_event(events[1]);
            release_event(marker);
            set_user_event_status(user, CL_COMPLETE);
            release_event(user);
        }";
    let kernel = build(&context, source, "").kernel("order");
    for _ in 0..3 {
        let (out, status) = run(&context, &kernel, 1, 12);
        assert_eq!((&out[..6], status), (&[1, 2, 3, 0, 1, 1][..], CL_SUCCESS));
    }
}

#[test]
fn failures_of_children_are_reported() {
    let Some(context) = context() else { return };
    let small = make(&context, WHOLE | DEFAULT, Some(256)).expect("a queue");
    let source = "
        kernel void full(global int *out)
        {
            for (int i = 0; i < 8; i++)
                out[i] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ atomic_inc(out + 8); });
        }
        kernel void wrong(global int *out)
        {
            clk_event_t none = CLK_NULL_EVENT;
            queue_t q = get_default_queue();
            void (^b)(void) = ^{ atomic_inc(out + 8); };
            out[0] = enqueue_kernel(CLK_NULL_QUEUE, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), b);
            out[1] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(0), b);
            out[2] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &none, NULL, b);
            out[3] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, NULL, NULL, b);
            out[4] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^(local void *m) { }, 0);
            out[5] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1, 1 << 20), b);
        }
        kernel void fails(global int *out)
        {
            clk_event_t user = create_user_event();
            out[0] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &user, NULL, ^{ out[1] = 1; });
            set_user_event_status(user, -7);
            release_event(user);
        }
        kernel void waits(global int *out)
        {
            clk_event_t user = create_user_event();
            out[0] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &user, NULL, ^{ out[1] = 1; });
        }";
    let (plain, detailed) = (build(&context, source, ""), build(&context, source, "-g"));
    let (out, _) = run(&context, &plain.kernel("full"), 1, 9);
    let taken = out[..8].iter().take_while(|&&status| status == 0).count();
    assert!((1..8).contains(&taken) && out[taken..8].iter().all(|&status| status == -101), "{out:?}");
    assert_eq!(out[8], taken as i32);
    let (out, _) = run(&context, &detailed.kernel("full"), 1, 9);
    assert_eq!((out[taken], out[8]), (-161, taken as i32));
    assert_eq!(run(&context, &plain.kernel("wrong"), 1, 9).0, [-101, -101, -101, -101, -101, -101, 0, 0, 0]);
    assert_eq!(run(&context, &detailed.kernel("wrong"), 1, 9).0, [-102, -160, -57, -57, -51, -160, 0, 0, 0]);
    // A child that cannot run fails the launch, and so does a child whose events never complete.
    assert_ne!(run(&context, &plain.kernel("fails"), 1, 2).1, CL_SUCCESS);
    assert_ne!(run(&context, &plain.kernel("waits"), 1, 2).1, CL_SUCCESS);
    drop(small);
    assert_eq!(run(&context, &plain.kernel("full"), 1, 9).0[0], -101);
}

#[test]
fn queues_are_arguments_and_children_count_for_profiles() {
    let Some(context) = context() else { return };
    let (first, second) = (make(&context, WHOLE, None).expect("a queue"), make(&context, WHOLE, None).expect("a queue"));
    let source = "
        kernel void both(global int *out, queue_t a, queue_t b)
        {
            queue_t all[] = {a, b};
            int n = 3;
            for (int i = 0; i < 2; i++)
                enqueue_kernel(all[i], CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP, ndrange_1D(64, 16), ^{ atomic_add(out + i, n); });
        }";
    let kernel = build(&context, source, "").kernel("both");
    let host: cl_command_queue = context.queue(0).0;
    assert_eq!(kernel.set(1, &host), INVALID_DEVICE_QUEUE);
    assert_eq!(kernel.set(1, &null_mut::<c_void>()), INVALID_DEVICE_QUEUE);
    assert_eq!((kernel.set(1, &first.0), kernel.set(2, &second.0)), (CL_SUCCESS, CL_SUCCESS));
    assert_eq!(run(&context, &kernel, 1, 2), (vec![192, 192], CL_SUCCESS));
    let (queue, mem) = (context.queue(CL_QUEUE_PROFILING_ENABLE), context.buffer(8));
    queue.write(&mem, &[0_u32; 2]);
    kernel.set_mem(0, &mem);
    let (mut event, one) = (null_mut(), 1usize);
    let status = target().cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &one, null(), 0, null(), &mut event);
    assert_eq!(status, CL_SUCCESS);
    let event = Event(event);
    queue.finish();
    let time = |what| info::<u64>(|size, value, ret| target().cl.clGetEventProfilingInfo(event.0, what, size, value, ret)).expect("a time");
    assert!(time(PROFILING_COMPLETE) > time(CL_PROFILING_COMMAND_END));
}

#[test]
fn blocks_capture_images_and_samplers() {
    let Some(context) = context() else { return };
    let _queue = make(&context, WHOLE | DEFAULT, None).expect("a queue");
    check_captured_images(&context, &build(&context, include_str!("../../tests/spirv/enqueue_image.cl"), "").kernel("start"));
    if let Some(program) = module(&context, CAPTURED_IMAGES) {
        assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
        check_captured_images(&context, &program.kernel("start"));
    }
}

/// Runs the kernel of `enqueue_image.cl` with two samplers, and checks its results.
fn check_captured_images(context: &Context, kernel: &Kernel) {
    let (queue, cl) = (context.queue(0), &target().cl);
    let row = |width| desc(CL_MEM_OBJECT_IMAGE1D, [width, 1, 1]);
    let area = |region| Area { origin: [0; 3], region };
    // Image `a` has elements of one float, and image `b` elements of four bytes, in which 51 represents 0.2.
    let a = image(context, CL_MEM_READ_WRITE, format(CL_R, CL_FLOAT), &row(2), null_mut());
    write(&queue, &a, area([2, 1, 1]), &[2f32, 4.0].map(f32::to_ne_bytes).concat());
    let b = image(context, CL_MEM_READ_WRITE, format(CL_RGBA, CL_UNORM_INT8), &row(3), null_mut());
    write(&queue, &b, area([3, 1, 1]), &[51, 0, 0, 255, 255, 255, 0, 255, 0, 0, 0, 255]);
    let c = image(context, CL_MEM_READ_WRITE, format(CL_RGBA, CL_FLOAT), &desc(CL_MEM_OBJECT_IMAGE2D, [4, 3, 1]), null_mut());
    for (index, image) in [(1, &a), (3, &c), (4, &b)] {
        kernel.set_mem(index, image);
    }
    // Both children add the same numbers. The coordinate i + 1.0f is between two elements. The linear filter returns
    // their mean, and the nearest filter returns the right element.
    for (filter, sums, last) in [(CL_FILTER_NEAREST, [3221, 3420, 2026, 2102], 4.0), (CL_FILTER_LINEAR, [3220, 3420, 2025, 2104], 3.0)] {
        let (nothing, mut status) = ([0f32; 48], 1);
        write(&queue, &c, area([4, 3, 1]), &nothing.map(f32::to_ne_bytes).concat());
        let sampler = cl.clCreateSampler(context.0, CL_FALSE, CL_ADDRESS_CLAMP, filter, &mut status);
        assert_eq!((status, kernel.set(2, &sampler)), (CL_SUCCESS, CL_SUCCESS));
        assert_eq!(run(context, kernel, 1, 4), (sums.map(|sum| 2 * sum).to_vec(), CL_SUCCESS), "filter {filter:#x}");
        let bytes = read(&queue, &c, area([4, 3, 1]), 16);
        let values: Vec<f32> = bytes.chunks_exact(4).map(|word| f32::from_ne_bytes([word[0], word[1], word[2], word[3]])).collect();
        let mut expected = nothing;
        expected[4..8].copy_from_slice(&[1.0, 1.0, 0.0, 1.0]);
        expected[44..48].copy_from_slice(&[last, 0.0, 0.0, 1.0]);
        assert_eq!(values, expected, "filter {filter:#x}");
        assert_eq!(cl.clReleaseSampler(sampler), CL_SUCCESS);
    }
}

/// Modules of the same source, which clang and its translator compiled without and with optimisation.
const MODULES: [&[u8]; 2] = [include_bytes!("../../tests/spirv/enqueue.spv"), include_bytes!("../../tests/spirv/enqueue_optimised.spv")];
/// The module of `enqueue_image.cl`, whose blocks capture images and samplers.
const CAPTURED_IMAGES: &[u8] = include_bytes!("../../tests/spirv/enqueue_image.spv");
/// A hand-written module for the forms that the translator does not write.
const DIRECT: &[u8] = include_bytes!("../../tests/spirv/enqueue_direct.spv");
const DEVICE_SPIRV_CAPABILITIES: u32 = 0x12BB;

/// Creates a program from a module. Returns `None` if the device does not accept SPIR-V.
fn module(context: &Context, bytes: &[u8]) -> Option<Program> {
    let extensions = info_string(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_EXTENSIONS, size, value, ret));
    if !require("cl_khr_il_program", extensions.unwrap_or_default().contains("cl_khr_il_program")) {
        return None;
    }
    let mut status = 1;
    let program = Program(target().cl.clCreateProgramWithIL(context.0, bytes.as_ptr().cast(), bytes.len(), &mut status));
    assert_eq!(status, CL_SUCCESS);
    Some(program)
}

/// Builds the programs of all [`MODULES`].
fn modules(context: &Context) -> Vec<Program> {
    let programs: Vec<Program> = MODULES.iter().filter_map(|bytes| module(context, bytes)).collect();
    programs.iter().for_each(|program| assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log()));
    programs
}

#[test]
fn modules_may_enqueue_where_the_device_has_queues() {
    let has_queues = context().is_some();
    let found = info_bytes(|size, value, ret| target().cl.clGetDeviceInfo(target().device, DEVICE_SPIRV_CAPABILITIES, size, value, ret));
    if target().is_wgcl() {
        // 19 is the SPIR-V capability `DeviceEnqueue`.
        let has = found.expect("the capabilities").chunks_exact(4).any(|word| word == 19u32.to_ne_bytes());
        assert_eq!(has, has_queues);
    }
}

#[test]
fn blocks_of_modules_run_with_captured_values() {
    let Some(context) = context() else { return };
    let _queue = make(&context, WHOLE | DEFAULT, None).expect("a queue");
    for program in modules(&context) {
        let (out, status) = run(&context, &program.kernel("nothing_captured"), 1, 1);
        assert_eq!((out, status), (vec![0], CL_SUCCESS));
        assert_eq!(run(&context, &program.kernel("counted"), 1, 1), (vec![6], CL_SUCCESS));
        let kernel = program.kernel("captured");
        // The bytes contain a `char`, a vector, a pointer that is never dereferenced, and three `long`s.
        let mut given = [0u8; 64];
        given[28..32].copy_from_slice(&2000f32.to_ne_bytes());
        given[56..64].copy_from_slice(&300u64.to_ne_bytes());
        assert_eq!((kernel.set(1, &10), kernel.set(2, &given)), (CL_SUCCESS, CL_SUCCESS));
        let expected = vec![10, 11, 20, 21, 30, 31, 40, 41, 2319, 2320, 2321, 2322];
        assert_eq!(run(&context, &kernel, 1, 12), (expected, CL_SUCCESS));
        let kernel = program.kernel("local_memory");
        assert_eq!(kernel.set(1, &16), CL_SUCCESS);
        assert_eq!(run(&context, &kernel, 1, 10), (vec![904, 603, 302, 1, 904, 603, 302, 1, 0, -101], CL_SUCCESS));
    }
}

#[test]
fn events_and_queues_of_modules_are_those_of_the_device() {
    let Some(context) = context() else { return };
    let first = make(&context, WHOLE | DEFAULT | CL_QUEUE_PROFILING_ENABLE, None).expect("a queue");
    let second = make(&context, WHOLE, None).expect("a queue");
    for program in modules(&context) {
        let (out, status) = run(&context, &program.kernel("ordered"), 1, 12);
        assert_eq!((&out[..6], status), (&[1, 2, 3, 0, 1, 1][..], CL_SUCCESS));
        assert_eq!(run(&context, &program.kernel("nested"), 3, 4), (vec![0, 36, 18, 12], CL_SUCCESS));
        let kernel = program.kernel("given_queues");
        assert_eq!((kernel.set(1, &first.0), kernel.set(2, &second.0)), (CL_SUCCESS, CL_SUCCESS));
        // The first sum is 6 * (1 + 2 + 3 + 4), and the second 1 + 2 + 3.
        assert_eq!(run(&context, &kernel, 1, 2), (vec![60, 6], CL_SUCCESS));
        let (out, _) = run(&context, &program.kernel("asked"), 1, 4);
        assert!(out.iter().all(|&number| number > 0) && out[2] * out[3] >= 64 && out[2] <= out[1], "{out:?}");
    }
}

#[test]
fn hand_written_modules_enqueue() {
    let Some(context) = context() else { return };
    let Some(program) = module(&context, DIRECT) else { return };
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    // Without an on-device queue, the kernel cannot enqueue a child.
    assert_eq!(run(&context, &program.kernel("start"), 1, 4), (vec![-101, 0, 0, 0], CL_SUCCESS));
    let _queue = make(&context, WHOLE | DEFAULT, None).expect("a queue");
    assert_eq!(run(&context, &program.kernel("start"), 1, 4), (vec![0, 200, 205, 5], CL_SUCCESS));
    let (out, _) = run(&context, &program.kernel("asked"), 1, 6);
    let [size, count, most, whole, none, items] = <[_; 6]>::try_from(out.as_slice()).expect("six answers");
    assert!(size * count >= 64 && most * size >= items && none == 0, "{out:?}");
    assert!(whole == 0 || whole == most * size, "{out:?}");
}

#[test]
fn modules_and_sources_that_enqueue_are_linked() {
    let Some(context) = context() else { return };
    let Some(direct) = module(&context, DIRECT) else { return };
    let _queue = make(&context, WHOLE | DEFAULT, None).expect("a queue");
    let optimised = module(&context, MODULES[1]).expect("a module");
    let source = context.program(
        "kernel void more(global int *out) { enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4), ^{ out[get_global_id(0)] = 7; }); }",
    );
    let inputs = [direct.0, source.0, optimised.0];
    for program in [&direct, &source, &optimised] {
        let status =
            target().cl.clCompileProgram(program.0, 1, &target().device, c"-cl-std=CL3.0".as_ptr(), 0, null(), null(), None, null_mut());
        assert_eq!(status, CL_SUCCESS, "{}", program.log());
    }
    let mut status = 1;
    let linked = target().cl.clLinkProgram(context.0, 1, &target().device, null(), 3, inputs.as_ptr(), None, null_mut(), &mut status);
    let linked = Program(linked);
    assert_eq!(status, CL_SUCCESS, "{}", linked.log());
    assert_eq!(run(&context, &linked.kernel("start"), 1, 4), (vec![0, 200, 205, 5], CL_SUCCESS));
    assert_eq!(run(&context, &linked.kernel("more"), 1, 4), (vec![7; 4], CL_SUCCESS));
    assert_eq!(run(&context, &linked.kernel("nested"), 3, 4), (vec![0, 36, 18, 12], CL_SUCCESS));
    let (out, status) = run(&context, &linked.kernel("ordered"), 1, 12);
    assert_eq!((&out[..4], status), (&[1, 2, 3, 0][..], CL_SUCCESS));
}

/// Tests launches of kernels that enqueue kernels, between other commands of a command buffer. The command buffer runs
/// several times, in in-order and out-of-order queues.
#[test]
fn command_buffers_hold_kernels_that_enqueue_others() {
    let (Some(context), Some(functions)) = (context(), commands::functions()) else { return };
    let _default = make(&context, WHOLE | DEFAULT, None).expect("a queue");
    let source = "kernel void add(global int *a, int by) { a[get_global_id(0)] += by; }
kernel void children(global int *a) {
    int i = get_global_id(0);
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(4), ^{
        int at = 4 * i + get_global_id(0);
        a[at] = 3 * a[at];
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ a[at] += 1; });
    });
}";
    let program = build(&context, source, "");
    let (add, children) = (program.kernel("add"), program.kernel("children"));
    for bits in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = context.queue(bits | CL_QUEUE_PROFILING_ENABLE);
        let mem = context.buffer(64);
        add.set_mem(0, &mem);
        assert_eq!(add.set(1, &2i32), CL_SUCCESS);
        children.set_mem(0, &mem);
        let properties = [0x1293, 1, 0];
        let commands = Commands::with(functions, &queue, &properties);
        let (status, filled) = commands.fill(&mem, 5, (0, 64));
        assert_eq!(status, CL_SUCCESS);
        let added = commands.launch(&add, 16, None, &[filled]);
        let first = commands.launch(&children, 4, None, &[added]);
        let second = commands.launch(&children, 4, None, &[first]);
        commands.launch(&add, 8, None, &[second]);
        commands.finalize();
        let mut events = Vec::new();
        for _ in 0..3 {
            let before: Vec<_> = events.iter().map(|event: &Event| event.0).collect();
            let waits = if before.is_empty() { null() } else { before.as_ptr() };
            let mut event = null_mut();
            let status = functions.clEnqueueCommandBufferKHR(0, null(), commands.0, before.len() as cl_uint, waits, &mut event);
            assert_eq!(status, CL_SUCCESS);
            events.push(Event(event));
        }
        let last = events.last().expect("three runs");
        assert_eq!(target().cl.clWaitForEvents(1, &last.0), CL_SUCCESS);
        // The words of the second half are ((5 + 2) * 3 + 1) * 3 + 1, and those of the first half are larger by 2.
        let expected: Vec<i32> = (0..16).map(|i| if i < 8 { 69 } else { 67 }).collect();
        assert_eq!(queue.read::<i32>(&mem, 16), expected);
        let time = |what| info::<u64>(|size, value, ret| target().cl.clGetEventProfilingInfo(last.0, what, size, value, ret));
        let (end, complete) = (time(CL_PROFILING_COMMAND_END).expect("an end"), time(PROFILING_COMPLETE).expect("the end of all"));
        assert!(end > 0 && complete >= end, "{end} {complete}");
    }
}
