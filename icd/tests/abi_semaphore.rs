//! Semaphores (cl_khr_semaphore): a queue waits for signals of another queue, repeatedly.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use common::features::require;
use common::ffi::{
    CL_COMPLETE, CL_DEVICE_EXTENSIONS, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_TYPE,
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_PROPERTY,
    CL_INVALID_VALUE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_SUCCESS, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int,
    cl_uint,
};
use common::objects::{Context, Event, Queue};
use common::{info, info_bytes, info_string, target};

type Handle = *mut c_void;

const TYPE: u64 = 0x203D;
const BINARY: u64 = 1;
const DEVICES: u64 = 0x2053;
const CONTEXT: cl_uint = 0x2039;
const REFERENCES: cl_uint = 0x203A;
const PROPERTIES: cl_uint = 0x203B;
const PAYLOAD: cl_uint = 0x203C;
const COMMAND_WAIT: cl_uint = 0x2042;
const COMMAND_SIGNAL: cl_uint = 0x2043;
const CL_DEVICE_SEMAPHORE_TYPES: cl_uint = 0x204C;
const CL_PLATFORM_SEMAPHORE_TYPES: cl_uint = 0x2036;
const CL_INVALID_SEMAPHORE: cl_int = -1142;

common::extension_functions! {
    fn clCreateSemaphoreWithPropertiesKHR(c: cl_context, list: *const u64, status: *mut cl_int) -> Handle;
    fn clEnqueueWaitSemaphoresKHR(q: cl_command_queue, n: cl_uint, list: *const Handle, payloads: *const u64, events: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSignalSemaphoresKHR(q: cl_command_queue, n: cl_uint, list: *const Handle, payloads: *const u64, events: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clGetSemaphoreInfoKHR(s: Handle, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clGetSemaphoreHandleForTypeKHR(s: Handle, d: cl_device_id, kind: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clRetainSemaphoreKHR(s: Handle) -> cl_int;
    fn clReleaseSemaphoreKHR(s: Handle) -> cl_int;
}

/// Returns the functions of the extension, if wgcl's device reports it.
fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    let target = target();
    let names = info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS, size, value, ret));
    let has = names.is_ok_and(|names| names.split(' ').any(|name| name == "cl_khr_semaphore"));
    // Other platforms are not tested.
    FUNCTIONS.get_or_init(Functions::load).as_ref().filter(|_| require("cl_khr_semaphore", has) && target.is_wgcl())
}

/// A semaphore, released when dropped.
struct Semaphore(&'static Functions, Handle);

impl Drop for Semaphore {
    fn drop(&mut self) {
        assert_eq!(self.0.clReleaseSemaphoreKHR(self.1), CL_SUCCESS);
    }
}

impl Semaphore {
    fn with(functions: &'static Functions, context: &Context, list: &[u64]) -> Result<Self, cl_int> {
        let mut status = 1;
        let handle = functions.clCreateSemaphoreWithPropertiesKHR(context.0, list.as_ptr(), &mut status);
        assert_eq!(handle.is_null(), status != CL_SUCCESS);
        if handle.is_null() { Err(status) } else { Ok(Self(functions, handle)) }
    }

    fn new(functions: &'static Functions, context: &Context) -> Self {
        Self::with(functions, context, &[TYPE, BINARY, 0]).expect("a semaphore")
    }

    fn info<T: Copy + Default>(&self, name: cl_uint) -> Result<T, cl_int> {
        info(|size, value, ret| self.0.clGetSemaphoreInfoKHR(self.1, name, size, value, ret))
    }

    fn wait(&self, queue: &Queue, after: &[cl_event]) -> Result<Event, cl_int> {
        let list = if after.is_empty() { null() } else { after.as_ptr() };
        let mut event = null_mut();
        let status = self.0.clEnqueueWaitSemaphoresKHR(queue.0, 1, &self.1, null(), after.len() as cl_uint, list, &mut event);
        if status == CL_SUCCESS { Ok(Event(event)) } else { Err(status) }
    }

    fn signal(&self, queue: &Queue, after: &[cl_event]) -> Result<Event, cl_int> {
        let list = if after.is_empty() { null() } else { after.as_ptr() };
        let mut event = null_mut();
        let status = self.0.clEnqueueSignalSemaphoresKHR(queue.0, 1, &self.1, null(), after.len() as cl_uint, list, &mut event);
        if status == CL_SUCCESS { Ok(Event(event)) } else { Err(status) }
    }
}

fn event_info(event: &Event, name: cl_uint) -> cl_int {
    info(|size, value, ret| target().cl.clGetEventInfo(event.0, name, size, value, ret)).expect("an answer")
}

fn user_event(context: &Context) -> Event {
    let mut status = 1;
    let event = target().cl.clCreateUserEvent(context.0, &mut status);
    assert_eq!(status, CL_SUCCESS);
    Event(event)
}

#[test]
fn semaphore_queries_are_answered() {
    let Some(functions) = functions() else { return };
    let (target, context) = (target(), Context::new());
    let types = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_SEMAPHORE_TYPES, size, value, ret));
    assert_eq!(types, Ok(vec![1, 0, 0, 0]));
    let types = info_bytes(|size, value, ret| target.cl.clGetPlatformInfo(target.platform, CL_PLATFORM_SEMAPHORE_TYPES, size, value, ret));
    assert_eq!(types, Ok(vec![1, 0, 0, 0]));

    let list = [TYPE, BINARY, DEVICES, target.device as u64, 0, 0];
    let semaphore = Semaphore::with(functions, &context, &list).expect("a semaphore");
    assert_eq!(semaphore.info(CONTEXT), Ok(context.0 as usize));
    assert_eq!(semaphore.info(TYPE as cl_uint), Ok(BINARY as cl_uint));
    assert_eq!(semaphore.info(DEVICES as cl_uint), Ok(target.device as usize));
    assert_eq!(semaphore.info(PAYLOAD), Ok(0u64));
    assert_eq!(semaphore.info(PROPERTIES), Ok(list));
    assert_eq!(semaphore.info::<u32>(0xdead), Err(CL_INVALID_VALUE));
    assert_eq!(functions.clRetainSemaphoreKHR(semaphore.1), CL_SUCCESS);
    assert_eq!(semaphore.info(REFERENCES), Ok(2u32));
    assert_eq!(functions.clReleaseSemaphoreKHR(semaphore.1), CL_SUCCESS);
    assert_eq!(semaphore.info(REFERENCES), Ok(1u32));
}

#[test]
fn invalid_properties_are_rejected() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let make = |list: &[u64]| Semaphore::with(functions, &context, list).err();
    assert_eq!(make(&[0]), Some(CL_INVALID_VALUE), "the type is missing");
    assert_eq!(make(&[TYPE, 7, 0]), Some(CL_INVALID_PROPERTY));
    assert_eq!(make(&[0xdead, 1, 0]), Some(CL_INVALID_PROPERTY));
    assert_eq!(make(&[TYPE, BINARY, TYPE, BINARY, 0]), Some(CL_INVALID_PROPERTY), "given twice");
    let device = target().device as u64;
    assert_eq!(make(&[TYPE, BINARY, DEVICES, 0, 0]), Some(CL_INVALID_DEVICE), "no device");
    assert_eq!(make(&[TYPE, BINARY, DEVICES, device, device, 0, 0]), Some(CL_INVALID_DEVICE), "two devices");
    assert_eq!(make(&[TYPE, BINARY, DEVICES, context.0 as u64, 0, 0]), Some(CL_INVALID_DEVICE), "a context is not a device");
    let mut status = 1;
    assert!(functions.clCreateSemaphoreWithPropertiesKHR(context.0, null(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_VALUE);
    assert!(functions.clCreateSemaphoreWithPropertiesKHR(null_mut(), [TYPE, BINARY, 0].as_ptr(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_CONTEXT);
}

#[test]
fn two_queues_alternate() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let queues = [context.queue(0), context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)];
    let program = context.build("kernel void step(global uint *a, uint round) { if (a[0] == round) a[0]++; }");
    let (kernel, mem) = (program.kernel("step"), context.buffer(4));
    let semaphores = [Semaphore::new(functions, &context), Semaphore::new(functions, &context)];
    queues[0].write(&mem, &[0u32]);
    kernel.set_mem(0, &mem);
    for round in 0..100u32 {
        let at = round as usize % 2;
        assert_eq!(kernel.set(1, &round), CL_SUCCESS);
        let waits = (round > 0).then(|| semaphores[1 - at].wait(&queues[at], &[]).expect("a wait"));
        let after: Vec<_> = waits.iter().map(|event| event.0).collect();
        let (mut launched, size) = (null_mut(), 1usize);
        let list = if after.is_empty() { null() } else { after.as_ptr() };
        let status = target().cl.clEnqueueNDRangeKernel(
            queues[at].0,
            kernel.0,
            1,
            null(),
            &size,
            null(),
            after.len() as cl_uint,
            list,
            &mut launched,
        );
        assert_eq!(status, CL_SUCCESS);
        let launched = Event(launched);
        let signal = semaphores[at].signal(&queues[at], &[launched.0]).expect("a signal");
        assert_eq!(event_info(&signal, CL_EVENT_COMMAND_TYPE), COMMAND_SIGNAL as cl_int);
        if let Some(wait) = waits {
            assert_eq!(event_info(&wait, CL_EVENT_COMMAND_TYPE), COMMAND_WAIT as cl_int);
        }
    }
    let last = semaphores[1].wait(&queues[0], &[]).expect("a wait");
    assert_eq!(target().cl.clWaitForEvents(1, &last.0), CL_SUCCESS);
    assert_eq!(queues[0].read::<u32>(&mem, 1), [100]);
}

#[test]
fn the_payload_is_set_by_a_signal_and_cleared_by_a_wait() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let semaphore = Semaphore::new(functions, &context);
    for _ in 0..3 {
        let gate = user_event(&context);
        semaphore.signal(&queue, &[gate.0]).expect("a signal");
        assert_eq!(semaphore.info(PAYLOAD), Ok(0u64), "the signal has not run");
        assert_eq!(target().cl.clSetUserEventStatus(gate.0, CL_COMPLETE), CL_SUCCESS);
        queue.finish();
        assert_eq!(semaphore.info(PAYLOAD), Ok(1u64));
        let gate = user_event(&context);
        semaphore.wait(&queue, &[gate.0]).expect("a wait");
        assert_eq!(semaphore.info(PAYLOAD), Ok(1u64), "the wait has not run");
        assert_eq!(target().cl.clSetUserEventStatus(gate.0, CL_COMPLETE), CL_SUCCESS);
        queue.finish();
        assert_eq!(semaphore.info(PAYLOAD), Ok(0u64));
    }
}

#[test]
fn a_wait_may_be_enqueued_before_its_signal() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let (early, late) = (context.queue(0), context.queue(0));
    let semaphore = Semaphore::new(functions, &context);
    let wait = semaphore.wait(&early, &[]).expect("a wait");
    assert_eq!(target().cl.clFlush(early.0), CL_SUCCESS);
    assert!(event_info(&wait, CL_EVENT_COMMAND_EXECUTION_STATUS) > CL_COMPLETE);
    semaphore.signal(&late, &[]).expect("a signal");
    assert_eq!(target().cl.clFlush(late.0), CL_SUCCESS);
    assert_eq!(target().cl.clWaitForEvents(1, &wait.0), CL_SUCCESS);

    // After its release, no command can signal the semaphore. So the waiting command fails.
    let wait = semaphore.wait(&early, &[]).expect("a wait");
    drop(semaphore);
    assert_eq!(target().cl.clWaitForEvents(1, &wait.0), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

#[test]
fn invalid_commands_are_rejected() {
    let Some(functions) = functions() else { return };
    let (context, other) = (Context::new(), Context::new());
    let (queue, foreign) = (context.queue(0), other.queue(0));
    let semaphore = Semaphore::new(functions, &context);
    assert_eq!(semaphore.wait(&foreign, &[]).err(), Some(CL_INVALID_CONTEXT));
    assert_eq!(semaphore.signal(&foreign, &[]).err(), Some(CL_INVALID_CONTEXT));
    let failed = user_event(&context);
    assert_eq!(target().cl.clSetUserEventStatus(failed.0, -1), CL_SUCCESS);
    assert_eq!(semaphore.signal(&queue, &[failed.0]).err(), Some(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
    assert_eq!(semaphore.wait(&queue, &[failed.0]).err(), Some(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
    let wait = |queue, count, list| functions.clEnqueueWaitSemaphoresKHR(queue, count, list, null(), 0, null(), null_mut());
    assert_eq!(wait(null_mut(), 1, &raw const semaphore.1), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(wait(queue.0, 0, &raw const semaphore.1), CL_INVALID_VALUE);
    assert_eq!(wait(queue.0, 1, null()), CL_INVALID_VALUE);
    assert_eq!(wait(queue.0, 1, &raw const queue.0), CL_INVALID_SEMAPHORE);
    let handle = |semaphore, device| functions.clGetSemaphoreHandleForTypeKHR(semaphore, device, 0x2055, 4, null_mut(), null_mut());
    assert_eq!(handle(semaphore.1, target().device), CL_INVALID_VALUE, "it was created without external handles");
    assert_eq!(handle(semaphore.1, null_mut()), CL_INVALID_DEVICE);
    assert_eq!(handle(null_mut(), target().device), CL_INVALID_SEMAPHORE);
    assert_eq!(functions.clReleaseSemaphoreKHR(null_mut()), CL_INVALID_SEMAPHORE);
    assert_eq!(functions.clRetainSemaphoreKHR(context.0), CL_INVALID_SEMAPHORE);
}

#[test]
fn a_context_of_several_devices_requires_a_device_handle() {
    let Some(functions) = functions() else { return };
    let cl = &target().cl;
    let mut parts: [cl_device_id; 2] = [null_mut(); 2];
    // CL_DEVICE_PARTITION_BY_COUNTS
    let status = cl.clCreateSubDevices(target().device, [0x1087, 1, 1, 0, 0].as_ptr(), 2, parts.as_mut_ptr(), null_mut());
    // A CPU with one core cannot be partitioned. The lists in `tests/expected` have no entry for this case.
    let one_core = std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
    if status != CL_SUCCESS && one_core || !require("sub-devices", status == CL_SUCCESS) {
        return;
    }
    let mut status = 1;
    let context = Context(cl.clCreateContext(null(), 2, parts.as_ptr(), None, null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(Semaphore::with(functions, &context, &[TYPE, BINARY, 0]).err(), Some(CL_INVALID_PROPERTY));
    let semaphore = Semaphore::with(functions, &context, &[TYPE, BINARY, DEVICES, parts[1] as u64, 0, 0]).expect("a semaphore");
    let queue = |device| {
        let mut status = 1;
        let queue = cl.clCreateCommandQueue(context.0, device, 0, &mut status);
        assert_eq!(status, CL_SUCCESS);
        Queue(queue)
    };
    let queues = parts.map(queue);
    assert_eq!(semaphore.signal(&queues[0], &[]).err(), Some(CL_INVALID_COMMAND_QUEUE));
    semaphore.signal(&queues[1], &[]).expect("a signal");
    semaphore.wait(&queues[1], &[]).expect("a wait");
    queues[1].finish();
    drop((queues, semaphore, context));
    for part in parts {
        assert_eq!(cl.clReleaseDevice(part), CL_SUCCESS);
    }
}
