//! Shared virtual memory: pointers that the host and kernels exchange, and the commands on such memory.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use common::commands::{Commands, functions};
use common::ffi::{
    CL_EVENT_COMMAND_TYPE, CL_INVALID_ARG_INDEX, CL_INVALID_ARG_VALUE, CL_INVALID_BUFFER_SIZE, CL_INVALID_CONTEXT,
    CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_KERNEL, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_COPY_OVERLAP,
    CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_SUCCESS, CL_TRUE, cl_command_queue, cl_int, cl_uint,
};
use common::objects::{Context, Event, Kernel, Queue};
use common::{info, target};

const CL_DEVICE_SVM_CAPABILITIES: cl_uint = 0x1053;
const CL_KERNEL_EXEC_INFO_SVM_PTRS: cl_uint = 0x11B6;
const CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM: cl_uint = 0x11B7;
const CL_MEM_USES_SVM_POINTER: cl_uint = 0x1109;

const CL_DEVICE_SVM_FINE_GRAIN_BUFFER: u64 = 1 << 1;
const CL_DEVICE_SVM_FINE_GRAIN_SYSTEM: u64 = 1 << 2;
const CL_MEM_SVM_FINE_GRAIN_BUFFER: u64 = 1 << 10;
const CL_MEM_SVM_ATOMICS: u64 = 1 << 11;

fn capabilities() -> u64 {
    let target = target();
    let bits = info::<u64>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_SVM_CAPABILITIES, size, value, ret));
    bits.unwrap_or(0)
}

/// Whether the host supports reserving addresses, which wgcl's shared virtual memory needs on all devices.
const HOST_HAS_SVM: bool = cfg!(all(unix, target_pointer_width = "64"));

/// Whether the device has shared virtual memory.
fn supported() -> bool {
    capabilities() & 1 != 0
}

/// Shared memory, freed when dropped.
struct Shared<'a> {
    context: &'a Context,
    start: *mut c_void,
    bytes: usize,
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        target().cl.clSVMFree(self.context.0, self.start);
    }
}

impl<'a> Shared<'a> {
    fn new(context: &'a Context, bytes: usize) -> Self {
        let start = target().cl.clSVMAlloc(context.0, CL_MEM_READ_WRITE, bytes, 0);
        assert!(!start.is_null(), "clSVMAlloc({bytes})");
        Self { context, start, bytes }
    }

    /// Returns the address of a byte.
    fn at(&self, offset: usize) -> *mut c_void {
        assert!(offset < self.bytes);
        self.start.wrapping_byte_add(offset)
    }

    /// Maps the memory and passes it to `f`.
    fn with<T: Copy, R>(&self, queue: &Queue, f: impl FnOnce(&mut [T]) -> R) -> R {
        let cl = &target().cl;
        let status = cl.clEnqueueSVMMap(queue.0, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, self.start, self.bytes, 0, null(), null_mut());
        assert_eq!(status, CL_SUCCESS, "clEnqueueSVMMap");
        // SAFETY: the memory is mapped, large enough and aligned for every type.
        let result = f(unsafe { std::slice::from_raw_parts_mut(self.start.cast::<T>(), self.bytes / size_of::<T>()) });
        assert_eq!(cl.clEnqueueSVMUnmap(queue.0, self.start, 0, null(), null_mut()), CL_SUCCESS, "clEnqueueSVMUnmap");
        result
    }
}

fn set(kernel: &Kernel, index: cl_uint, pointer: *const c_void) {
    assert_eq!(target().cl.clSetKernelArgSVMPointer(kernel.0, index, pointer), CL_SUCCESS, "clSetKernelArgSVMPointer({index})");
}

fn set_svm_pointers(kernel: &Kernel, pointers: &[*mut c_void]) -> cl_int {
    target().cl.clSetKernelExecInfo(kernel.0, CL_KERNEL_EXEC_INFO_SVM_PTRS, size_of_val(pointers), pointers.as_ptr().cast())
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Node {
    next: u64,
    value: u32,
    padding: u32,
}

const LISTS: &str = "
typedef struct node { global struct node *next; uint value; uint padding; } node;

// Sums a list, and increments each value.
kernel void walk(global node *head, global uint *sum)
{
    uint total = 0;
    for (global node *n = head; n; n = n->next) {
        total += n->value;
        n->value += 1;
    }
    sum[0] = total;
}

// Builds a list of every third node, backwards.
kernel void make(global node *nodes, global ulong *head, uint count)
{
    global node *last = 0;
    for (uint k = 0; k < count; k += 3) {
        nodes[k].next = last;
        nodes[k].value = k;
        last = &nodes[k];
    }
    head[0] = (ulong)last;
}

kernel void around(global uint *middle, global ulong *address)
{
    size_t i = get_global_id(0);
    middle[(int)i - 4] += 100 + i;
    if (i == 0) {
        address[0] = (ulong)middle;
        address[1] = (ulong)(middle + 3);
    }
}

typedef struct { global uint *a; global uint *b; } pair;
kernel void pairs(global pair *p, global uint *out)
{
    size_t i = get_global_id(0);
    out[i] = p->a[i] * p->b[i];
    p->b[i] = 7;
}
";

#[test]
fn lists_are_exchanged_in_both_directions() {
    if !supported() {
        assert!(!(target().is_wgcl() && HOST_HAS_SVM), "not reported");
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(LISTS);
    let (walk, make) = (program.kernel("walk"), program.kernel("make"));
    let nodes = Shared::new(&context, 100 * size_of::<Node>());
    let sum = context.buffer(4);
    // The host builds a list of every second node, from the last to the first.
    let address = |index: usize| nodes.at(index * size_of::<Node>()).addr() as u64;
    nodes.with(&queue, |list: &mut [Node]| {
        for (index, node) in list.iter_mut().enumerate() {
            let next = if index >= 2 { address(index - 2) } else { 0 };
            *node = Node { next, value: index as u32, padding: 0 };
        }
    });
    let head = nodes.at(98 * size_of::<Node>());
    set(&walk, 0, head);
    walk.set_mem(1, &sum);
    for round in 0..3u32 {
        assert_eq!(queue.launch(&walk, &[1], None), CL_SUCCESS);
        assert_eq!(queue.read::<u32>(&sum, 1), [(0..50).map(|k| 2 * k).sum::<u32>() + 50 * round]);
    }
    let values = nodes.with(&queue, |list: &mut [Node]| list.iter().map(|node| node.value).collect::<Vec<_>>());
    assert!(values.iter().enumerate().all(|(index, value)| *value == index as u32 + if index % 2 == 0 { 3 } else { 0 }), "{values:?}");

    // A kernel builds a list, and the host follows it.
    let start = Shared::new(&context, 8);
    set(&make, 0, nodes.start);
    set(&make, 1, start.start);
    assert_eq!(make.set(2, &100u32), CL_SUCCESS);
    assert_eq!(queue.launch(&make, &[1], None), CL_SUCCESS);
    let first = start.with(&queue, |words: &mut [u64]| words[0]);
    assert_eq!(first, address(99));
    let seen = nodes.with(&queue, |list: &mut [Node]| {
        let (mut seen, mut at) = (Vec::new(), first);
        while at != 0 && seen.len() < 100 {
            let index = (at - list.as_ptr().addr() as u64) as usize / size_of::<Node>();
            seen.push(list[index].value);
            at = list[index].next;
        }
        seen
    });
    assert_eq!(seen, (0..34).rev().map(|k| 3 * k).collect::<Vec<u32>>());
}

#[test]
fn pointers_may_point_into_the_middle_and_are_the_hosts_addresses() {
    if !supported() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(LISTS);
    let around = program.kernel("around");
    let memory = Shared::new(&context, 64);
    let address = context.buffer(16);
    memory.with(&queue, |words: &mut [u32]| words.iter_mut().enumerate().for_each(|(index, word)| *word = index as u32));
    set(&around, 0, memory.at(20));
    around.set_mem(1, &address);
    assert_eq!(queue.launch(&around, &[8], None), CL_SUCCESS);
    let at = memory.at(20).addr() as u64;
    assert_eq!(queue.read::<u64>(&address, 2), [at, at + 12]);
    let words = memory.with(&queue, |words: &mut [u32]| words.to_vec());
    let want: Vec<u32> = (0..16).map(|k| if (1..9).contains(&k) { k + 100 + k - 1 } else { k }).collect();
    assert_eq!(words, want);
}

#[test]
fn memory_reached_only_through_pointers_is_listed() {
    if !supported() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(LISTS);
    let pairs = program.kernel("pairs");
    let (a, b, holder) = (Shared::new(&context, 4096), Shared::new(&context, 4096), Shared::new(&context, 16));
    let out = context.buffer(64);
    a.with(&queue, |words: &mut [u32]| words.iter_mut().enumerate().for_each(|(index, word)| *word = index as u32));
    b.with(&queue, |words: &mut [u32]| words.fill(3));
    for offset in [0, 40] {
        holder.with(&queue, |pointers: &mut [u64]| {
            pointers[0] = a.at(offset).addr() as u64;
            pointers[1] = b.at(0).addr() as u64;
        });
        set(&pairs, 0, holder.start);
        pairs.set_mem(1, &out);
        assert_eq!(set_svm_pointers(&pairs, &[a.start, b.at(100)]), CL_SUCCESS);
        assert_eq!(queue.launch(&pairs, &[16], None), CL_SUCCESS);
        let factor = if offset == 0 { 3 } else { 7 };
        let want: Vec<u32> = (0..16).map(|k| factor * (k + offset as u32 / 4)).collect();
        assert_eq!(queue.read::<u32>(&out, 16), want);
    }
    let words = b.with(&queue, |words: &mut [u32]| words.to_vec());
    assert!(words.iter().enumerate().all(|(index, &word)| word == if index < 16 { 7 } else { 3 }));
}

#[test]
fn commands_move_bytes() {
    if !supported() {
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let (a, b) = (Shared::new(&context, 256), Shared::new(&context, 256));
    let host: Vec<u8> = (0..=255).collect();
    let mut back = vec![0u8; 256];
    let copy = |dst: *mut c_void, src: *const c_void, size| cl.clEnqueueSVMMemcpy(queue.0, CL_TRUE, dst, src, size, 0, null(), null_mut());
    assert_eq!(copy(a.start, host.as_ptr().cast(), 256), CL_SUCCESS, "host to shared");
    assert_eq!(copy(b.at(16), a.at(32), 100), CL_SUCCESS, "shared to shared");
    let pattern = 0xabcdu16;
    let status = cl.clEnqueueSVMMemFill(queue.0, b.start, (&raw const pattern).cast(), 2, 16, 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    let list = [a.start.cast_const(), b.at(3).cast_const()];
    let mut event = null_mut();
    assert_eq!(cl.clEnqueueSVMMigrateMem(queue.0, 2, list.as_ptr(), null(), 0, 0, null(), &mut event), CL_SUCCESS);
    let event = Event(event);
    assert_eq!(info::<u32>(|size, value, ret| cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_TYPE, size, value, ret)), Ok(0x120E));
    assert_eq!(copy(back.as_mut_ptr().cast(), b.start, 116), CL_SUCCESS, "shared to host");
    assert_eq!(&back[..4], [0xcd, 0xab, 0xcd, 0xab]);
    assert_eq!(back[16..116], host[32..132]);
    let mut third = vec![0u8; 116];
    assert_eq!(copy(third.as_mut_ptr().cast(), back.as_ptr().cast(), 116), CL_SUCCESS, "host to host");
    assert_eq!(third, back[..116]);
    let words = b.with(&queue, |words: &mut [u8]| words[16..116].to_vec());
    assert_eq!(words, host[32..132]);

    assert_eq!(copy(a.at(8), a.at(0), 16), CL_MEM_COPY_OVERLAP);
    assert_eq!(copy(null_mut(), a.start, 16), CL_INVALID_VALUE);
    assert_eq!(copy(a.start, null(), 16), CL_INVALID_VALUE);
    assert_eq!(copy(a.at(128), b.start, 256), CL_INVALID_VALUE, "beyond the end");
    let fill = |pointer, pattern: *const c_void, width, size| {
        cl.clEnqueueSVMMemFill(queue.0, pointer, pattern, width, size, 0, null(), null_mut())
    };
    let bytes = [0u64; 16];
    assert_eq!(fill(a.at(2), bytes.as_ptr().cast(), 4, 16), CL_INVALID_VALUE, "not aligned to the pattern");
    assert_eq!(fill(a.start, null(), 4, 16), CL_INVALID_VALUE);
    assert_eq!(fill(a.start, bytes.as_ptr().cast(), 3, 15), CL_INVALID_VALUE);
    assert_eq!(fill(a.start, bytes.as_ptr().cast(), 4, 15), CL_INVALID_VALUE);
    assert_eq!(fill(null_mut(), bytes.as_ptr().cast(), 4, 16), CL_INVALID_VALUE);
    let map = |flags, pointer, size, n| cl.clEnqueueSVMMap(queue.0, CL_TRUE, flags, pointer, size, n, null(), null_mut());
    assert_eq!(map(CL_MAP_READ, null_mut(), 16, 0), CL_INVALID_VALUE);
    assert_eq!(map(CL_MAP_READ, a.start, 0, 0), CL_INVALID_VALUE);
    assert_eq!(map(1 << 20, a.start, 16, 0), CL_INVALID_VALUE);
    assert_eq!(map(CL_MAP_READ, a.start, 16, 1), CL_INVALID_EVENT_WAIT_LIST);
    assert_eq!(cl.clEnqueueSVMUnmap(queue.0, null_mut(), 0, null(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clEnqueueSVMMigrateMem(queue.0, 0, list.as_ptr(), null(), 0, 0, null(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clEnqueueSVMMigrateMem(queue.0, 2, null(), null(), 0, 0, null(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clEnqueueSVMMigrateMem(queue.0, 2, list.as_ptr(), null(), 1 << 9, 0, null(), null_mut()), CL_INVALID_VALUE);
    let stranger = Context::new();
    let mut status = 1;
    let foreign = Event(cl.clCreateUserEvent(stranger.0, &mut status));
    let status = cl.clEnqueueSVMMap(queue.0, 0, CL_MAP_READ, a.start, 16, 1, &foreign.0, null_mut());
    assert_eq!(status, CL_INVALID_CONTEXT);
}

static FREED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn freed(_queue: cl_command_queue, count: cl_uint, pointers: *mut *mut c_void, context: *mut c_void) {
    for index in 0..count as usize {
        // SAFETY: the list has that many pointers.
        target().cl.clSVMFree(context, unsafe { *pointers.add(index) });
    }
    FREED.fetch_add(count, Ordering::SeqCst);
}

#[test]
fn memory_is_freed_in_the_order_of_the_queue() {
    if !supported() {
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let mut pointers: Vec<*mut c_void> = (1..=8).map(|k| cl.clSVMAlloc(context.0, CL_MEM_READ_WRITE, k * 1000, 0)).collect();
    assert!(pointers.iter().all(|pointer| !pointer.is_null() && pointer.addr().is_multiple_of(128)), "{pointers:?}");
    let mut sorted = pointers.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 8);
    let (first, second) = pointers.split_at_mut(4);
    let status = cl.clEnqueueSVMFree(queue.0, 4, first.as_mut_ptr(), Some(freed), context.0, 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    let mut event = null_mut();
    assert_eq!(cl.clEnqueueSVMFree(queue.0, 4, second.as_mut_ptr(), None, null_mut(), 0, null(), &mut event), CL_SUCCESS);
    let event = Event(event);
    assert_eq!(cl.clWaitForEvents(1, &event.0), CL_SUCCESS);
    assert_eq!(info::<u32>(|size, value, ret| cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_TYPE, size, value, ret)), Ok(0x1209));
    assert_eq!(FREED.load(Ordering::SeqCst), 4);
    if target().is_wgcl() && capabilities() & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM == 0 {
        // Freed memory is no longer shared virtual memory, so it cannot be mapped.
        let status = cl.clEnqueueSVMMap(queue.0, CL_TRUE, CL_MAP_READ, pointers[7], 16, 0, null(), null_mut());
        assert_eq!(status, CL_INVALID_VALUE);
    }
    assert_eq!(cl.clEnqueueSVMFree(queue.0, 1, null_mut(), None, null_mut(), 0, null(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clEnqueueSVMFree(queue.0, 0, pointers.as_mut_ptr(), None, null_mut(), 0, null(), null_mut()), CL_INVALID_VALUE);
    cl.clSVMFree(context.0, null_mut());
}

#[test]
fn a_buffer_may_alias_shared_memory() {
    if !supported() {
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let memory = Shared::new(&context, 1024);
    let buffer = context.buffer_with(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 1024 - 20, memory.at(20));
    let uses = info::<u32>(|size, value, ret| cl.clGetMemObjectInfo(buffer.0, CL_MEM_USES_SVM_POINTER, size, value, ret));
    assert_eq!(uses, Ok(CL_TRUE));
    let plain = context.buffer(16);
    assert_eq!(info::<u32>(|size, value, ret| cl.clGetMemObjectInfo(plain.0, CL_MEM_USES_SVM_POINTER, size, value, ret)), Ok(0));
    memory.with(&queue, |words: &mut [u32]| words.fill(1));
    let program = context.build("kernel void add(global uint *a, global uint *b) { a[get_global_id(0)] += 1 + (a + 5 == b); }");
    let add = program.kernel("add");
    set(&add, 0, memory.start);
    add.set_mem(1, &buffer);
    assert_eq!(queue.launch(&add, &[16], None), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&buffer, 12), [[3; 11].as_slice(), &[1]].concat());
    add.set_mem(0, &buffer);
    assert_eq!(queue.launch(&add, &[1], None), CL_SUCCESS);
    let words = memory.with(&queue, |words: &mut [u32]| words[..8].to_vec());
    assert_eq!(words, [3, 3, 3, 3, 3, 4, 3, 3]);
}

#[test]
fn invalid_arguments_are_rejected() {
    if !supported() {
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    assert!(cl.clSVMAlloc(context.0, CL_MEM_READ_WRITE, 0, 0).is_null(), "no bytes");
    for (bytes, alignment) in [(64, 128), (100, 4096), (1 << 21, 1 << 16)] {
        let pointer = cl.clSVMAlloc(context.0, CL_MEM_READ_WRITE, bytes, alignment);
        assert!(!target().is_wgcl() || (!pointer.is_null() && pointer.addr().is_multiple_of(alignment as usize)), "{pointer:p}");
        cl.clSVMFree(context.0, pointer);
    }
    assert!(cl.clSVMAlloc(context.0, CL_MEM_READ_WRITE, 64, 3).is_null(), "an alignment that is not a power of two");
    assert!(cl.clSVMAlloc(context.0, CL_MEM_READ_WRITE, usize::MAX / 2, 0).is_null());
    assert!(cl.clSVMAlloc(context.0, 1 << 40, 64, 0).is_null());
    assert!(cl.clSVMAlloc(null_mut(), CL_MEM_READ_WRITE, 64, 0).is_null());
    let program = context.build(LISTS);
    let walk = program.kernel("walk");
    let memory = Shared::new(&context, 64);
    let own = 5u64;
    assert_eq!(cl.clSetKernelArgSVMPointer(walk.0, 2, memory.start), CL_INVALID_ARG_INDEX);
    assert_eq!(cl.clSetKernelArgSVMPointer(null_mut(), 0, memory.start), CL_INVALID_KERNEL);
    assert_eq!(cl.clSetKernelArgSVMPointer(walk.0, 0, null()), CL_SUCCESS);
    let info = |name, size, value: *const c_void| cl.clSetKernelExecInfo(walk.0, name, size, value);
    assert_eq!(info(0xdead, 8, (&raw const own).cast()), CL_INVALID_VALUE);
    assert_eq!(info(CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, null()), CL_INVALID_VALUE);
    assert_eq!(info(CL_KERNEL_EXEC_INFO_SVM_PTRS, 7, (&raw const own).cast()), CL_INVALID_VALUE);
    assert_eq!(set_svm_pointers(&walk, &[memory.start]), CL_SUCCESS);
    assert_eq!(info(CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, null()), CL_SUCCESS, "an empty list removes the earlier pointers");
    let mut status = 1;
    let larger = cl.clCreateBuffer(context.0, CL_MEM_USE_HOST_PTR, 65, memory.start, &mut status);
    assert!(larger.is_null());
    assert_eq!(status, CL_INVALID_BUFFER_SIZE);
    if target().is_wgcl() {
        let everywhere = capabilities() & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM != 0;
        let expected = |error| if everywhere { CL_SUCCESS } else { error };
        assert_eq!(cl.clSetKernelArgSVMPointer(walk.0, 0, (&raw const own).cast()), expected(CL_INVALID_ARG_VALUE));
        let (none, yes): (cl_uint, cl_uint) = (0, 1);
        let answer = info(CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 4, (&raw const yes).cast());
        assert_eq!(answer, expected(CL_INVALID_OPERATION));
        assert_eq!(info(CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 4, (&raw const none).cast()), CL_SUCCESS);
    }
}

#[test]
fn fine_grained_memory_is_coherent_with_the_host() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let has = capabilities();
    let allocate = |flags| cl.clSVMAlloc(context.0, CL_MEM_READ_WRITE | flags, 64, 0);
    assert!(allocate(CL_MEM_SVM_ATOMICS).is_null(), "atomics of coarse-grained memory");
    let start = allocate(CL_MEM_SVM_FINE_GRAIN_BUFFER);
    assert_eq!(start.is_null(), has & CL_DEVICE_SVM_FINE_GRAIN_BUFFER == 0);
    if start.is_null() {
        return;
    }
    let memory = Shared { context: &context, start, bytes: 64 };
    // SAFETY: the allocation has 16 words, which the host may access while no command does.
    let words = unsafe { std::slice::from_raw_parts_mut(memory.start.cast::<u32>(), 16) };
    words.fill(1);
    let pattern = 7_u32;
    let pattern = (&raw const pattern).cast();
    assert_eq!(cl.clEnqueueSVMMemFill(queue.0, memory.at(32), pattern, 4, 16, 0, null(), null_mut()), CL_SUCCESS);
    queue.finish();
    assert_eq!(*words, [1, 1, 1, 1, 1, 1, 1, 1, 7, 7, 7, 7, 1, 1, 1, 1]);
    if has & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM != 0 {
        let mut own = vec![0_u32; 8];
        let address = own.as_mut_ptr();
        assert_eq!(cl.clEnqueueSVMMap(queue.0, CL_TRUE, CL_MAP_WRITE, address.cast(), 32, 0, null(), null_mut()), CL_SUCCESS);
        assert_eq!(cl.clEnqueueSVMUnmap(queue.0, address.cast(), 0, null(), null_mut()), CL_SUCCESS);
        assert_eq!(cl.clEnqueueSVMMemFill(queue.0, address.wrapping_add(2).cast(), pattern, 4, 8, 0, null(), null_mut()), CL_SUCCESS);
        let around = context.build(LISTS).kernel("around");
        set(&around, 0, address.wrapping_add(4).cast());
        set(&around, 1, memory.start);
        assert_eq!(queue.launch(&around, &[4], None), CL_SUCCESS);
        queue.finish();
        assert_eq!(own, [100, 101, 109, 110, 0, 0, 0, 0]);
        let middle = u64::from(words[0]) | u64::from(words[1]) << 32;
        assert_eq!(middle, address.wrapping_add(4).addr() as u64);
    }
}

#[test]
fn recorded_copies_move_bytes_between_the_host_and_shared_memory() {
    let Some(functions) = functions().filter(|_| supported()) else { return };
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let (a, b) = (Shared::new(&context, 64), Shared::new(&context, 64));
    let (mut host, mut back) = (vec![1u8; 64], vec![0u8; 64]);
    let commands = Commands::new(functions, &queue);
    let copy = |dst: *mut c_void, src: *const c_void, size| {
        functions.clCommandSVMMemcpyKHR(commands.0, null_mut(), null(), dst, src, size, 0, null(), null_mut(), null_mut())
    };
    assert_eq!(copy(a.start, host.as_ptr().cast(), 64), CL_SUCCESS, "host to shared");
    assert_eq!(copy(b.at(8), a.at(16), 32), CL_SUCCESS, "shared to shared");
    let fill = 9u8;
    let pattern = (&raw const fill).cast();
    let status =
        functions.clCommandSVMMemFillKHR(commands.0, null_mut(), null(), b.start, pattern, 1, 8, 0, null(), null_mut(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(copy(back.as_mut_ptr().cast(), b.start, 40), CL_SUCCESS, "shared to host");
    assert_eq!(copy(null_mut(), a.start, 16), CL_INVALID_VALUE);
    assert_eq!(copy(a.at(8), a.at(0), 16), CL_MEM_COPY_OVERLAP);
    commands.finalize();
    for round in 1..=3 {
        // The copy must use the contents of the host memory at the time when the commands run, and not at the time of
        // recording.
        host.fill(round);
        commands.enqueue();
        assert_eq!(cl.clFinish(queue.0), CL_SUCCESS);
        assert_eq!(back[..8], [9; 8], "round {round}");
        assert_eq!(back[8..40], [round; 32], "round {round}");
    }
    assert_eq!(back[40..], [0; 24]);
}
