//! OpenCL shares semaphores with a Vulkan program (cl_khr_external_semaphore). Both APIs compute on one memory
//! alternately, and the host never waits in between.

mod common;
#[path = "common/vulkan.rs"]
mod vulkan;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use ash::vk::ExternalSemaphoreHandleTypeFlags as Kind;
use common::features::require;
use common::ffi::{
    CL_DEVICE_EXTENSIONS, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_INVALID_DEVICE, CL_INVALID_OPERATION, CL_INVALID_PROPERTY,
    CL_INVALID_VALUE, CL_SUBMITTED, CL_SUCCESS, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int, cl_mem, cl_uint,
};
use common::objects::{Context, Event, Kernel, Mem, Queue};
use common::{info, info_bytes, info_string, target};
use vulkan::{COUNT, SIZE, Vulkan};

type Handle = *mut c_void;

const CL_DEVICE_UUID: cl_uint = 0x106A;
const MEMORY_FD: u64 = 0x2060;
const TYPE: u64 = 0x203D;
const BINARY: u64 = 1;
const EXPORTS: u64 = 0x203F;
const EXPORTABLE: cl_uint = 0x2054;
const PAYLOAD: cl_uint = 0x203C;
const OPAQUE_FD: u64 = 0x2055;
const SYNC_FD: u64 = 0x2058;
const DEVICE_IMPORTS: cl_uint = 0x204D;
const DEVICE_EXPORTS: cl_uint = 0x204E;
const PLATFORM_IMPORTS: cl_uint = 0x2037;
const CL_INVALID_SEMAPHORE: cl_int = -1142;
const ROUNDS: usize = 12;

common::extension_functions! {
    fn clCreateSemaphoreWithPropertiesKHR(c: cl_context, list: *const u64, status: *mut cl_int) -> Handle;
    fn clEnqueueWaitSemaphoresKHR(q: cl_command_queue, n: cl_uint, list: *const Handle, payloads: *const u64, events: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSignalSemaphoresKHR(q: cl_command_queue, n: cl_uint, list: *const Handle, payloads: *const u64, events: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clGetSemaphoreInfoKHR(s: Handle, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clGetSemaphoreHandleForTypeKHR(s: Handle, d: cl_device_id, kind: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clReImportSemaphoreSyncFdKHR(s: Handle, list: *const u64, fd: i32) -> cl_int;
    fn clReleaseSemaphoreKHR(s: Handle) -> cl_int;
    fn clEnqueueAcquireExternalMemObjectsKHR(q: cl_command_queue, n: cl_uint, list: *const cl_mem, events: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueReleaseExternalMemObjectsKHR(q: cl_command_queue, n: cl_uint, list: *const cl_mem, events: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
}

fn kinds(name: cl_uint) -> Vec<u64> {
    let target = target();
    let bytes = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret)).unwrap_or_default();
    bytes.as_chunks().0.iter().map(|kind| u64::from(u32::from_ne_bytes(*kind))).collect()
}

/// Returns the functions of the extension, if the device shares semaphores of this kind with Vulkan.
fn functions(kind: u64) -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    let name = if kind == OPAQUE_FD { "cl_khr_external_semaphore_opaque_fd" } else { "cl_khr_external_semaphore_sync_fd" };
    let has = kinds(DEVICE_IMPORTS).contains(&kind) && kinds(DEVICE_EXPORTS).contains(&kind);
    FUNCTIONS.get_or_init(Functions::load).as_ref().filter(|_| require(name, has))
}

fn program() -> Vulkan {
    let target = target();
    let uuid = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_UUID, size, value, ret));
    Vulkan::new(&uuid.expect("a UUID"), true).expect("a Vulkan program")
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

    fn wait(&self, queue: &Queue) {
        assert_eq!(self.0.clEnqueueWaitSemaphoresKHR(queue.0, 1, &self.1, null(), 0, null(), null_mut()), CL_SUCCESS);
    }

    /// Signals the semaphore. Returns when the driver has the signal, so that Vulkan may wait for the semaphore.
    fn signal(&self, queue: &Queue) {
        let mut event = null_mut();
        assert_eq!(self.0.clEnqueueSignalSemaphoresKHR(queue.0, 1, &self.1, null(), 0, null(), &mut event), CL_SUCCESS);
        let event = Event(event);
        let status =
            || info::<cl_int>(|size, value, ret| target().cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, ret));
        while status().expect("a status") > CL_SUBMITTED as cl_int {
            std::thread::yield_now();
        }
    }

    fn export(&self, kind: u64) -> Result<i32, cl_int> {
        let mut fd = -1_i32;
        let place = (&raw mut fd).cast();
        match self.0.clGetSemaphoreHandleForTypeKHR(self.1, target().device, kind as cl_uint, 4, place, null_mut()) {
            CL_SUCCESS => Ok(fd),
            error => Err(error),
        }
    }

    fn info<T: Copy + Default>(&self, name: cl_uint) -> T {
        info(|size, value, ret| self.0.clGetSemaphoreInfoKHR(self.1, name, size, value, ret)).expect("an answer")
    }
}

fn import(context: &Context, vulkan: &Vulkan) -> Mem {
    let list = [MEMORY_FD, vulkan.fd() as u64, 0];
    let mut status = 1;
    let mem = target().cl.clCreateBufferWithProperties(context.0, list.as_ptr(), 0, SIZE, null_mut(), &mut status);
    assert_eq!(status, CL_SUCCESS, "the memory");
    Mem(mem)
}

const SOURCE: &str = "kernel void step(global uint *a) { size_t i = get_global_id(0); a[i] = 2 * a[i] + (uint)i; }";

/// Returns the contents of the memory after this number of rounds. In a round, Vulkan and OpenCL each compute once.
fn expected(rounds: usize) -> Vec<u32> {
    let after = |first: u32, i: usize| {
        (0..rounds).fold(first, |word, _| word.wrapping_mul(3).wrapping_add(1).wrapping_mul(2).wrapping_add(i as u32))
    };
    (0..COUNT).map(|i| after(5, i)).collect()
}

/// Two semaphores, each as an OpenCL and as a Vulkan object. Vulkan creates and signals `stepped` (`theirs`). OpenCL
/// creates and signals `launched` (`ours`).
struct Pair {
    stepped: Semaphore,
    launched: Semaphore,
    theirs: ash::vk::Semaphore,
    ours: ash::vk::Semaphore,
}

/// The shared memory, and the Vulkan and OpenCL objects that compute on it alternately.
struct Exchange {
    functions: &'static Functions,
    vulkan: Vulkan,
    context: Context,
    queue: Queue,
    kernel: Kernel,
    mem: Mem,
}

impl Exchange {
    fn new(functions: &'static Functions) -> Self {
        let vulkan = program();
        let context = Context::new();
        let queue = context.queue(0);
        let kernel = context.build(SOURCE).kernel("step");
        vulkan.fill(5);
        let mem = import(&context, &vulkan);
        kernel.set_mem(0, &mem);
        Self { functions, vulkan, context, queue, kernel, mem }
    }

    fn pair(&self) -> Pair {
        let Self { functions, vulkan, context, .. } = self;
        let theirs = vulkan.semaphore(Kind::OPAQUE_FD);
        let stepped =
            Semaphore::with(functions, context, &[TYPE, BINARY, OPAQUE_FD, vulkan.semaphore_fd(theirs, Kind::OPAQUE_FD) as u64, 0]);
        let stepped = stepped.expect("a Vulkan semaphore");
        let launched = Semaphore::with(functions, context, &[TYPE, BINARY, EXPORTS, OPAQUE_FD, 0, 0]).expect("a semaphore to export");
        let ours = vulkan.semaphore(Kind::OPAQUE_FD);
        vulkan.import(ours, Kind::OPAQUE_FD, launched.export(OPAQUE_FD).expect("a descriptor"));
        Pair { stepped, launched, theirs, ours }
    }

    fn acquire(&self) {
        let acquired = self.functions.clEnqueueAcquireExternalMemObjectsKHR(self.queue.0, 1, &self.mem.0, 0, null(), null_mut());
        assert_eq!(acquired, CL_SUCCESS);
    }

    /// Enqueues one round of OpenCL's commands: acquire, launch, release.
    fn enqueue_round(&self) {
        self.acquire();
        assert_eq!(self.queue.launch(&self.kernel, &[COUNT], None), CL_SUCCESS);
        let released = self.functions.clEnqueueReleaseExternalMemObjectsKHR(self.queue.0, 1, &self.mem.0, 0, null(), null_mut());
        assert_eq!(released, CL_SUCCESS);
    }

    /// Reads the result of all rounds, and waits for the last round of Vulkan.
    fn check(&self) {
        self.acquire();
        assert_eq!(self.queue.read::<u32>(&self.mem, COUNT), expected(ROUNDS));
        self.vulkan.wait();
    }
}

#[test]
fn semaphores_alone_order_opencl_and_vulkan() {
    let Some(functions) = functions(OPAQUE_FD) else { return };
    let exchange = Exchange::new(functions);
    let Exchange { vulkan, queue, .. } = &exchange;
    let Pair { stepped, launched, theirs, ours } = exchange.pair();
    assert_eq!((stepped.info::<cl_uint>(EXPORTABLE), launched.info::<cl_uint>(EXPORTABLE)), (0, 1));
    assert_eq!((stepped.info::<u64>(PAYLOAD), launched.info::<u64>(PAYLOAD)), (0, 0));
    for round in 0..ROUNDS {
        let waits = [ours];
        vulkan.step_between(if round == 0 { &[] } else { &waits }, &[theirs]);
        stepped.wait(queue);
        exchange.enqueue_round();
        launched.signal(queue);
    }
    queue.finish();
    assert_eq!(launched.info::<u64>(PAYLOAD), 1, "no wait has consumed the last signal");
    exchange.check();
    drop((stepped, launched));
    vulkan.destroy(theirs);
    vulkan.destroy(ours);
}

/// The host waits for Vulkan, Vulkan waits for OpenCL, and the application never calls clFlush.
#[test]
fn a_signal_for_vulkan_is_submitted_at_once() {
    let Some(functions) = functions(OPAQUE_FD) else { return };
    let exchange = Exchange::new(functions);
    let Exchange { vulkan, context, queue, .. } = &exchange;
    let Pair { stepped, launched, theirs, ours } = exchange.pair();
    // This kernel keeps the device busy when the signal is enqueued.
    let program = context
        .build("kernel void busy(global uint *a) { uint x = *a; for (int i = 0; i < 50000; i++) x = x * 1664525 + 1013904223; *a = x; }");
    let (busy, word) = (program.kernel("busy"), context.buffer(4));
    busy.set_mem(0, &word);
    for round in 0..ROUNDS {
        let waits = [ours];
        vulkan.step_between(if round == 0 { &[] } else { &waits }, &[theirs]);
        stepped.wait(queue);
        exchange.enqueue_round();
        assert_eq!(queue.launch(&busy, &[1], None), CL_SUCCESS);
        vulkan.wait();
        launched.signal(queue);
    }
    queue.finish();
    exchange.check();
    drop((stepped, launched));
    vulkan.destroy(theirs);
    vulkan.destroy(ours);
}

#[test]
fn sync_files_carry_one_signal_each() {
    let Some(functions) = functions(SYNC_FD) else { return };
    let exchange = Exchange::new(functions);
    let Exchange { vulkan, context, queue, .. } = &exchange;
    let (theirs, ours) = (vulkan.semaphore(Kind::SYNC_FD), vulkan.semaphore(Kind::SYNC_FD));
    // The sync file descriptor -1 represents a semaphore that is already signalled.
    let stepped = Semaphore::with(functions, context, &[TYPE, BINARY, SYNC_FD, u64::MAX, 0]).expect("a semaphore of a sync file");
    assert_eq!(stepped.info::<u64>(PAYLOAD), 1);
    stepped.wait(queue);
    queue.finish();
    let launched = Semaphore::with(functions, context, &[TYPE, BINARY, EXPORTS, SYNC_FD, 0, 0]).expect("a semaphore to export");
    assert_eq!(launched.export(SYNC_FD), Err(CL_INVALID_OPERATION), "no signal is pending");
    for round in 0..ROUNDS {
        let waits = [ours];
        vulkan.step_between(if round == 0 { &[] } else { &waits }, &[theirs]);
        let file = vulkan.semaphore_fd(theirs, Kind::SYNC_FD);
        assert_eq!(functions.clReImportSemaphoreSyncFdKHR(stepped.1, null(), file), CL_SUCCESS);
        stepped.wait(queue);
        exchange.enqueue_round();
        launched.signal(queue);
        // An import fails while a command waits for the earlier payload of the semaphore, so wait for that command
        // first.
        vulkan.wait();
        vulkan.import(ours, Kind::SYNC_FD, launched.export(SYNC_FD).expect("a sync file"));
    }
    queue.finish();
    exchange.check();
    drop((stepped, launched));
    vulkan.destroy(theirs);
    vulkan.destroy(ours);
}

#[test]
fn one_context_signals_what_another_waits_for() {
    let Some(functions) = functions(OPAQUE_FD) else { return };
    let (here, there) = (Context::new(), Context::new());
    let (first, second) = (here.queue(0), there.queue(0));
    let signal = Semaphore::with(functions, &here, &[TYPE, BINARY, EXPORTS, OPAQUE_FD, 0, 0]).expect("a semaphore");
    let fd = signal.export(OPAQUE_FD).expect("a descriptor");
    let wait = Semaphore::with(functions, &there, &[TYPE, BINARY, OPAQUE_FD, fd as u64, 0]).expect("the same semaphore");
    for _ in 0..50 {
        signal.signal(&first);
        wait.wait(&second);
        second.finish();
    }
    first.finish();
}

#[test]
fn invalid_arguments_are_rejected() {
    let Some(functions) = functions(OPAQUE_FD) else {
        if let Some(functions) = Functions::load().filter(|_| target().is_wgcl()) {
            let functions: &'static Functions = Box::leak(Box::new(functions));
            let context = Context::new();
            let made = |list: &[u64]| Semaphore::with(functions, &context, list).err();
            assert_eq!(
                made(&[TYPE, BINARY, EXPORTS, OPAQUE_FD, 0, 0]),
                Some(CL_INVALID_PROPERTY),
                "a device that cannot export semaphores"
            );
            assert_eq!(made(&[TYPE, BINARY, OPAQUE_FD, 0, 0]), Some(CL_INVALID_DEVICE));
        }
        return;
    };
    let names = info_string(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_EXTENSIONS, size, value, ret));
    let names = names.unwrap_or_default();
    for name in ["cl_khr_external_semaphore", "cl_khr_external_semaphore_opaque_fd"] {
        assert!(names.split_whitespace().any(|known| known == name), "{name}");
    }
    let platform = info_bytes(|size, value, ret| target().cl.clGetPlatformInfo(target().platform, PLATFORM_IMPORTS, size, value, ret));
    assert!(platform.is_ok());
    let context = Context::new();
    let made = |list: &[u64]| Semaphore::with(functions, &context, list);
    assert_eq!(made(&[TYPE, BINARY, EXPORTS, OPAQUE_FD, OPAQUE_FD, 0, 0]).err(), Some(CL_INVALID_VALUE), "two types of handles");
    assert_eq!(made(&[TYPE, BINARY, EXPORTS, 0x2056, 0, 0]).err(), Some(CL_INVALID_PROPERTY), "a handle type of another operating system");
    assert_eq!(made(&[TYPE, BINARY, OPAQUE_FD, 1 << 40, 0]).err(), Some(CL_INVALID_PROPERTY), "no descriptor");
    let plain = made(&[TYPE, BINARY, 0]).expect("a semaphore that is not shared");
    assert_eq!(plain.export(OPAQUE_FD), Err(CL_INVALID_VALUE));
    assert_eq!(plain.info::<cl_uint>(EXPORTABLE), 0);
    let shared = made(&[TYPE, BINARY, EXPORTS, OPAQUE_FD, 0, 0]).expect("a semaphore to export");
    assert_eq!(shared.export(SYNC_FD), Err(CL_INVALID_VALUE));
    assert_eq!(functions.clReImportSemaphoreSyncFdKHR(shared.1, null(), -1), CL_INVALID_SEMAPHORE);
    let mut needed = 0;
    let ask = |size: usize, place: *mut c_void, ret: *mut usize| {
        functions.clGetSemaphoreHandleForTypeKHR(shared.1, target().device, OPAQUE_FD as cl_uint, size, place, ret)
    };
    assert_eq!(ask(0, null_mut(), &mut needed), CL_SUCCESS);
    assert_eq!(needed, 4);
    let mut fd = -1_i32;
    assert_eq!(ask(2, (&raw mut fd).cast(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(ask(4, (&raw mut fd).cast(), null_mut()), CL_SUCCESS);
    let both = [TYPE, BINARY, OPAQUE_FD, fd as u64, EXPORTS, OPAQUE_FD, 0, 0];
    assert_eq!(made(&both).err(), Some(CL_INVALID_OPERATION), "an imported semaphore is not exported");
    let again = made(&[TYPE, BINARY, OPAQUE_FD, fd as u64, 0]).expect("the same semaphore");
    drop((again, shared));
}
