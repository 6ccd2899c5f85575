//! Out-of-order queues: which commands wait and which do not, several queues of one device, user events in between,
//! callbacks.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::ffi::{
    CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_FALSE, CL_INVALID_COMMAND_QUEUE,
    CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_OPERATION, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE,
    CL_QUEUE_PROPERTIES, CL_QUEUED, CL_RUNNING, CL_SUBMITTED, CL_SUCCESS, cl_event, cl_int,
};
use common::objects::{Context, Event, Kernel, Mem, Queue};
use common::{info, target};

const SOURCE: &str = "
    kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }
    kernel void mul(global uint *a, uint n) { a[get_global_id(0)] *= n; }";
const ITEMS: usize = 256;

fn out_of_order(context: &Context) -> Queue {
    context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
}

fn user_event(context: &Context) -> Event {
    let mut status = 1;
    let event = target().cl.clCreateUserEvent(context.0, &mut status);
    assert_eq!(status, CL_SUCCESS);
    Event(event)
}

fn status_of(event: &Event) -> cl_int {
    info(|size, value, ret| target().cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, ret)).expect("a status")
}

fn list(wait: &[&Event]) -> Vec<cl_event> {
    wait.iter().map(|event| event.0).collect()
}

/// Returns the pointer to a wait list, or null if the list is empty.
fn pointer(list: &[cl_event]) -> *const cl_event {
    if list.is_empty() { null() } else { list.as_ptr() }
}

fn launch(queue: &Queue, kernel: &Kernel, mem: &Mem, n: u32, wait: &[&Event]) -> Event {
    kernel.set_mem(0, mem);
    assert_eq!(kernel.set(1, &n), CL_SUCCESS);
    let (list, mut event) = (list(wait), null_mut());
    let cl = &target().cl;
    let status = cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &ITEMS, null(), list.len() as u32, pointer(&list), &mut event);
    assert_eq!(status, CL_SUCCESS);
    Event(event)
}

fn marker(queue: &Queue, wait: &[&Event]) -> Event {
    let (list, mut event) = (list(wait), null_mut());
    assert_eq!(target().cl.clEnqueueMarkerWithWaitList(queue.0, list.len() as u32, pointer(&list), &mut event), CL_SUCCESS);
    Event(event)
}

fn barrier(queue: &Queue, wait: &[&Event]) -> Event {
    let (list, mut event) = (list(wait), null_mut());
    assert_eq!(target().cl.clEnqueueBarrierWithWaitList(queue.0, list.len() as u32, pointer(&list), &mut event), CL_SUCCESS);
    Event(event)
}

fn wait(events: &[&Event]) -> cl_int {
    let list = list(events);
    target().cl.clWaitForEvents(list.len() as u32, list.as_ptr())
}

fn complete(event: &Event) {
    assert_eq!(target().cl.clSetUserEventStatus(event.0, CL_COMPLETE), CL_SUCCESS);
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
fn a_queue_reports_that_it_is_out_of_order() {
    let context = Context::new();
    let queue = out_of_order(&context);
    let properties: u64 =
        info(|size, value, ret| target().cl.clGetCommandQueueInfo(queue.0, CL_QUEUE_PROPERTIES, size, value, ret)).expect("the properties");
    assert_eq!(properties, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
}

/// A later command must complete while an earlier one is blocked. An in-order queue could not do that.
#[test]
fn later_commands_overtake_a_blocked_command() {
    let context = Context::new();
    let queue = out_of_order(&context);
    let program = context.build(SOURCE);
    let kernel = program.kernel("add");
    let (one, two) = (context.buffer(ITEMS * 4), context.buffer(ITEMS * 4));
    queue.write(&one, &[1u32; ITEMS]);
    queue.write(&two, &[2u32; ITEMS]);
    let gate = user_event(&context);
    let held = launch(&queue, &kernel, &one, 10, &[&gate]);
    let free = launch(&queue, &kernel, &two, 20, &[]);
    assert_eq!(wait(&[&free]), CL_SUCCESS);
    assert!(status_of(&held) > CL_RUNNING, "{}", status_of(&held));
    assert_eq!(queue.read::<u32>(&two, ITEMS), [22; ITEMS]);
    assert_eq!(queue.read::<u32>(&one, ITEMS), [1; ITEMS]);
    complete(&gate);
    queue.finish();
    assert_eq!(status_of(&held), CL_COMPLETE);
    assert_eq!(queue.read::<u32>(&one, ITEMS), [11; ITEMS]);
}

#[test]
fn wait_lists_order_commands() {
    let context = Context::new();
    let queue = out_of_order(&context);
    let program = context.build(SOURCE);
    let (add, mul) = (program.kernel("add"), program.kernel("mul"));
    let mem = context.buffer(ITEMS * 4);
    queue.write(&mem, &[1u32; ITEMS]);
    let gate = user_event(&context);
    let mut last = launch(&queue, &add, &mem, 1, &[&gate]);
    let mut expected = 2u32;
    for step in 1..50u32 {
        let kernel = if step % 3 == 0 { &mul } else { &add };
        last = launch(&queue, kernel, &mem, step, &[&last]);
        expected = if step % 3 == 0 { expected.wrapping_mul(step) } else { expected.wrapping_add(step) };
    }
    complete(&gate);
    assert_eq!(wait(&[&last]), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&mem, ITEMS), [expected; ITEMS]);
}

#[test]
fn barriers_and_markers_order_commands() {
    let context = Context::new();
    let queue = out_of_order(&context);
    let program = context.build(SOURCE);
    let (add, mul) = (program.kernel("add"), program.kernel("mul"));
    let (mem, other) = (context.buffer(ITEMS * 4), context.buffer(ITEMS * 4));
    queue.write(&mem, &[1u32; ITEMS]);
    queue.write(&other, &[1u32; ITEMS]);
    let gate = user_event(&context);
    let before = launch(&queue, &add, &mem, 4, &[&gate]);
    // A marker waits for all earlier commands, and blocks no later command.
    let all = marker(&queue, &[]);
    let free = launch(&queue, &add, &other, 1, &[]);
    assert_eq!(wait(&[&free]), CL_SUCCESS);
    assert!(status_of(&all) > CL_RUNNING);
    // A marker with a list waits only for that list.
    assert_eq!(wait(&[&marker(&queue, &[&free])]), CL_SUCCESS);
    // A barrier waits for all earlier commands, and all later commands wait for the barrier.
    let wall = barrier(&queue, &[]);
    let after = launch(&queue, &mul, &mem, 3, &[]);
    let following = launch(&queue, &add, &other, 1, &[]);
    assert_eq!(target().cl.clFlush(queue.0), CL_SUCCESS);
    std::thread::sleep(Duration::from_millis(30));
    for event in [&before, &all, &wall, &after, &following] {
        assert!(status_of(event) > CL_RUNNING);
    }
    complete(&gate);
    assert_eq!(wait(&[&following, &after, &all]), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&mem, ITEMS), [15; ITEMS]);
    assert_eq!(queue.read::<u32>(&other, ITEMS), [3; ITEMS]);
    // A barrier with a list waits only for that list. All later commands wait for the barrier.
    let (first, second) = (user_event(&context), user_event(&context));
    let held = launch(&queue, &add, &other, 1, &[&first]);
    let wall = barrier(&queue, &[&second]);
    let after = launch(&queue, &add, &mem, 1, &[]);
    complete(&second);
    assert_eq!(wait(&[&wall, &after]), CL_SUCCESS);
    assert!(status_of(&held) > CL_RUNNING);
    complete(&first);
    queue.finish();
    assert_eq!(status_of(&held), CL_COMPLETE);
}

/// Enqueues independent commands in several queues, and checks the sums that they compute.
#[test]
fn several_queues_share_a_device() {
    let context = Context::new();
    let program = context.build(SOURCE);
    let kernel = program.kernel("add");
    let queues: Vec<Queue> = (0..6).map(|index| if index % 2 == 0 { out_of_order(&context) } else { context.queue(0) }).collect();
    let mems: Vec<Mem> = (0..6).map(|_| context.buffer(ITEMS * 4)).collect();
    let mut last: Vec<Option<Event>> = (0..6).map(|_| None).collect();
    for (queue, mem) in queues.iter().zip(&mems) {
        queue.write(mem, &[0u32; ITEMS]);
    }
    for step in 0..120usize {
        // Each command uses another queue than the previous command on the same buffer, and waits for the event of that
        // command.
        let (queue, place) = (&queues[(step * 5 + step / 6) % 6], step % 6);
        let event = match &last[place] {
            Some(event) => launch(queue, &kernel, &mems[place], step as u32, &[event]),
            None => launch(queue, &kernel, &mems[place], step as u32, &[]),
        };
        last[place] = Some(event);
    }
    for queue in &queues {
        queue.finish();
    }
    for (place, mem) in mems.iter().enumerate() {
        let sum: u32 = (0..120).filter(|step| step % 6 == place as u32).sum();
        assert_eq!(queues[0].read::<u32>(mem, ITEMS), [sum; ITEMS], "buffer {place}");
    }
}

#[test]
fn errors_reach_only_dependents() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = out_of_order(&context);
    let program = context.build(SOURCE);
    let kernel = program.kernel("add");
    let (mem, other) = (context.buffer(ITEMS * 4), context.buffer(ITEMS * 4));
    queue.write(&mem, &[1u32; ITEMS]);
    queue.write(&other, &[1u32; ITEMS]);
    let gate = user_event(&context);
    let held = launch(&queue, &kernel, &mem, 1, &[&gate]);
    let second = launch(&queue, &kernel, &mem, 1, &[&held]);
    let third = marker(&queue, &[&second]);
    let free = launch(&queue, &kernel, &other, 1, &[]);
    assert_eq!(cl.clSetUserEventStatus(gate.0, -77), CL_SUCCESS);
    assert_eq!(wait(&[&third]), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(wait(&[&free]), CL_SUCCESS);
    for event in [&held, &second, &third] {
        assert!(status_of(event) < 0, "{}", status_of(event));
    }
    // A blocking call that waits for a failed event returns the error. The queue still works.
    let mut words = [0u32; 4];
    let status = cl.clEnqueueReadBuffer(queue.0, mem.0, 1, 0, 16, words.as_mut_ptr().cast(), 1, &held.0, null_mut());
    assert_eq!(status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(queue.read::<u32>(&mem, ITEMS), [1; ITEMS]);
    assert_eq!(queue.read::<u32>(&other, ITEMS), [2; ITEMS]);
}

/// Completes the user event that its data points to.
unsafe extern "C" fn complete_other(_event: cl_event, status: cl_int, data: *mut c_void) {
    target().cl.clSetUserEventStatus(data, status);
    target().cl.clReleaseEvent(data);
}

#[test]
fn a_user_event_may_be_completed_by_a_callback_or_another_thread() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = out_of_order(&context);
    let in_order = context.queue(0);
    let program = context.build(SOURCE);
    let kernel = program.kernel("add");
    let mem = context.buffer(ITEMS * 4);
    queue.write(&mem, &[1u32; ITEMS]);
    // A chain of commands, each of which waits for a user event that a callback of the previous command completes.
    let mut last = launch(&queue, &kernel, &mem, 1, &[]);
    for step in 0..20 {
        let gate = user_event(&context);
        assert_eq!(cl.clRetainEvent(gate.0), CL_SUCCESS);
        assert_eq!(cl.clSetEventCallback(last.0, CL_COMPLETE, Some(complete_other), gate.0), CL_SUCCESS);
        last = launch(if step % 2 == 0 { &queue } else { &in_order }, &kernel, &mem, 1, &[&gate]);
    }
    assert_eq!(wait(&[&last]), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&mem, ITEMS), [22; ITEMS]);
    // This thread waits for a status that another thread sets.
    let gate = user_event(&context);
    let held = launch(&queue, &kernel, &mem, 1, &[&gate]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(30));
            complete(&gate);
        });
        queue.finish();
        assert_eq!(status_of(&held), CL_COMPLETE);
    });
}

#[test]
fn a_user_event_that_is_never_completed_does_not_hang_the_queue() {
    if !target().is_wgcl() {
        // The specification does not define this case. Other drivers wait forever.
        return;
    }
    let context = Context::new();
    let program = context.build(SOURCE);
    let kernel = program.kernel("add");
    for queue in [out_of_order(&context), context.queue(0)] {
        let mem = context.buffer(ITEMS * 4);
        let gate = user_event(&context);
        let held = launch(&queue, &kernel, &mem, 1, &[&gate]);
        let after = marker(&queue, &[&held]);
        drop(gate);
        assert_eq!(wait(&[&after]), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        assert!(status_of(&held) < 0);
        // Release a queue and a buffer while a command waits for such an event.
        let gate = user_event(&context);
        let held = launch(&queue, &kernel, &mem, 1, &[&gate]);
        drop((queue, mem));
        drop(gate);
        assert!(wait_until(|| status_of(&held) < 0));
    }
}

static SEEN: Mutex<Vec<(usize, cl_int)>> = Mutex::new(Vec::new());

unsafe extern "C" fn note(_event: cl_event, status: cl_int, data: *mut c_void) {
    SEEN.lock().expect("no callback panics").push((data as usize, status));
}

#[test]
fn callbacks_are_called_in_the_order_of_the_states() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = out_of_order(&context);
    let program = context.build(SOURCE);
    let kernel = program.kernel("add");
    let mem = context.buffer(ITEMS * 4);
    let gate = user_event(&context);
    let held = launch(&queue, &kernel, &mem, 1, &[&gate]);
    for (data, state) in [(0, CL_COMPLETE), (1, CL_RUNNING), (2, CL_SUBMITTED), (3, CL_COMPLETE)] {
        assert_eq!(cl.clSetEventCallback(held.0, state, Some(note), data as *mut c_void), CL_SUCCESS);
    }
    assert!(status_of(&held) <= CL_QUEUED);
    complete(&gate);
    assert_eq!(wait(&[&held]), CL_SUCCESS);
    assert!(wait_until(|| SEEN.lock().expect("no callback panics").len() == 4));
    let seen = SEEN.lock().expect("no callback panics").clone();
    let states: Vec<cl_int> = seen.iter().map(|(_, status)| *status).collect();
    assert_eq!(states, [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE, CL_COMPLETE]);
    assert_eq!((seen[0].0, seen[1].0), (2, 1));
}

static RELEASED: AtomicUsize = AtomicUsize::new(0);

/// Releases its event, and the objects that its data points to.
unsafe extern "C" fn release_all(event: cl_event, _status: cl_int, data: *mut c_void) {
    // SAFETY: the test leaks such a box for each call.
    let (context, queue, mem) = *unsafe { Box::from_raw(data.cast::<(Context, Queue, Mem)>()) };
    drop(mem);
    drop(queue);
    drop(context);
    assert_eq!(target().cl.clReleaseEvent(event), CL_SUCCESS);
    RELEASED.fetch_add(1, Ordering::SeqCst);
}

/// Tests a callback that releases all objects of a context while commands of the context are pending.
#[test]
fn objects_may_be_released_by_callbacks() {
    let cl = &target().cl;
    for round in 1..=8 {
        let context = Context::new();
        let queue = out_of_order(&context);
        let mem = context.buffer(4096);
        let mut first = null_mut();
        let word = 7u32;
        for _ in 0..10 {
            let status = cl.clEnqueueFillBuffer(queue.0, mem.0, (&raw const word).cast(), 4, 0, 4096, 0, null(), null_mut());
            assert_eq!(status, CL_SUCCESS);
        }
        assert_eq!(cl.clEnqueueFillBuffer(queue.0, mem.0, (&raw const word).cast(), 4, 0, 4096, 0, null(), &mut first), CL_SUCCESS);
        for _ in 0..10 {
            let status = cl.clEnqueueFillBuffer(queue.0, mem.0, (&raw const word).cast(), 4, 0, 4096, 0, null(), null_mut());
            assert_eq!(status, CL_SUCCESS);
        }
        let raw_queue = queue.0;
        let all = Box::into_raw(Box::new((context, queue, mem)));
        // The callback may run before the flush returns, and the flush needs the queue. The test therefore has another
        // reference.
        assert_eq!(cl.clRetainCommandQueue(raw_queue), CL_SUCCESS);
        assert_eq!(cl.clSetEventCallback(first, CL_COMPLETE, Some(release_all), all.cast()), CL_SUCCESS);
        assert_eq!(cl.clFlush(raw_queue), CL_SUCCESS);
        assert_eq!(cl.clReleaseCommandQueue(raw_queue), CL_SUCCESS);
        assert!(wait_until(|| RELEASED.load(Ordering::SeqCst) == round), "round {round}");
    }
}

#[test]
fn a_context_may_be_released_before_its_commands_complete() {
    let context = Context::new();
    let program = context.build(SOURCE);
    let kernel = program.kernel("add");
    let queue = out_of_order(&context);
    let mem = context.buffer(ITEMS * 4);
    let mut words = vec![9u32; ITEMS];
    queue.write(&mem, &[1u32; ITEMS]);
    let added = launch(&queue, &kernel, &mem, 5, &[]);
    let mut read = null_mut();
    let cl = &target().cl;
    let status = cl.clEnqueueReadBuffer(queue.0, mem.0, CL_FALSE, 0, ITEMS * 4, words.as_mut_ptr().cast(), 1, &added.0, &mut read);
    assert_eq!(status, CL_SUCCESS);
    let read = Event(read);
    drop((kernel, program, mem, added, queue, context));
    assert_eq!(wait(&[&read]), CL_SUCCESS);
    assert_eq!(words, [6; ITEMS]);
}

#[test]
fn setting_a_default_device_queue_is_rejected() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = out_of_order(&context);
    let device = target().device;
    assert_eq!(cl.clSetDefaultDeviceCommandQueue(null_mut(), device, queue.0), CL_INVALID_CONTEXT);
    assert_eq!(cl.clSetDefaultDeviceCommandQueue(context.0, null_mut(), queue.0), CL_INVALID_DEVICE);
    let status = cl.clSetDefaultDeviceCommandQueue(context.0, device, queue.0);
    assert!([CL_INVALID_OPERATION, CL_INVALID_COMMAND_QUEUE].contains(&status), "{status}");
}
