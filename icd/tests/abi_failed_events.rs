//! Queries of the event of a failed command must return the values and error codes of the specification.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use common::ffi::{
    CL_COMMAND_FILL_BUFFER, CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_QUEUE, CL_EVENT_COMMAND_TYPE,
    CL_EVENT_CONTEXT, CL_EVENT_REFERENCE_COUNT, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_OPERATION, CL_INVALID_VALUE,
    CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_INFO_NOT_AVAILABLE, CL_QUEUE_PROFILING_ENABLE, CL_RUNNING,
    CL_SUBMITTED, CL_SUCCESS, CL_TRUE, cl_event, cl_int,
};
use common::objects::{Context, Event, Mem, Queue};
use common::{info, target};

/// The status that the application gives to the user event.
const REASON: cl_int = -77;

/// The objects of a fill command that waited for a user event with an error.
struct Failed {
    event: Event,
    user: Event,
    mem: Mem,
    queue: Queue,
    context: Context,
}

fn failed() -> Failed {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(CL_QUEUE_PROFILING_ENABLE);
    let mem = context.buffer(64);
    let mut status = 1;
    let user = Event(cl.clCreateUserEvent(context.0, &mut status));
    assert_eq!(status, CL_SUCCESS);
    let (word, mut event) = (1u32, null_mut());
    let pattern = (&raw const word).cast();
    assert_eq!(cl.clEnqueueFillBuffer(queue.0, mem.0, pattern, 4, 0, 64, 1, &user.0, &mut event), CL_SUCCESS);
    assert_eq!(cl.clSetUserEventStatus(user.0, REASON), CL_SUCCESS);
    let failed = Failed { event: Event(event), user, mem, queue, context };
    let begin = Instant::now();
    while status_of(&failed.event).is_ok_and(|status| status >= 0) && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_micros(200));
    }
    failed
}

fn query<T: Copy + Default>(event: &Event, name: u32) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetEventInfo(event.0, name, size, value, ret))
}

fn status_of(event: &Event) -> Result<cl_int, cl_int> {
    query(event, CL_EVENT_COMMAND_EXECUTION_STATUS)
}

fn profile(event: &Event, name: u32) -> Result<u64, cl_int> {
    info(|size, value, ret| target().cl.clGetEventProfilingInfo(event.0, name, size, value, ret))
}

#[test]
fn the_status_query_succeeds_and_returns_the_error() {
    let failed = failed();
    assert_eq!(status_of(&failed.user), Ok(REASON));
    // "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST": the command did not run.
    assert_eq!(status_of(&failed.event), Ok(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
}

#[test]
fn other_queries_have_their_usual_values() {
    let failed = failed();
    assert_eq!(query(&failed.event, CL_EVENT_COMMAND_TYPE), Ok(CL_COMMAND_FILL_BUFFER));
    assert_eq!(query(&failed.event, CL_EVENT_COMMAND_QUEUE), Ok(failed.queue.0 as usize));
    assert_eq!(query(&failed.event, CL_EVENT_CONTEXT), Ok(failed.context.0 as usize));
    assert_eq!(query(&failed.event, CL_EVENT_REFERENCE_COUNT), Ok(1u32));
    assert_eq!(query::<u32>(&failed.event, 0xdead), Err(CL_INVALID_VALUE));
}

#[test]
fn profiling_queries_fail() {
    let failed = failed();
    for name in [CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_END] {
        assert_eq!(profile(&failed.event, name), Err(CL_PROFILING_INFO_NOT_AVAILABLE), "{name:#x}");
    }
}

#[test]
fn a_wait_for_the_event_reports_the_wait_list() {
    let failed = failed();
    assert_eq!(target().cl.clWaitForEvents(1, &failed.event.0), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(target().cl.clWaitForEvents(1, &failed.user.0), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

#[test]
fn a_blocking_call_that_waits_for_the_event_reports_the_wait_list() {
    let failed = failed();
    let mut words = [0u32; 16];
    let to: *mut c_void = words.as_mut_ptr().cast();
    let status = target().cl.clEnqueueReadBuffer(failed.queue.0, failed.mem.0, CL_TRUE, 0, 64, to, 1, &failed.event.0, null_mut());
    assert_eq!(status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

#[test]
fn a_user_event_keeps_its_error() {
    let failed = failed();
    assert_eq!(target().cl.clSetUserEventStatus(failed.user.0, CL_COMPLETE), CL_INVALID_OPERATION);
    assert_eq!(status_of(&failed.user), Ok(REASON));
}

unsafe extern "C" fn note(_: cl_event, status: cl_int, data: *mut c_void) {
    // SAFETY: `data` is a leaked atomic.
    unsafe { &*data.cast::<AtomicI32>() }.store(status, Ordering::SeqCst);
}

#[test]
fn callbacks_of_every_status_get_the_error() {
    let failed = failed();
    for trigger in [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE] {
        let reached: &'static AtomicI32 = Box::leak(Box::new(AtomicI32::new(99)));
        let data = std::ptr::from_ref(reached).cast_mut().cast();
        assert_eq!(target().cl.clSetEventCallback(failed.event.0, trigger, Some(note), data), CL_SUCCESS);
        let begin = Instant::now();
        while reached.load(Ordering::SeqCst) == 99 && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(reached.load(Ordering::SeqCst), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    }
}

#[test]
fn the_queue_works_again_after_the_report() {
    let failed = failed();
    let cl = &target().cl;
    assert_ne!(cl.clFinish(failed.queue.0), CL_SUCCESS);
    let (word, pattern_size) = (7u32, 4);
    let pattern = (&raw const word).cast();
    assert_eq!(cl.clEnqueueFillBuffer(failed.queue.0, failed.mem.0, pattern, pattern_size, 0, 64, 0, null(), null_mut()), CL_SUCCESS);
    assert_eq!(failed.queue.read::<u32>(&failed.mem, 16), [7; 16]);
}
