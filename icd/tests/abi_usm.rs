//! Memory that applications access by address: unified shared memory (cl_intel_unified_shared_memory), and buffers with
//! a device address (cl_ext_buffer_device_address).

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use common::ffi::{
    CL_EVENT_COMMAND_TYPE, CL_INVALID_ARG_INDEX, CL_INVALID_ARG_VALUE, CL_INVALID_BUFFER_SIZE, CL_INVALID_CONTEXT, CL_INVALID_OPERATION,
    CL_INVALID_PROPERTY, CL_INVALID_VALUE, CL_MEM_COPY_OVERLAP, CL_SUCCESS, CL_TRUE, cl_buffer_region, cl_command_queue, cl_context,
    cl_device_id, cl_event, cl_int, cl_kernel, cl_uint,
};
use common::objects::{Context, Event, Mem, Queue};
use common::{info, info_bytes, info_string, target};

const CL_DEVICE_EXTENSIONS: cl_uint = 0x1030;
const CAPABILITIES: [cl_uint; 5] = [0x4190, 0x4191, 0x4192, 0x4193, 0x4194];
const CL_MEM_ALLOC_FLAGS_INTEL: u64 = 0x4195;
const UNKNOWN: cl_uint = 0x4196;
const HOST: cl_uint = 0x4197;
const DEVICE: cl_uint = 0x4198;
const SHARED: cl_uint = 0x4199;
const ALLOC_TYPE: cl_uint = 0x419A;
const ALLOC_BASE: cl_uint = 0x419B;
const ALLOC_SIZE: cl_uint = 0x419C;
const ALLOC_DEVICE: cl_uint = 0x419D;
const ALLOC_FLAGS: cl_uint = 0x4195;
const PRIVATE_ADDRESS: u64 = 0x5000;
const DEVICE_ADDRESS: cl_uint = 0x5001;
const EXEC_INFO_USM_PTRS: cl_uint = 0x4203;
const EXEC_INFO_DEVICE_PTRS: cl_uint = 0x5002;

common::extension_functions! {
    fn clHostMemAllocINTEL(c: cl_context, props: *const u64, size: usize, align: cl_uint, err: *mut cl_int) -> *mut c_void;
    fn clDeviceMemAllocINTEL(c: cl_context, d: cl_device_id, props: *const u64, size: usize, align: cl_uint, err: *mut cl_int) -> *mut c_void;
    fn clSharedMemAllocINTEL(c: cl_context, d: cl_device_id, props: *const u64, size: usize, align: cl_uint, err: *mut cl_int) -> *mut c_void;
    fn clMemFreeINTEL(c: cl_context, p: *mut c_void) -> cl_int;
    fn clMemBlockingFreeINTEL(c: cl_context, p: *mut c_void) -> cl_int;
    fn clGetMemAllocInfoINTEL(c: cl_context, p: *const c_void, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clSetKernelArgMemPointerINTEL(k: cl_kernel, index: cl_uint, p: *const c_void) -> cl_int;
    fn clEnqueueMemFillINTEL(q: cl_command_queue, p: *mut c_void, pattern: *const c_void, width: usize, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueMemsetINTEL(q: cl_command_queue, p: *mut c_void, value: cl_int, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueMemcpyINTEL(q: cl_command_queue, blocking: cl_uint, to: *mut c_void, from: *const c_void, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueMigrateMemINTEL(q: cl_command_queue, p: *const c_void, size: usize, flags: u64, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueMemAdviseINTEL(q: cl_command_queue, p: *const c_void, size: usize, advice: cl_uint, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clSetKernelArgDevicePointerEXT(k: cl_kernel, index: cl_uint, address: u64) -> cl_int;
}

fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    FUNCTIONS.get_or_init(Functions::load).as_ref()
}

fn has(extension: &str) -> bool {
    let target = target();
    let all = info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS, size, value, ret));
    all.expect("extensions").split(' ').any(|name| name == extension)
}

/// Returns the functions of the extension, if the device has unified shared memory.
fn supported() -> Option<&'static Functions> {
    functions().filter(|_| has("cl_intel_unified_shared_memory"))
}

/// Unified shared memory of words, freed when dropped.
struct Words<'a>(&'static Functions, &'a Context, *mut u32, usize);

impl Drop for Words<'_> {
    fn drop(&mut self) {
        assert_eq!(self.0.clMemFreeINTEL(self.1.0, self.2.cast()), CL_SUCCESS);
    }
}

impl<'a> Words<'a> {
    fn new(functions: &'static Functions, context: &'a Context, count: usize) -> Self {
        let mut status = 1;
        let pointer = functions.clSharedMemAllocINTEL(context.0, target().device, null(), 4 * count, 0, &mut status);
        assert!(status == CL_SUCCESS && !pointer.is_null());
        Self(functions, context, pointer.cast(), count)
    }

    fn at(&self, index: usize) -> *mut c_void {
        self.2.wrapping_add(index).cast()
    }

    fn get(&mut self) -> &mut [u32] {
        // SAFETY: that many words were allocated, and no command uses them while the test does.
        unsafe { std::slice::from_raw_parts_mut(self.2, self.3) }
    }
}

fn command_type(event: cl_event) -> cl_uint {
    let event = Event(event);
    info(|size, value, ret| target().cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_TYPE, size, value, ret)).expect("a type")
}

#[test]
fn reported_capabilities_work() {
    let target = target();
    let unified = has("cl_intel_unified_shared_memory");
    for name in CAPABILITIES {
        let bits = info::<u64>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret));
        if unified && target.is_wgcl() {
            assert_eq!(bits, Ok(15));
        } else if target.is_wgcl() {
            assert_eq!(bits, Err(CL_INVALID_VALUE));
        }
    }
    if !target.is_wgcl() {
        return;
    }
    assert_eq!((unified, has("cl_ext_buffer_device_address")), (common::is_cpu(), true));
    let functions = functions().expect("all functions");
    if unified {
        return;
    }
    let context = Context::new();
    let mut status = 1;
    assert!(functions.clHostMemAllocINTEL(context.0, null(), 64, 0, &mut status).is_null());
    assert_eq!(status, CL_INVALID_OPERATION);
}

#[test]
fn allocation_queries_are_answered() {
    let Some(functions) = supported() else { return };
    let (context, device) = (Context::new(), target().device);
    let placed = [CL_MEM_ALLOC_FLAGS_INTEL, 4, 0];
    let mut status = 1;
    let host = functions.clHostMemAllocINTEL(context.0, null(), 1000, 0, &mut status);
    let own = functions.clDeviceMemAllocINTEL(context.0, device, null(), 1000, 64, &mut status);
    let shared = functions.clSharedMemAllocINTEL(context.0, device, placed.as_ptr(), 1000, 4, &mut status);
    let free = functions.clSharedMemAllocINTEL(context.0, null_mut(), null(), 1000, 128, &mut status);
    assert_eq!(status, CL_SUCCESS);
    let ask = |pointer: *mut c_void, name, width: usize| {
        let bytes =
            info_bytes(|size, value, ret| functions.clGetMemAllocInfoINTEL(context.0, pointer, name, size, value, ret)).expect("an answer");
        assert_eq!(bytes.len(), width);
        let mut all = [0; 8];
        all[..width].copy_from_slice(&bytes);
        u64::from_ne_bytes(all)
    };
    for (pointer, kind, device, flags) in
        [(host, HOST, null_mut(), 0), (own, DEVICE, device, 0), (shared, SHARED, device, 4), (free, SHARED, null_mut(), 0)]
    {
        assert!(!pointer.is_null() && pointer.addr().is_multiple_of(128), "the default alignment is that of the largest type");
        for inside in [0, 999] {
            let inside = pointer.wrapping_byte_add(inside);
            assert_eq!(ask(inside, ALLOC_TYPE, 4), u64::from(kind));
            assert_eq!((ask(inside, ALLOC_BASE, 8), ask(inside, ALLOC_SIZE, 8)), (pointer.addr() as u64, 1000));
            assert_eq!((ask(inside, ALLOC_DEVICE, 8), ask(inside, ALLOC_FLAGS, 8)), (device.addr() as u64, flags));
        }
        assert_eq!(ask(pointer.wrapping_byte_add(1000), ALLOC_TYPE, 4), u64::from(UNKNOWN));
        assert_eq!(functions.clMemFreeINTEL(context.0, pointer.wrapping_byte_add(8)), CL_INVALID_VALUE);
        assert_eq!(functions.clMemFreeINTEL(context.0, pointer), CL_SUCCESS);
        assert_eq!(functions.clMemFreeINTEL(context.0, pointer), CL_INVALID_VALUE, "it was freed");
    }
    let mut local = 0_u32;
    let outside = (&raw mut local).cast();
    assert_eq!([ALLOC_BASE, ALLOC_SIZE, ALLOC_DEVICE, ALLOC_FLAGS].map(|name| ask(outside, name, 8)), [0; 4]);
    assert_eq!(functions.clGetMemAllocInfoINTEL(context.0, outside, 7, 0, null_mut(), &mut 0), CL_INVALID_VALUE);
    assert_eq!(functions.clMemFreeINTEL(context.0, null_mut()), CL_SUCCESS);
    assert_eq!(functions.clMemBlockingFreeINTEL(context.0, null_mut()), CL_SUCCESS);
    assert_eq!(functions.clMemFreeINTEL(null_mut(), null_mut()), CL_INVALID_CONTEXT);
}

#[test]
fn invalid_allocations_are_rejected() {
    let Some(functions) = supported() else { return };
    let context = Context::new();
    let host = |properties: &[u64], size, alignment| {
        let mut status = 1;
        assert!(functions.clHostMemAllocINTEL(context.0, properties.as_ptr(), size, alignment, &mut status).is_null());
        status
    };
    assert_eq!(host(&[0], 0, 0), CL_INVALID_BUFFER_SIZE);
    assert_eq!(host(&[0], usize::MAX, 0), CL_INVALID_BUFFER_SIZE);
    assert_eq!([host(&[0], 64, 3), host(&[0], 64, 4096)], [CL_INVALID_VALUE; 2]);
    for properties in [&[7, 0, 0][..], &[CL_MEM_ALLOC_FLAGS_INTEL, 1, CL_MEM_ALLOC_FLAGS_INTEL, 1, 0], &[CL_MEM_ALLOC_FLAGS_INTEL, 2, 0]] {
        assert_eq!(host(properties, 64, 0), CL_INVALID_PROPERTY, "{properties:x?}");
    }
    let mut status = 1;
    let both = [CL_MEM_ALLOC_FLAGS_INTEL, 6, 0];
    assert!(functions.clSharedMemAllocINTEL(context.0, target().device, both.as_ptr(), 64, 0, &mut status).is_null());
    assert_eq!(status, CL_INVALID_PROPERTY);
    assert!(functions.clDeviceMemAllocINTEL(context.0, null_mut(), null(), 64, 0, &mut status).is_null());
    assert_eq!(status, common::ffi::CL_INVALID_DEVICE);
}

const SOURCE: &str = "typedef struct { global uint *next; uint value; } node;
kernel void scale(global uint *a, uint by) { size_t i = get_global_id(0); a[i] *= by; }
kernel void before(global uint *a, global uint *out) { *out = a[-2]; }
kernel void follow(global node *first, global uint *out) { out[0] = *first->next + first->value; *first->next = 99; }";

#[test]
fn kernels_dereference_pointer_arguments() {
    let Some(functions) = supported() else { return };
    let context = Context::new();
    let (queue, program) = (context.queue(0), context.build(SOURCE));
    let (mut words, mut out) = (Words::new(functions, &context, 64), Words::new(functions, &context, 4));
    words.get().copy_from_slice(&std::array::from_fn::<u32, 64, _>(|index| index as u32));
    let scale = program.kernel("scale");
    // The pointer is in the middle of the allocation. No command maps or transfers the allocation.
    assert_eq!(functions.clSetKernelArgMemPointerINTEL(scale.0, 0, words.at(32)), CL_SUCCESS);
    assert_eq!(scale.set(1, &3_u32), CL_SUCCESS);
    assert_eq!(queue.launch(&scale, &[32], None), CL_SUCCESS);
    queue.finish();
    let expected: Vec<u32> = (0..64).map(|index| if index < 32 { index } else { 3 * index }).collect();
    assert_eq!(words.get(), expected);
    // The argument may also point to ordinary memory of the process.
    let mut local = vec![7_u32; 16];
    assert_eq!(functions.clSetKernelArgMemPointerINTEL(scale.0, 0, local.as_mut_ptr().cast()), CL_SUCCESS);
    assert_eq!(queue.launch(&scale, &[16], None), CL_SUCCESS);
    queue.finish();
    assert_eq!(local, [21; 16]);

    let follow = program.kernel("follow");
    let node = Words::new(functions, &context, 4);
    // SAFETY: a structure of a pointer and a word, for which the memory is large enough.
    unsafe { node.2.cast::<(*mut c_void, u32)>().write((words.at(5), 1000)) };
    assert_eq!(functions.clSetKernelArgMemPointerINTEL(follow.0, 0, node.at(0)), CL_SUCCESS);
    assert_eq!(functions.clSetKernelArgMemPointerINTEL(follow.0, 1, out.at(1)), CL_SUCCESS);
    let set = |name, size, value: *const c_void| target().cl.clSetKernelExecInfo(follow.0, name, size, value);
    let pointers = [words.at(0), node.at(0)];
    assert_eq!(set(EXEC_INFO_USM_PTRS, size_of_val(&pointers), pointers.as_ptr().cast()), CL_SUCCESS);
    let yes = CL_TRUE;
    for indirect in [0x4200, 0x4201, 0x4202] {
        assert_eq!(set(indirect, 4, (&raw const yes).cast()), CL_SUCCESS);
        assert_eq!(set(indirect, 8, (&raw const pointers).cast()), CL_INVALID_VALUE);
    }
    assert_eq!(queue.launch(&follow, &[1], None), CL_SUCCESS);
    queue.finish();
    assert_eq!((out.get()[1], words.get()[5]), (1005, 99));

    assert_eq!(functions.clSetKernelArgMemPointerINTEL(scale.0, 9, null()), CL_INVALID_ARG_INDEX);
    assert_eq!(functions.clSetKernelArgMemPointerINTEL(scale.0, 1, words.at(0)), CL_INVALID_ARG_VALUE, "the argument is not a pointer");
    assert_eq!(functions.clSetKernelArgMemPointerINTEL(scale.0, 0, null()), CL_SUCCESS);
}

#[test]
fn commands_copy_and_fill() {
    let Some(functions) = supported() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let (mut words, other) = (Words::new(functions, &context, 64), Words::new(functions, &context, 64));
    let mut event: cl_event = null_mut();
    let pattern = [0x0101_0101_u32, 2];
    let fill = |pointer, width, size, event| {
        functions.clEnqueueMemFillINTEL(queue.0, pointer, pattern.as_ptr().cast(), width, size, 0, null(), event)
    };
    assert_eq!(fill(words.at(0), 8, 256, &mut event), CL_SUCCESS);
    assert_eq!(command_type(event), 0x4204);
    assert_eq!(functions.clEnqueueMemsetINTEL(queue.0, words.at(60), 0x1ff, 8, 0, null(), &mut event), CL_SUCCESS);
    assert_eq!(command_type(event), 0x4204);
    assert_eq!(functions.clEnqueueMemcpyINTEL(queue.0, 0, other.at(10), words.at(1), 40, 0, null(), &mut event), CL_SUCCESS);
    assert_eq!(command_type(event), 0x4205);
    for (flags, status) in [(0, CL_SUCCESS), (1, CL_SUCCESS), (2, CL_SUCCESS), (8, CL_INVALID_VALUE)] {
        assert_eq!(functions.clEnqueueMigrateMemINTEL(queue.0, words.at(0), 256, flags, 0, null(), null_mut()), status);
    }
    assert_eq!(functions.clEnqueueMigrateMemINTEL(queue.0, words.at(0), 256, 0, 0, null(), &mut event), CL_SUCCESS);
    assert_eq!(command_type(event), 0x4206);
    assert_eq!(functions.clEnqueueMemAdviseINTEL(queue.0, words.at(0), 256, 0, 0, null(), &mut event), CL_SUCCESS);
    assert_eq!(command_type(event), 0x4207);
    // Copy to and from ordinary memory.
    let mut local = [0_u32; 10];
    let place = local.as_mut_ptr().cast::<c_void>();
    assert_eq!(functions.clEnqueueMemcpyINTEL(queue.0, CL_TRUE, place, other.at(10), 40, 0, null(), null_mut()), CL_SUCCESS);
    assert_eq!(local, [2, 0x0101_0101, 2, 0x0101_0101, 2, 0x0101_0101, 2, 0x0101_0101, 2, 0x0101_0101]);
    assert_eq!(fill(place, 4, 8, null_mut()), CL_SUCCESS);
    assert_eq!(functions.clEnqueueMemcpyINTEL(queue.0, 0, words.at(0), place, 12, 0, null(), null_mut()), CL_SUCCESS);
    queue.finish();
    assert_eq!(
        (words.get()[..4].to_vec(), words.get()[59..].to_vec()),
        (vec![0x0101_0101, 0x0101_0101, 2, 2], vec![2, u32::MAX, u32::MAX, 0x0101_0101, 2])
    );

    assert_eq!(fill(null_mut(), 4, 8, null_mut()), CL_INVALID_VALUE);
    assert_eq!(fill(words.at(1), 8, 8, null_mut()), CL_INVALID_VALUE, "not aligned");
    assert_eq!([fill(words.at(0), 3, 6, null_mut()), fill(words.at(0), 8, 12, null_mut())], [CL_INVALID_VALUE; 2]);
    let copy = |to, from, size| functions.clEnqueueMemcpyINTEL(queue.0, 0, to, from, size, 0, null(), null_mut());
    assert_eq!([copy(null_mut(), words.at(0), 4), copy(words.at(0), null(), 4)], [CL_INVALID_VALUE; 2]);
    assert_eq!(copy(words.at(1), words.at(0), 8), CL_MEM_COPY_OVERLAP);
}

/// Enqueues a launch of `follow` that waits for the event. The kernel accesses one allocation only through the pointer
/// in `node`.
fn launch_after(context: &Context, queue: &Queue, gate: &Event, (node, out): (&Words<'_>, &Words<'_>)) {
    let kernel = context.build(SOURCE).kernel("follow");
    assert_eq!(node.0.clSetKernelArgMemPointerINTEL(kernel.0, 0, node.at(0)), CL_SUCCESS);
    assert_eq!(out.0.clSetKernelArgMemPointerINTEL(kernel.0, 1, out.at(0)), CL_SUCCESS);
    let launched = target().cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &1, null(), 1, &gate.0, null_mut());
    assert_eq!(launched, CL_SUCCESS);
}

#[test]
fn a_blocking_free_waits_for_all_users_of_the_memory() {
    let Some(functions) = supported() else { return };
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let (node, mut out) = (Words::new(functions, &context, 4), Words::new(functions, &context, 4));
    let mut status = 1;
    let reached = functions.clSharedMemAllocINTEL(context.0, null_mut(), null(), 1 << 20, 0, &mut status);
    // SAFETY: a word of the allocation, and a structure of a pointer and a word.
    unsafe {
        reached.cast::<u32>().write(4);
        node.2.cast::<(*mut c_void, u32)>().write((reached, 30));
    }
    let gate = Event(cl.clCreateUserEvent(context.0, &mut status));
    launch_after(&context, &queue, &gate, (&node, &out));
    let begin = Instant::now();
    let wait = Duration::from_millis(100);
    thread::scope(|scope| {
        let gate = &gate;
        scope.spawn(move || {
            thread::sleep(wait);
            assert_eq!(cl.clSetUserEventStatus(gate.0, 0), CL_SUCCESS);
        });
        assert_eq!(functions.clMemBlockingFreeINTEL(context.0, reached), CL_SUCCESS);
    });
    assert!(begin.elapsed() >= wait, "the free did not wait for the launch");
    assert_eq!(out.get()[0], 34);
    assert_eq!(functions.clMemBlockingFreeINTEL(context.0, reached), CL_INVALID_VALUE);
}

#[test]
fn memory_in_use_by_a_command_outlives_its_free() {
    let Some(functions) = supported() else { return };
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let mut out = Words::new(functions, &context, 1 << 18);
    let source = Words::new(functions, &context, 1 << 18);
    let mut status = 1;
    let gate = Event(cl.clCreateUserEvent(context.0, &mut status));
    assert_eq!(functions.clEnqueueMemsetINTEL(queue.0, source.at(0), 5, 1 << 20, 1, &gate.0, null_mut()), CL_SUCCESS);
    assert_eq!(functions.clEnqueueMemcpyINTEL(queue.0, 0, out.at(0), source.at(0), 1 << 20, 0, null(), null_mut()), CL_SUCCESS);
    drop(source);
    assert_eq!(cl.clSetUserEventStatus(gate.0, 0), CL_SUCCESS);
    queue.finish();
    assert!(out.get().iter().all(|&word| word == 0x0505_0505));
}

/// Creates a buffer with a device address. Returns the buffer and the address.
fn addressed(context: &Context, size: usize) -> (Mem, u64) {
    let cl = &target().cl;
    let mut status = 1;
    let mem = Mem(cl.clCreateBufferWithProperties(context.0, [PRIVATE_ADDRESS, 1, 0].as_ptr(), 0, size, null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS);
    let address = address_of(&mem).expect("an address");
    (mem, address)
}

fn address_of(mem: &Mem) -> Result<u64, cl_int> {
    info(|size, value, ret| target().cl.clGetMemObjectInfo(mem.0, DEVICE_ADDRESS, size, value, ret))
}

#[test]
fn addresses_of_buffers_are_arguments_and_pointers_in_memory() {
    if !has("cl_ext_buffer_device_address") {
        return;
    }
    let (cl, functions) = (&target().cl, functions().expect("the function"));
    let context = Context::new();
    let (queue, program) = (context.queue(0), context.build(SOURCE));
    let ((mem, address), (node, node_address)) = (addressed(&context, 4096), addressed(&context, 64));
    assert!(address != 0 && address != node_address);
    let out = context.buffer(64);
    queue.write(&mem, &(0..1024).collect::<Vec<u32>>());
    // The pointer is in the middle of the buffer. The kernel reads memory before the pointer.
    let before = program.kernel("before");
    assert_eq!(functions.clSetKernelArgDevicePointerEXT(before.0, 0, address + 40), CL_SUCCESS);
    before.set_mem(1, &out);
    assert_eq!(queue.launch(&before, &[1], None), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&out, 1), [8]);
    // The kernel `follow` accesses the buffer through an address that the host wrote to another buffer.
    queue.write(&node, &[address + 400, 5]);
    let follow = program.kernel("follow");
    follow.set_mem(0, &node);
    follow.set_mem(1, &out);
    let set = |size, value: *const c_void| cl.clSetKernelExecInfo(follow.0, EXEC_INFO_DEVICE_PTRS, size, value);
    // CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT does not require SVM, which devices lack on some hosts.
    assert_eq!(set(8, (&raw const address).cast()), CL_SUCCESS);
    assert_eq!(set(5, (&raw const address).cast()), CL_INVALID_VALUE);
    assert_eq!(queue.launch(&follow, &[1], None), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&out, 1), [105]);
    assert_eq!(queue.read::<u32>(&mem, 101)[100], 99);

    let region = cl_buffer_region { origin: 1024, size: 256 };
    let mut status = 1;
    let part = Mem(cl.clCreateSubBuffer(mem.0, 0, 0x1220, (&raw const region).cast(), &mut status));
    assert_eq!((status, address_of(&part)), (CL_SUCCESS, Ok(address + 1024)));
    assert_eq!(address_of(&out), Err(CL_INVALID_OPERATION), "it was created without an address");
    assert_eq!(functions.clSetKernelArgDevicePointerEXT(before.0, 0, 0), CL_SUCCESS);
    assert_eq!(functions.clSetKernelArgDevicePointerEXT(before.0, 0, address + 4097), CL_INVALID_ARG_VALUE);
    assert_eq!(functions.clSetKernelArgDevicePointerEXT(before.0, 7, address), CL_INVALID_ARG_INDEX);
    let scale = program.kernel("scale");
    assert_eq!(functions.clSetKernelArgDevicePointerEXT(scale.0, 1, address), CL_INVALID_ARG_INDEX, "the argument is not a pointer");
    for properties in [&[PRIVATE_ADDRESS, 2, 0][..], &[PRIVATE_ADDRESS, 1, PRIVATE_ADDRESS, 1, 0], &[7, 1, 0]] {
        let mem = cl.clCreateBufferWithProperties(context.0, properties.as_ptr(), 0, 64, null_mut(), &mut status);
        assert!(mem.is_null() && status == CL_INVALID_PROPERTY, "{properties:x?}");
    }
    drop((part, mem));
    if target().is_wgcl() {
        assert_eq!(functions.clSetKernelArgDevicePointerEXT(before.0, 0, address), CL_INVALID_ARG_VALUE, "the buffer was released");
    }
}
