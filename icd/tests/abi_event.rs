//! Events: states, waiting, user events, callbacks, wait lists, markers, profiling.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::ffi::{
    CL_COMMAND_BARRIER, CL_COMMAND_COPY_BUFFER, CL_COMMAND_FILL_BUFFER, CL_COMMAND_MAP_BUFFER, CL_COMMAND_MARKER,
    CL_COMMAND_NDRANGE_KERNEL, CL_COMMAND_READ_BUFFER, CL_COMMAND_UNMAP_MEM_OBJECT, CL_COMMAND_USER, CL_COMMAND_WRITE_BUFFER, CL_COMPLETE,
    CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_QUEUE, CL_EVENT_COMMAND_TYPE, CL_EVENT_CONTEXT, CL_EVENT_REFERENCE_COUNT,
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_FALSE, CL_INVALID_CONTEXT, CL_INVALID_EVENT, CL_INVALID_EVENT_WAIT_LIST,
    CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_READ, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START,
    CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_INFO_NOT_AVAILABLE, CL_QUEUE_PROFILING_ENABLE, CL_QUEUED, CL_RUNNING, CL_SUBMITTED,
    CL_SUCCESS, CL_TRUE, cl_event, cl_int, cl_uint,
};
use common::objects::{Context, Event, Mem, Queue};
use common::{info, target};

const SPIN: &str = "kernel void spin(global uint *a, uint n) { uint x = a[get_global_id(0)]; for (uint i = 0; i < n; i++) x = x * 1664525u + 1013904223u; a[get_global_id(0)] = x; }";

fn event_info<T: Copy + Default>(event: &Event, name: cl_uint) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetEventInfo(event.0, name, size, value, ret))
}

fn status_of(event: &Event) -> cl_int {
    event_info(event, CL_EVENT_COMMAND_EXECUTION_STATUS).expect("the execution status")
}

fn profile(event: &Event, name: cl_uint) -> Result<u64, cl_int> {
    info(|size, value, ret| target().cl.clGetEventProfilingInfo(event.0, name, size, value, ret))
}

fn user_event(context: &Context) -> Event {
    let mut status = 1;
    let event = target().cl.clCreateUserEvent(context.0, &mut status);
    assert_eq!(status, CL_SUCCESS);
    Event(event)
}

/// Enqueues a non-blocking write of one word that waits for the given events.
fn write_after(queue: &Queue, mem: &Mem, value: &u32, wait: &[cl_event]) -> Result<Event, cl_int> {
    let mut event = null_mut();
    let list = if wait.is_empty() { null() } else { wait.as_ptr() };
    let status = target().cl.clEnqueueWriteBuffer(
        queue.0,
        mem.0,
        CL_FALSE,
        0,
        4,
        (&raw const *value).cast(),
        wait.len() as cl_uint,
        list,
        &mut event,
    );
    if status == CL_SUCCESS { Ok(Event(event)) } else { Err(status) }
}

fn wait_until(condition: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !condition() {
        if begin.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

#[test]
fn event_queries_are_answered() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(4);
    let event = write_after(&queue, &mem, &5, &[]).expect("the write");
    assert_eq!(event_info(&event, CL_EVENT_COMMAND_QUEUE), Ok(queue.0 as usize));
    assert_eq!(event_info(&event, CL_EVENT_CONTEXT), Ok(context.0 as usize));
    assert_eq!(event_info(&event, CL_EVENT_COMMAND_TYPE), Ok(CL_COMMAND_WRITE_BUFFER));
    assert!((CL_COMPLETE..=CL_QUEUED).contains(&status_of(&event)));
    assert_eq!(cl.clWaitForEvents(1, &event.0), CL_SUCCESS);
    assert_eq!(status_of(&event), CL_COMPLETE);
    // The driver may have references, too, so the test checks only the differences.
    let before: u32 = event_info(&event, CL_EVENT_REFERENCE_COUNT).expect("the reference count");
    assert_eq!(cl.clRetainEvent(event.0), CL_SUCCESS);
    assert_eq!(event_info(&event, CL_EVENT_REFERENCE_COUNT), Ok(before + 1));
    assert_eq!(cl.clReleaseEvent(event.0), CL_SUCCESS);
    assert_eq!(event_info(&event, CL_EVENT_REFERENCE_COUNT), Ok(before));
    assert_eq!(event_info::<u32>(&event, 0xdead), Err(CL_INVALID_VALUE));
    assert_eq!(profile(&event, CL_PROFILING_COMMAND_END), Err(CL_PROFILING_INFO_NOT_AVAILABLE), "the queue does not profile");
}

#[test]
fn every_command_returns_an_event_of_its_type() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(SPIN);
    let kernel = program.kernel("spin");
    let (a, b) = (context.buffer(64), context.buffer(64));
    kernel.set_mem(0, &a);
    assert_eq!(kernel.set(1, &10u32), CL_SUCCESS);
    let mut word = 7u32;
    let pointer: *mut c_void = (&raw mut word).cast();
    let mut events = [null_mut(); 9];
    let [write, read, copy, fill, launch, map, unmap, marker, barrier] = &mut events;
    let mut status = 1;
    assert_eq!(cl.clEnqueueWriteBuffer(queue.0, a.0, CL_FALSE, 0, 4, pointer, 0, null(), write), CL_SUCCESS);
    assert_eq!(cl.clEnqueueReadBuffer(queue.0, a.0, CL_FALSE, 0, 4, pointer, 0, null(), read), CL_SUCCESS);
    assert_eq!(cl.clEnqueueCopyBuffer(queue.0, a.0, b.0, 0, 0, 4, 0, null(), copy), CL_SUCCESS);
    assert_eq!(cl.clEnqueueFillBuffer(queue.0, b.0, pointer, 4, 0, 64, 0, null(), fill), CL_SUCCESS);
    assert_eq!(cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &16, null(), 0, null(), launch), CL_SUCCESS);
    let mapped = cl.clEnqueueMapBuffer(queue.0, b.0, CL_TRUE, CL_MAP_READ, 0, 64, 0, null(), map, &mut status);
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(cl.clEnqueueUnmapMemObject(queue.0, b.0, mapped, 0, null(), unmap), CL_SUCCESS);
    assert_eq!(cl.clEnqueueMarkerWithWaitList(queue.0, 0, null(), marker), CL_SUCCESS);
    assert_eq!(cl.clEnqueueBarrierWithWaitList(queue.0, 0, null(), barrier), CL_SUCCESS);
    let events = events.map(Event);
    let types: Vec<u32> = events.iter().map(|event| event_info(event, CL_EVENT_COMMAND_TYPE).unwrap_or(0)).collect();
    assert_eq!(
        types,
        [
            CL_COMMAND_WRITE_BUFFER,
            CL_COMMAND_READ_BUFFER,
            CL_COMMAND_COPY_BUFFER,
            CL_COMMAND_FILL_BUFFER,
            CL_COMMAND_NDRANGE_KERNEL,
            CL_COMMAND_MAP_BUFFER,
            CL_COMMAND_UNMAP_MEM_OBJECT,
            CL_COMMAND_MARKER,
            CL_COMMAND_BARRIER
        ]
    );
    queue.finish();
    assert!(events.iter().all(|event| status_of(event) == CL_COMPLETE));
}

#[test]
fn profiling_times_are_ordered_and_use_one_clock() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(CL_QUEUE_PROFILING_ENABLE);
    let program = context.build(SPIN);
    let kernel = program.kernel("spin");
    let mem = context.buffer(4096);
    kernel.set_mem(0, &mem);
    assert_eq!(kernel.set(1, &5000u32), CL_SUCCESS);
    let mut times = Vec::new();
    for _ in 0..4 {
        let mut event = null_mut();
        assert_eq!(cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &1024, null(), 0, null(), &mut event), CL_SUCCESS);
        let event = Event(event);
        assert_eq!(cl.clWaitForEvents(1, &event.0), CL_SUCCESS);
        let [queued, submit, start, end] =
            [CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END]
                .map(|name| profile(&event, name).expect("a time"));
        assert!(queued <= submit && submit <= start && start <= end, "{queued} {submit} {start} {end}");
        assert!(end > start, "a kernel takes time");
        assert!(end - queued < 30_000_000_000, "nanoseconds of one clock");
        times.push((queued, end));
        assert_eq!(profile(&event, 0xdead), Err(CL_INVALID_VALUE));
    }
    assert!(times.windows(2).all(|pair| pair[0].1 <= pair[1].0), "a later command is queued after the earlier ended: {times:?}");

    let event = write_after(&queue, &mem, &5, &[]).expect("the write");
    assert_eq!(cl.clWaitForEvents(1, &event.0), CL_SUCCESS);
    let (start, end) = (profile(&event, CL_PROFILING_COMMAND_START), profile(&event, CL_PROFILING_COMMAND_END));
    assert!(start.is_ok() && start <= end);
}

#[test]
fn commands_wait_for_a_user_event() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(4);
    queue.write(&mem, &[1u32]);
    let gate = user_event(&context);
    assert_eq!(event_info(&gate, CL_EVENT_COMMAND_TYPE), Ok(CL_COMMAND_USER));
    assert_eq!(event_info(&gate, CL_EVENT_COMMAND_QUEUE), Ok(0usize));
    assert_eq!(status_of(&gate), CL_SUBMITTED);
    let value = 2u32;
    let held = write_after(&queue, &mem, &value, &[gate.0]).expect("the write");
    assert_eq!(cl.clFlush(queue.0), CL_SUCCESS);
    std::thread::sleep(Duration::from_millis(50));
    assert!([CL_QUEUED, CL_SUBMITTED].contains(&status_of(&held)), "{}", status_of(&held));
    assert_eq!(cl.clSetUserEventStatus(gate.0, CL_COMPLETE), CL_SUCCESS);
    assert_eq!(cl.clWaitForEvents(1, &held.0), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&mem, 1), [2]);
    assert_eq!(cl.clSetUserEventStatus(gate.0, CL_COMPLETE), CL_INVALID_OPERATION, "a status can be set only once");
}

#[test]
fn a_failed_user_event_fails_its_dependents() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(4);
    queue.write(&mem, &[1u32]);
    let gate = user_event(&context);
    let value = 2u32;
    let held = write_after(&queue, &mem, &value, &[gate.0]).expect("the write");
    assert_eq!(cl.clSetUserEventStatus(gate.0, 5), CL_INVALID_VALUE, "neither complete nor an error");
    assert_eq!(cl.clSetUserEventStatus(gate.0, -17), CL_SUCCESS);
    assert_eq!(status_of(&gate), -17);
    assert_eq!(cl.clWaitForEvents(1, &held.0), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert!(status_of(&held) < 0, "{}", status_of(&held));
    drop(queue);
    let queue = context.queue(0);
    assert_eq!(queue.read::<u32>(&mem, 1), [1], "the command did not run");
}

#[test]
fn events_order_two_queues() {
    let cl = &target().cl;
    let context = Context::new();
    let (first, second) = (context.queue(0), context.queue(0));
    let mem = context.buffer(4);
    let gate = user_event(&context);
    let (one, two) = (1u32, 2u32);
    let early = write_after(&first, &mem, &one, &[gate.0]).expect("the first write");
    let late = write_after(&second, &mem, &two, &[early.0]).expect("the second write");
    assert_eq!((cl.clFlush(second.0), cl.clFlush(first.0)), (CL_SUCCESS, CL_SUCCESS));
    assert_eq!(cl.clSetUserEventStatus(gate.0, CL_COMPLETE), CL_SUCCESS);
    assert_eq!(cl.clWaitForEvents(2, [late.0, early.0].as_ptr()), CL_SUCCESS);
    assert_eq!(first.read::<u32>(&mem, 1), [2]);
}

static CALLED: AtomicUsize = AtomicUsize::new(0);
static CALLED_WITH: AtomicI32 = AtomicI32::new(99);

unsafe extern "C" fn completed(_event: cl_event, status: cl_int, data: *mut c_void) {
    CALLED_WITH.store(status, Ordering::SeqCst);
    CALLED.fetch_add(data as usize, Ordering::SeqCst);
}

#[test]
fn callbacks_are_called_once_for_each_registration() {
    let cl = &target().cl;
    let context = Context::new();
    let gate = user_event(&context);
    for data in [1usize, 10, 100] {
        assert_eq!(cl.clSetEventCallback(gate.0, CL_COMPLETE, Some(completed), data as *mut c_void), CL_SUCCESS);
    }
    assert_eq!(cl.clSetEventCallback(gate.0, CL_COMPLETE, None, null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clSetEventCallback(gate.0, CL_QUEUED, Some(completed), null_mut()), CL_INVALID_VALUE);
    assert_eq!(CALLED.load(Ordering::SeqCst), 0);
    assert_eq!(cl.clSetUserEventStatus(gate.0, CL_COMPLETE), CL_SUCCESS);
    assert!(wait_until(|| CALLED.load(Ordering::SeqCst) == 111), "{}", CALLED.load(Ordering::SeqCst));
    assert_eq!(CALLED_WITH.load(Ordering::SeqCst), CL_COMPLETE);
    // A callback that is registered after the event has completed is also called.
    assert_eq!(cl.clSetEventCallback(gate.0, CL_COMPLETE, Some(completed), 1000 as *mut c_void), CL_SUCCESS);
    assert!(wait_until(|| CALLED.load(Ordering::SeqCst) == 1111));
}

static STATES: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" fn collect_state(_event: cl_event, status: cl_int, data: *mut c_void) {
    // Sets the bit of the registered status. The passed status is the registered status or a later one, which has a
    // smaller value.
    assert!(status <= data as cl_int);
    STATES.fetch_or(1 << data as usize, Ordering::SeqCst);
}

#[test]
fn callbacks_are_called_for_every_state() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(4);
    let gate = user_event(&context);
    let value = 3u32;
    let event = write_after(&queue, &mem, &value, &[gate.0]).expect("the write");
    for state in [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE] {
        assert_eq!(cl.clSetEventCallback(event.0, state, Some(collect_state), state as usize as *mut c_void), CL_SUCCESS);
    }
    assert_eq!(cl.clSetUserEventStatus(gate.0, CL_COMPLETE), CL_SUCCESS);
    queue.finish();
    assert!(wait_until(|| STATES.load(Ordering::SeqCst) == 0b111), "{:#b}", STATES.load(Ordering::SeqCst));
}

#[test]
fn invalid_wait_lists_are_rejected() {
    let cl = &target().cl;
    let context = Context::new();
    let other = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(4);
    let stranger = user_event(&other);
    assert_eq!(cl.clSetUserEventStatus(stranger.0, CL_COMPLETE), CL_SUCCESS);
    assert_eq!(write_after(&queue, &mem, &1, &[stranger.0]).err(), Some(CL_INVALID_CONTEXT));
    assert_eq!(write_after(&queue, &mem, &1, &[null_mut()]).err(), Some(CL_INVALID_EVENT_WAIT_LIST));
    assert_eq!(cl.clEnqueueMarkerWithWaitList(queue.0, 1, null(), null_mut()), CL_INVALID_EVENT_WAIT_LIST);
    assert_eq!(cl.clEnqueueMarkerWithWaitList(queue.0, 0, &stranger.0, null_mut()), CL_INVALID_EVENT_WAIT_LIST);
    assert_eq!(cl.clWaitForEvents(0, &stranger.0), CL_INVALID_VALUE);
    assert_eq!(cl.clWaitForEvents(1, null()), CL_INVALID_VALUE);
    let own = user_event(&context);
    assert_eq!(cl.clSetUserEventStatus(own.0, CL_COMPLETE), CL_SUCCESS);
    assert_eq!(cl.clWaitForEvents(2, [own.0, stranger.0].as_ptr()), CL_INVALID_CONTEXT);
    assert_eq!(cl.clRetainEvent(null_mut()), CL_INVALID_EVENT);
    assert_eq!(cl.clReleaseEvent(null_mut()), CL_INVALID_EVENT);
    if target().is_wgcl() {
        assert_eq!(cl.clRetainEvent(context.0), CL_INVALID_EVENT);
        assert_eq!(cl.clWaitForEvents(1, &queue.0), CL_INVALID_EVENT);
        let handle = own.0;
        drop(own);
        assert_eq!(cl.clReleaseEvent(handle), CL_INVALID_EVENT);
    }
}

#[test]
fn a_marker_completes_after_its_wait_list() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let gate = user_event(&context);
    let mut marker = null_mut();
    assert_eq!(cl.clEnqueueMarkerWithWaitList(queue.0, 1, &gate.0, &mut marker), CL_SUCCESS);
    let marker = Event(marker);
    assert_eq!(cl.clFlush(queue.0), CL_SUCCESS);
    std::thread::sleep(Duration::from_millis(20));
    assert_ne!(status_of(&marker), CL_COMPLETE);
    assert_eq!(cl.clSetUserEventStatus(gate.0, CL_COMPLETE), CL_SUCCESS);
    assert_eq!(cl.clWaitForEvents(1, &marker.0), CL_SUCCESS);
    assert_eq!(status_of(&marker), CL_COMPLETE);
}

#[test]
fn many_threads_may_use_one_queue() {
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build("kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }");
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (context, queue, program) = (&context, &queue, &program);
            scope.spawn(move || {
                let kernel = program.kernel("add");
                let mem = context.buffer(256);
                queue.write(&mem, &[thread; 64]);
                kernel.set_mem(0, &mem);
                for n in 0..20u32 {
                    assert_eq!(kernel.set(1, &n), CL_SUCCESS);
                    assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS);
                }
                assert_eq!(queue.read::<u32>(&mem, 64), [thread + 190; 64]);
            });
        }
    });
}

#[test]
fn a_transfer_does_not_run_before_its_wait_list_completes() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(SPIN);
    let kernel = program.kernel("spin");
    let (busy, idle) = (context.buffer(4 * 4096), context.buffer(4));
    kernel.set_mem(0, &busy);
    assert_eq!(kernel.set(1, &20_000u32), CL_SUCCESS);
    let (mut first, mut second) = (null_mut(), null_mut());
    let global = 4096usize;
    let status = cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &global, null(), 0, null(), &mut first);
    assert_eq!(status, CL_SUCCESS);
    let first = Event(first);
    // The read uses memory that the kernel does not access.
    let mut word = 0u32;
    let status = cl.clEnqueueReadBuffer(queue.0, idle.0, CL_FALSE, 0, 4, (&raw mut word).cast(), 1, &first.0, &mut second);
    assert_eq!(status, CL_SUCCESS);
    let second = Event(second);
    assert_eq!(cl.clFlush(queue.0), CL_SUCCESS);
    assert!(wait_until(|| {
        let transfer = status_of(&second);
        assert!(transfer > CL_RUNNING || status_of(&first) == CL_COMPLETE, "the transfer is running, the kernel has not ended");
        transfer == CL_COMPLETE
    }));
}
