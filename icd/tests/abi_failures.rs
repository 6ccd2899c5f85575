//! Tests how failed commands are reported to applications. Most of the commands are kernels that lavapipe stops.
//! lavapipe ends the loops of a work-item after 65,535 iterations in total.

mod common;

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use common::ffi::{
    CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_FALSE, CL_MAP_READ, CL_MEM_MAP_COUNT,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_SUCCESS, CL_TRUE, cl_event, cl_int,
};
use common::objects::{Context, Event, Kernel, Mem, Program, Queue};
use common::{info, target};

const CL_OUT_OF_RESOURCES: cl_int = -5;
const BYTES: usize = 64;
const SOURCE: &str = "
    kernel void f(global uint *o, uint n) {
        uint s = 1;
        for (uint i = 0; i < n; i++) { if (s % 3u == o[i & 1]) s += i; o[2 + (i & 3)] = s; s = s * 5u + 1u; }
        o[0] = s;
    }
    kernel void set(global uint *o, uint n) { o[get_global_id(0)] = n; }";

struct Setup {
    context: Context,
    program: Program,
}

impl Setup {
    /// Returns `None` if the device's driver does not stop the loop.
    fn new() -> Option<Self> {
        let context = Context::new();
        let program = context.build(SOURCE);
        let setup = Self { context, program };
        let (queue, mem) = (setup.context.queue(0), setup.context.buffer(BYTES));
        let event = setup.fail(&queue, &mem);
        (wait(&event) != CL_SUCCESS).then_some(setup)
    }

    /// Enqueues a launch that fails and would have written a buffer.
    fn fail(&self, queue: &Queue, mem: &Mem) -> Event {
        launch(queue, &self.program.kernel("f"), mem, 3_000_000, &[])
    }

    /// Checks that a kernel can write `value` to a buffer.
    fn works(&self, queue: &Queue, mem: &Mem, value: u32) {
        launch(queue, &self.program.kernel("set"), mem, value, &[]);
        queue.finish();
        assert_eq!(queue.read::<u32>(mem, 1), [value]);
    }
}

fn launch(queue: &Queue, kernel: &Kernel, mem: &Mem, n: u32, waits: &[cl_event]) -> Event {
    kernel.set_mem(0, mem);
    assert_eq!(kernel.set(1, &n), CL_SUCCESS);
    let (mut event, global) = (null_mut(), 1usize);
    let list = if waits.is_empty() { null() } else { waits.as_ptr() };
    let count = waits.len() as u32;
    let status = target().cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &global, null(), count, list, &mut event);
    assert_eq!(status, CL_SUCCESS, "clEnqueueNDRangeKernel");
    Event(event)
}

fn wait(event: &Event) -> cl_int {
    target().cl.clWaitForEvents(1, &event.0)
}

fn status_of(event: &Event) -> cl_int {
    info(|size, value, ret| target().cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, ret)).expect("the status")
}

fn read(queue: &Queue, mem: &Mem) -> cl_int {
    let mut words = [0u32; BYTES / 4];
    target().cl.clEnqueueReadBuffer(queue.0, mem.0, CL_TRUE, 0, BYTES, words.as_mut_ptr().cast(), 0, null(), null_mut())
}

fn read_later(queue: &Queue, mem: &Mem, words: &mut [u32; BYTES / 4]) -> Event {
    let mut event = null_mut();
    let status = target().cl.clEnqueueReadBuffer(queue.0, mem.0, CL_FALSE, 0, BYTES, words.as_mut_ptr().cast(), 0, null(), &mut event);
    assert_eq!(status, CL_SUCCESS);
    Event(event)
}

#[test]
fn every_blocking_call_after_a_failed_kernel_fails() {
    let Some(setup) = Setup::new() else { return };
    let cl = &target().cl;
    let queue = setup.context.queue(0);
    let (mem, other) = (setup.context.buffer(BYTES), setup.context.buffer(BYTES));
    let words = [0u32; BYTES / 4];
    for call in 0..5 {
        let _failing = setup.fail(&queue, &mem);
        let status = match call {
            0 => read(&queue, &mem),
            1 => cl.clEnqueueWriteBuffer(queue.0, mem.0, CL_TRUE, 0, BYTES, words.as_ptr().cast(), 0, null(), null_mut()),
            2 => {
                assert_eq!(cl.clEnqueueCopyBuffer(queue.0, mem.0, other.0, 0, 0, BYTES, 0, null(), null_mut()), CL_SUCCESS);
                read(&queue, &other)
            }
            3 => {
                let mut status = 1;
                let mapped = cl.clEnqueueMapBuffer(queue.0, mem.0, CL_TRUE, CL_MAP_READ, 0, BYTES, 0, null(), null_mut(), &mut status);
                assert!(mapped.is_null());
                let maps: u32 =
                    info(|size, value, ret| cl.clGetMemObjectInfo(mem.0, CL_MEM_MAP_COUNT, size, value, ret)).expect("the maps");
                assert_eq!(maps, 0, "a failed map is not counted");
                status
            }
            _ => cl.clFinish(queue.0),
        };
        let expected = if call < 4 { CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST } else { CL_OUT_OF_RESOURCES };
        assert_eq!(status, expected, "call {call}");
        setup.works(&queue, &mem, 40 + call);
    }
}

#[test]
fn every_event_after_a_failed_kernel_fails() {
    let Some(setup) = Setup::new() else { return };
    let cl = &target().cl;
    let queue = setup.context.queue(0);
    let (mem, other) = (setup.context.buffer(BYTES), setup.context.buffer(BYTES));
    let failing = setup.fail(&queue, &mem);
    let (mut words, word) = ([0u32; BYTES / 4], 7u32);
    let mut events = [null_mut(); 4];
    let [copy, fill, marker, map] = &mut events;
    assert_eq!(cl.clEnqueueCopyBuffer(queue.0, mem.0, other.0, 0, 0, BYTES, 0, null(), copy), CL_SUCCESS);
    assert_eq!(cl.clEnqueueFillBuffer(queue.0, other.0, (&raw const word).cast(), 4, 0, BYTES, 0, null(), fill), CL_SUCCESS);
    assert_eq!(cl.clEnqueueMarkerWithWaitList(queue.0, 0, null(), marker), CL_SUCCESS);
    let mut status = 1;
    let mapped = cl.clEnqueueMapBuffer(queue.0, other.0, CL_FALSE, CL_MAP_READ, 0, BYTES, 0, null(), map, &mut status);
    assert_eq!(status, CL_SUCCESS);
    let events = events.map(Event);
    let last = read_later(&queue, &mem, &mut words);
    assert_eq!(wait(&last), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(status_of(&failing), CL_OUT_OF_RESOURCES);
    for event in events.iter().chain([&last]) {
        assert_eq!(status_of(event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    }
    let mut unmapped = null_mut();
    assert_eq!(cl.clEnqueueUnmapMemObject(queue.0, other.0, mapped, 0, null(), &mut unmapped), CL_SUCCESS);
    assert_eq!(wait(&Event(unmapped)), CL_SUCCESS, "the failure was reported before this command was enqueued");
    assert_eq!(read(&queue, &other), CL_SUCCESS);
    assert_eq!(cl.clFinish(queue.0), CL_OUT_OF_RESOURCES, "for the whole queue");
    setup.works(&queue, &mem, 5);
}

#[test]
fn failures_reach_other_queues_through_events_and_memory() {
    let Some(setup) = Setup::new() else { return };
    let cl = &target().cl;
    let (queue, other) = (setup.context.queue(0), setup.context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    let (mem, unrelated) = (setup.context.buffer(BYTES), setup.context.buffer(BYTES));
    // The failure reaches another queue through an event.
    let failing = setup.fail(&queue, &mem);
    let mut marker = null_mut();
    assert_eq!(cl.clEnqueueMarkerWithWaitList(other.0, 1, &failing.0, &mut marker), CL_SUCCESS);
    assert_eq!(wait(&Event(marker)), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(cl.clFinish(queue.0), CL_OUT_OF_RESOURCES);
    // The failure reaches another queue through the buffer that the failed command should have written.
    let _failing = setup.fail(&queue, &mem);
    assert_eq!(read(&other, &unrelated), CL_SUCCESS);
    assert_eq!(read(&other, &mem), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!((read(&other, &mem), cl.clFinish(queue.0), cl.clFinish(other.0)), (CL_SUCCESS, CL_SUCCESS, CL_SUCCESS), "reported");
    // The failure reaches another command of its queue through a barrier.
    let _failing = setup.fail(&other, &mem);
    let free = launch(&other, &setup.program.kernel("set"), &unrelated, 3, &[]);
    assert_eq!(cl.clEnqueueBarrierWithWaitList(other.0, 0, null(), null_mut()), CL_SUCCESS);
    assert_eq!(read(&other, &unrelated), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(status_of(&free), CL_COMPLETE);
    setup.works(&other, &mem, 9);
}

#[test]
fn a_failed_user_event_fails_indirect_dependents() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(BYTES);
    queue.write(&mem, &[1u32; BYTES / 4]);
    let mut status = 1;
    let gate = Event(cl.clCreateUserEvent(context.0, &mut status));
    assert_eq!(status, CL_SUCCESS);
    let (word, mut words) = (2u32, [0u32; BYTES / 4]);
    let fill = |count: u32, list: *const cl_event| {
        cl.clEnqueueFillBuffer(queue.0, mem.0, (&raw const word).cast(), 4, 0, BYTES, count, list, null_mut())
    };
    assert_eq!(fill(1, &gate.0), CL_SUCCESS);
    let dependent = read_later(&queue, &mem, &mut words);
    assert_eq!(cl.clSetUserEventStatus(gate.0, -99), CL_SUCCESS);
    if !target().is_wgcl() {
        return;
    }
    assert_eq!(cl.clFinish(queue.0), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(status_of(&dependent), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(cl.clFinish(queue.0), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&mem, 1), [1]);
    assert_eq!(fill(0, null()), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&mem, 1), [2]);
}

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C" fn record_message(text: *const c_char, _: *const c_void, _: usize, _: *mut c_void) {
    // SAFETY: a string that ends with a zero.
    let text = unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned();
    MESSAGES.lock().expect("not poisoned").push(text);
}

#[test]
fn failures_are_reported_to_the_context_callback() {
    if Setup::new().is_none() {
        return;
    }
    let target = target();
    let mut status = 1;
    let context = Context(target.cl.clCreateContext(null(), 1, &target.device, Some(record_message), null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS);
    let program = context.build(SOURCE);
    let setup = Setup { context, program };
    let (queue, mem) = (setup.context.queue(0), setup.context.buffer(BYTES));
    let _failing = setup.fail(&queue, &mem);
    assert_eq!(read(&queue, &mem), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    let begin = Instant::now();
    while MESSAGES.lock().expect("not poisoned").is_empty() && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let heard = MESSAGES.lock().expect("not poisoned").clone();
    assert!(heard.len() == 1 && heard[0].contains("stopped the loops"), "{heard:?}");
}

#[test]
fn a_failed_kernel_leaks_nothing_and_its_queue_stays_usable() {
    let Some(setup) = Setup::new() else { return };
    let queue = setup.context.queue(0);
    for round in 0..20 {
        let mem = setup.context.buffer(BYTES);
        let failing = setup.fail(&queue, &mem);
        // Release the buffer while the command is pending.
        drop(mem);
        assert_eq!(wait(&failing), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "round {round}");
        assert_eq!(target().cl.clFinish(queue.0), CL_OUT_OF_RESOURCES);
        setup.works(&queue, &setup.context.buffer(BYTES), round);
    }
}
