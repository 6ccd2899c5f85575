//! Tests commands that the application does not flush with clFlush, clFinish or clWaitForEvents. A callback or a status
//! query must still report the end of the command. Each test enqueues a command, and observes it in only one way.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::commands::{Commands, functions};
use common::features::require;
use common::ffi::{
    CL_COMPLETE, CL_DEVICE_EXECUTION_CAPABILITIES, CL_DEVICE_SVM_CAPABILITIES, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_FALSE, CL_MAP_READ,
    CL_MAP_WRITE, CL_MEM_READ_WRITE, CL_PROFILING_COMMAND_END, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE,
    CL_RUNNING, CL_SUBMITTED, CL_SUCCESS, cl_buffer_region, cl_command_queue, cl_event, cl_int, cl_mem, cl_uint,
};
use common::objects::{Context, Event, Kernel, Mem, Program, Queue};
use common::{info, target};
use serial::serially;

/// Runs the tests in sequence. All tests of one process use one device, so the flush of one test would flush the
/// commands of the others.
mod serial {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    static ONE: Mutex<()> = Mutex::new(());

    pub(crate) fn serially() -> MutexGuard<'static, ()> {
        ONE.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const SOURCE: &str = "kernel void fill(global uint *a) { a[get_global_id(0)] = 7; }";
const ITEMS: usize = 64;
const BYTES: usize = 4 * ITEMS;
static HOST: [AtomicI32; ITEMS] = [const { AtomicI32::new(3) }; ITEMS];

fn host() -> *mut c_void {
    HOST.as_ptr().cast_mut().cast()
}

/// The objects of a test. Fields are released in this order.
struct World {
    kernel: Kernel,
    _program: Program,
    mem: Mem,
    other: Mem,
    queue: Queue,
    context: Context,
}

impl World {
    fn new(properties: u64) -> Self {
        let context = Context::new();
        let queue = context.queue(properties);
        let program = context.build(SOURCE);
        let kernel = program.kernel("fill");
        let (mem, other) = (context.buffer(BYTES), context.buffer(BYTES));
        kernel.set_mem(0, &mem);
        Self { kernel, _program: program, mem, other, queue, context }
    }

    /// Enqueues the kernel.
    fn launch_on(&self, queue: &Queue, waits: &[cl_event]) -> Event {
        let list = if waits.is_empty() { null() } else { waits.as_ptr() };
        event(|e| target().cl.clEnqueueNDRangeKernel(queue.0, self.kernel.0, 1, null(), &ITEMS, null(), waits.len() as cl_uint, list, e))
    }

    fn launch(&self) -> Event {
        self.launch_on(&self.queue, &[])
    }

    fn user_event(&self) -> Event {
        let mut status = 1;
        let event = target().cl.clCreateUserEvent(self.context.0, &mut status);
        assert_eq!(status, CL_SUCCESS);
        Event(event)
    }
}

/// Enqueues a command, and returns its event.
fn event(enqueue: impl FnOnce(*mut cl_event) -> cl_int) -> Event {
    let mut event = null_mut();
    assert_eq!(enqueue(&mut event), CL_SUCCESS, "the enqueue");
    Event(event)
}

/// Waits until `condition` holds, for at most 30 seconds. Makes no OpenCL calls except for those of `condition`.
fn within_seconds(condition: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !condition() {
        if begin.elapsed() > Duration::from_secs(30) {
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    true
}

unsafe extern "C" fn note(_: cl_event, status: cl_int, data: *mut c_void) {
    // SAFETY: `data` is an atomic that is never freed, or that lives until its test has seen the callback.
    unsafe { &*data.cast::<AtomicI32>() }.store(status, Ordering::SeqCst);
}

/// How a test observes the end of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// The application registers a callback for this status.
    Callback(cl_int),
    /// The application queries the execution status.
    Status,
    /// The application queries the end time.
    Profile,
}

/// Whether the observer sees the end of the command within some seconds. A callback must see its status.
fn is_seen(event: &Event, by: By) -> bool {
    let cl = &target().cl;
    match by {
        By::Callback(trigger) => {
            // The atomic is leaked, because a late callback must not write to freed memory.
            let reached: &'static AtomicI32 = Box::leak(Box::new(AtomicI32::new(99)));
            let data = std::ptr::from_ref(reached).cast_mut().cast();
            assert_eq!(cl.clSetEventCallback(event.0, trigger, Some(note), data), CL_SUCCESS);
            within_seconds(|| reached.load(Ordering::SeqCst) == trigger)
        }
        By::Status => within_seconds(|| {
            info::<cl_int>(|size, value, ret| cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, ret))
                == Ok(CL_COMPLETE)
        }),
        By::Profile => within_seconds(|| {
            info::<u64>(|size, value, ret| cl.clGetEventProfilingInfo(event.0, CL_PROFILING_COMMAND_END, size, value, ret)).is_ok()
        }),
    }
}

fn check(properties: u64, by: By, enqueue: impl FnOnce(&World) -> Option<Event>) {
    let _one = serially();
    let world = World::new(properties);
    if let Some(event) = enqueue(&world) {
        assert!(is_seen(&event, by), "the command does not end");
    }
}

/// Defines tests of one command: `NAME: QUEUE PROPERTIES, OBSERVER => ENQUEUE`.
macro_rules! cases {
    ($($name:ident: $properties:expr, $by:expr => $enqueue:expr;)*) => {
        $(#[test]
        fn $name() {
            check($properties, $by, $enqueue);
        })*
    };
}

const OUT_OF_ORDER: u64 = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
const PROFILING: u64 = CL_QUEUE_PROFILING_ENABLE;
const COMPLETE: By = By::Callback(CL_COMPLETE);

fn launch(world: &World) -> Option<Event> {
    Some(world.launch())
}

fn write(world: &World) -> Option<Event> {
    let (queue, mem) = (world.queue.0, world.mem.0);
    Some(event(|e| target().cl.clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, BYTES, host(), 0, null(), e)))
}

fn read(world: &World) -> Option<Event> {
    let (queue, mem) = (world.queue.0, world.mem.0);
    Some(event(|e| target().cl.clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, BYTES, host(), 0, null(), e)))
}

/// Enqueues a kernel, and a read of its results.
fn read_after_launch(world: &World) -> Option<Event> {
    drop(world.launch());
    read(world)
}

fn copy(world: &World) -> Option<Event> {
    Some(event(|e| target().cl.clEnqueueCopyBuffer(world.queue.0, world.mem.0, world.other.0, 0, 0, BYTES, 0, null(), e)))
}

fn fill(world: &World) -> Option<Event> {
    let word = 1u32;
    let pattern = (&raw const word).cast();
    Some(event(|e| target().cl.clEnqueueFillBuffer(world.queue.0, world.mem.0, pattern, 4, 0, BYTES, 0, null(), e)))
}

/// Enqueues a map and its unmap. Returns their events.
fn mapped(world: &World) -> (Event, Event) {
    let (cl, flags) = (&target().cl, CL_MAP_READ | CL_MAP_WRITE);
    let (mut map, mut status) = (null_mut(), 1);
    let start = cl.clEnqueueMapBuffer(world.queue.0, world.mem.0, CL_FALSE, flags, 0, BYTES, 0, null(), &mut map, &mut status);
    assert_eq!(status, CL_SUCCESS);
    (Event(map), event(|e| cl.clEnqueueUnmapMemObject(world.queue.0, world.mem.0, start, 0, null(), e)))
}

fn marker(world: &World) -> Option<Event> {
    drop(world.launch());
    Some(event(|e| target().cl.clEnqueueMarkerWithWaitList(world.queue.0, 0, null(), e)))
}

fn barrier(world: &World) -> Option<Event> {
    drop(world.launch());
    Some(event(|e| target().cl.clEnqueueBarrierWithWaitList(world.queue.0, 0, null(), e)))
}

fn migrate(world: &World) -> Option<Event> {
    Some(event(|e| target().cl.clEnqueueMigrateMemObjects(world.queue.0, 1, &world.mem.0, 0, 0, null(), e)))
}

fn command_buffer(world: &World) -> Option<Event> {
    let commands = Commands::new(functions()?, &world.queue);
    commands.launch(&world.kernel, ITEMS, None, &[]);
    commands.finalize();
    Some(event(|e| commands.1.clEnqueueCommandBufferKHR(0, null(), commands.0, 0, null(), e)))
}

fn svm_fill(world: &World) -> Option<Event> {
    let (cl, device) = (&target().cl, target().device);
    let svm = info::<u64>(|size, value, ret| cl.clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, size, value, ret)).unwrap_or(0);
    if svm == 0 {
        return None;
    }
    let start = cl.clSVMAlloc(world.context.0, CL_MEM_READ_WRITE, BYTES, 0);
    let word = 1u32;
    let filled = event(|e| cl.clEnqueueSVMMemFill(world.queue.0, start, (&raw const word).cast(), 4, BYTES, 0, null(), e));
    cl.clSVMFree(world.context.0, start);
    Some(filled)
}

/// Enqueues a launch that waits for a launch of another queue of the device.
fn after_other_queue(world: &World) -> Option<Event> {
    let other = world.context.queue(OUT_OF_ORDER);
    let first = world.launch_on(&other, &[]);
    let last = world.launch_on(&world.queue, &[first.0]);
    std::mem::forget(other);
    Some(last)
}

/// Enqueues a launch that waits for a user event, and then completes the user event.
fn after_user_event(world: &World) -> Option<Event> {
    let user = world.user_event();
    let last = world.launch_on(&world.queue, &[user.0]);
    assert_eq!(target().cl.clSetUserEventStatus(user.0, CL_COMPLETE), CL_SUCCESS);
    Some(last)
}

/// Enqueues a chain of launches in two queues. All of them wait for a user event.
fn after_chain(world: &World) -> Option<Event> {
    let other = world.context.queue(0);
    let user = world.user_event();
    let first = world.launch_on(&other, &[user.0]);
    let second = world.launch_on(&world.queue, &[first.0]);
    let third = world.launch_on(&other, &[second.0]);
    let last = world.launch_on(&world.queue, &[third.0]);
    assert_eq!(target().cl.clSetUserEventStatus(user.0, CL_COMPLETE), CL_SUCCESS);
    std::mem::forget(other);
    Some(last)
}

fn many(world: &World) -> Option<Event> {
    (0..100).fold(None, |_, _| Some(world.launch()))
}

cases! {
    callback_of_a_launch: 0, COMPLETE => launch;
    callback_of_a_launch_out_of_order: OUT_OF_ORDER, COMPLETE => launch;
    callback_of_a_launch_with_profiling: PROFILING, COMPLETE => launch;
    callback_of_a_running_launch: 0, By::Callback(CL_RUNNING) => launch;
    callback_of_a_submitted_launch: 0, By::Callback(CL_SUBMITTED) => launch;
    callback_of_the_last_of_many_launches: 0, COMPLETE => many;
    callback_of_a_write: 0, COMPLETE => write;
    callback_of_a_read: 0, COMPLETE => read;
    callback_of_a_read_after_a_launch: 0, COMPLETE => read_after_launch;
    callback_of_a_copy: 0, COMPLETE => copy;
    callback_of_a_fill: 0, COMPLETE => fill;
    callback_of_a_map: 0, COMPLETE => |world| Some(mapped(world).0);
    callback_of_an_unmap: 0, COMPLETE => |world| Some(mapped(world).1);
    callback_of_a_marker: 0, COMPLETE => marker;
    callback_of_a_marker_out_of_order: OUT_OF_ORDER, COMPLETE => marker;
    callback_of_a_barrier: 0, COMPLETE => barrier;
    callback_of_a_barrier_out_of_order: OUT_OF_ORDER, COMPLETE => barrier;
    callback_of_a_migration: 0, COMPLETE => migrate;
    callback_of_a_command_buffer: 0, COMPLETE => command_buffer;
    callback_of_a_command_buffer_out_of_order: OUT_OF_ORDER, COMPLETE => command_buffer;
    callback_of_a_fill_of_shared_memory: 0, COMPLETE => svm_fill;
    callback_after_a_launch_of_another_queue: 0, COMPLETE => after_other_queue;
    callback_after_a_user_event: 0, COMPLETE => after_user_event;
    callback_after_a_user_event_out_of_order: OUT_OF_ORDER, COMPLETE => after_user_event;
    callback_after_a_chain_of_queues: 0, COMPLETE => after_chain;
    status_of_a_launch: 0, By::Status => launch;
    status_of_a_launch_out_of_order: OUT_OF_ORDER, By::Status => launch;
    status_of_a_write: 0, By::Status => write;
    status_of_a_marker: 0, By::Status => marker;
    status_of_a_command_buffer: 0, By::Status => command_buffer;
    status_after_a_user_event: OUT_OF_ORDER, By::Status => after_user_event;
    status_after_a_chain_of_queues: 0, By::Status => after_chain;
    profile_of_a_launch: PROFILING, By::Profile => launch;
    profile_of_a_fill: PROFILING, By::Profile => fill;
}

unsafe extern "C" fn complete(_: cl_event, _: cl_int, user: *mut c_void) {
    assert_eq!(target().cl.clSetUserEventStatus(user, CL_COMPLETE), CL_SUCCESS);
}

/// The callback of a launch completes a user event. The application waits for the user event.
#[test]
fn a_callback_completes_a_user_event() {
    let _one = serially();
    let world = World::new(0);
    let user = world.user_event();
    let launched = world.launch();
    assert_eq!(target().cl.clSetEventCallback(launched.0, CL_COMPLETE, Some(complete), user.0), CL_SUCCESS);
    assert!(is_seen(&user, By::Status));
}

/// Registers a callback of a command that still waits for a user event. Another thread completes the user event.
#[test]
fn a_callback_is_registered_before_its_command_can_run() {
    let _one = serially();
    let world = World::new(0);
    let user = world.user_event();
    let launched = world.launch_on(&world.queue, &[user.0]);
    let handle = user.0.addr();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        target().cl.clSetUserEventStatus(std::ptr::with_exposed_provenance_mut(handle), CL_COMPLETE)
    });
    let _ = user.0.expose_provenance();
    assert!(is_seen(&launched, COMPLETE));
    assert_eq!(thread.join().expect("the thread"), CL_SUCCESS);
}

static DESTROYED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn destroyed(_: cl_mem, _: *mut c_void) {
    DESTROYED.fetch_add(1, Ordering::SeqCst);
}

/// Tests the destructor callback of a buffer that an unfinished command uses.
#[test]
fn a_destructor_is_called_after_the_last_command() {
    let _one = serially();
    let cl = &target().cl;
    let world = World::new(0);
    let mem = world.context.buffer(BYTES);
    let region = cl_buffer_region { origin: 0, size: BYTES / 2 };
    let mut status = 1;
    // CL_BUFFER_CREATE_TYPE_REGION
    let part = cl.clCreateSubBuffer(mem.0, 0, 0x1220, (&raw const region).cast(), &mut status);
    assert_eq!(status, CL_SUCCESS);
    let before = DESTROYED.load(Ordering::SeqCst);
    for object in [mem.0, part] {
        assert_eq!(cl.clSetMemObjectDestructorCallback(object, Some(destroyed), null_mut()), CL_SUCCESS);
    }
    assert_eq!(cl.clEnqueueCopyBuffer(world.queue.0, world.mem.0, part, 0, 0, BYTES / 2, 0, null(), null_mut()), CL_SUCCESS);
    drop(mem);
    drop(Mem(part));
    assert!(within_seconds(|| DESTROYED.load(Ordering::SeqCst) == before + 2));
}

static CALLED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn native(_: *mut c_void) {
    CALLED.store(true, Ordering::SeqCst);
}

/// An application may wait until its own function is called.
#[test]
fn a_native_kernel_runs() {
    let _one = serially();
    let cl = &target().cl;
    let world = World::new(0);
    let device = target().device;
    let has = info::<u64>(|size, value, ret| cl.clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, size, value, ret));
    // CL_EXEC_NATIVE_KERNEL
    if !require("native kernels", has.unwrap_or(0) & 2 != 0) {
        return;
    }
    drop(world.launch());
    let status = cl.clEnqueueNativeKernel(world.queue.0, Some(native), null_mut(), 0, 0, null(), null_mut(), 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    assert!(within_seconds(|| CALLED.load(Ordering::SeqCst)));
}

static FREED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn freed(_: cl_command_queue, _: cl_uint, _: *mut *mut c_void, context: *mut c_void) {
    FREED.store(!context.is_null(), Ordering::SeqCst);
}

#[test]
fn the_function_of_an_svm_free_is_called() {
    let _one = serially();
    let (cl, device) = (&target().cl, target().device);
    let svm = info::<u64>(|size, value, ret| cl.clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, size, value, ret)).unwrap_or(0);
    if svm == 0 {
        return;
    }
    let world = World::new(0);
    let mut start = cl.clSVMAlloc(world.context.0, CL_MEM_READ_WRITE, BYTES, 0);
    drop(world.launch());
    let status = cl.clEnqueueSVMFree(world.queue.0, 1, &mut start, Some(freed), world.context.0, 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    assert!(within_seconds(|| FREED.load(Ordering::SeqCst)));
    cl.clSVMFree(world.context.0, start);
}
