//! Buffers: flags and host pointers, transfers with offsets, copies, fills, maps, rectangles, sub-buffers, and rejected
//! arguments.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use common::ffi::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_MEM_BASE_ADDR_ALIGN, CL_FALSE, CL_INVALID_BUFFER_SIZE,
    CL_INVALID_HOST_PTR, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_READ, CL_MAP_WRITE,
    CL_MAP_WRITE_INVALIDATE_REGION, CL_MEM_ALLOC_HOST_PTR, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_CONTEXT, CL_MEM_COPY_HOST_PTR,
    CL_MEM_COPY_OVERLAP, CL_MEM_FLAGS, CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_PTR, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY,
    CL_MEM_MAP_COUNT, CL_MEM_OBJECT_BUFFER, CL_MEM_OFFSET, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_REFERENCE_COUNT, CL_MEM_SIZE,
    CL_MEM_TYPE, CL_MEM_USE_HOST_PTR, CL_MEM_WRITE_ONLY, CL_MISALIGNED_SUB_BUFFER_OFFSET, CL_SUCCESS, CL_TRUE, cl_bitfield,
    cl_buffer_region, cl_int, cl_mem, cl_uint,
};
use common::objects::{Context, Mem, Queue};
use common::{info, target};

fn mem_info<T: Copy + Default>(mem: &Mem, name: cl_uint) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetMemObjectInfo(mem.0, name, size, value, ret))
}

fn try_buffer(context: &Context, flags: cl_bitfield, size: usize, host: *mut c_void) -> cl_int {
    let cl = &target().cl;
    let mut status = 1;
    let mem = cl.clCreateBuffer(context.0, flags, size, host, &mut status);
    assert_eq!(mem.is_null(), status != CL_SUCCESS);
    if !mem.is_null() {
        assert_eq!(cl.clReleaseMemObject(mem), CL_SUCCESS);
    }
    status
}

fn read_at(queue: &Queue, mem: &Mem, offset: usize, out: &mut [u8]) -> cl_int {
    target().cl.clEnqueueReadBuffer(queue.0, mem.0, CL_TRUE, offset, out.len(), out.as_mut_ptr().cast(), 0, null(), null_mut())
}

fn write_at(queue: &Queue, mem: &Mem, offset: usize, data: &[u8]) -> cl_int {
    target().cl.clEnqueueWriteBuffer(queue.0, mem.0, CL_TRUE, offset, data.len(), data.as_ptr().cast(), 0, null(), null_mut())
}

fn map(queue: &Queue, mem: &Mem, flags: cl_bitfield, offset: usize, size: usize) -> Result<*mut u8, cl_int> {
    let mut status = 1;
    let pointer = target().cl.clEnqueueMapBuffer(queue.0, mem.0, CL_TRUE, flags, offset, size, 0, null(), null_mut(), &mut status);
    assert_eq!(pointer.is_null(), status != CL_SUCCESS);
    if status == CL_SUCCESS { Ok(pointer.cast()) } else { Err(status) }
}

fn unmap(queue: &Queue, mem: &Mem, pointer: *mut u8) -> cl_int {
    target().cl.clEnqueueUnmapMemObject(queue.0, mem.0, pointer.cast(), 0, null(), null_mut())
}

/// Returns the bytes of a mapping.
fn mapped<'a>(pointer: *mut u8, size: usize) -> &'a mut [u8] {
    // SAFETY: the driver mapped `size` bytes at `pointer`, and each test drops the slice before it unmaps.
    unsafe { std::slice::from_raw_parts_mut(pointer, size) }
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).map(|n| (n * 7 + 3) as u8).collect()
}

#[test]
fn creation_checks_flags_size_and_pointer() {
    let context = Context::new();
    let mut data = [0u8; 64];
    let host = data.as_mut_ptr().cast();
    assert_eq!(try_buffer(&context, CL_MEM_READ_WRITE, 0, null_mut()), CL_INVALID_BUFFER_SIZE);
    assert_eq!(try_buffer(&context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, null_mut()), CL_INVALID_VALUE);
    assert_eq!(try_buffer(&context, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, 64, null_mut()), CL_INVALID_VALUE);
    assert_eq!(try_buffer(&context, 1 << 40, 64, null_mut()), CL_INVALID_VALUE);
    assert_eq!(try_buffer(&context, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 64, host), CL_INVALID_VALUE);
    assert_eq!(try_buffer(&context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, host), CL_INVALID_VALUE);
    assert_eq!(try_buffer(&context, CL_MEM_COPY_HOST_PTR, 64, null_mut()), CL_INVALID_HOST_PTR);
    assert_eq!(try_buffer(&context, CL_MEM_USE_HOST_PTR, 64, null_mut()), CL_INVALID_HOST_PTR);
    assert_eq!(try_buffer(&context, CL_MEM_READ_WRITE, 64, host), CL_INVALID_HOST_PTR);
    let most: u64 = info(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, size, value, ret))
        .expect("the largest allocation");
    assert_eq!(try_buffer(&context, 0, most as usize + 1, null_mut()), CL_INVALID_BUFFER_SIZE);
}

#[test]
fn every_combination_of_flags_holds_its_data() {
    let context = Context::new();
    let queue = context.queue(0);
    for access in [0, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY] {
        for place in [0, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR, CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR] {
            let mut data = numbers(1000);
            let needs_host = place & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR) != 0;
            let host = if needs_host { data.as_mut_ptr().cast() } else { null_mut() };
            let mem = context.buffer_with(access | place, 1000, host);
            if !needs_host {
                assert_eq!(write_at(&queue, &mem, 0, &data), CL_SUCCESS);
            }
            assert_eq!(queue.read::<u8>(&mem, 1000), numbers(1000), "flags {:#x}", access | place);
            let flags: u64 = mem_info(&mem, CL_MEM_FLAGS).expect("the flags");
            assert!([access | place, access | place | CL_MEM_READ_WRITE].contains(&flags), "{flags:#x}");
            let pointer: usize = mem_info(&mem, CL_MEM_HOST_PTR).expect("the host pointer");
            assert_eq!(pointer, if place == CL_MEM_USE_HOST_PTR { host as usize } else { 0 });
        }
    }
}

#[test]
fn buffer_queries_are_answered() {
    let context = Context::new();
    let mem = context.buffer(123);
    assert_eq!(mem_info(&mem, CL_MEM_TYPE), Ok(CL_MEM_OBJECT_BUFFER));
    assert_eq!(mem_info(&mem, CL_MEM_SIZE), Ok(123usize));
    assert_eq!(mem_info(&mem, CL_MEM_MAP_COUNT), Ok(0u32));
    assert_eq!(mem_info(&mem, CL_MEM_CONTEXT), Ok(context.0 as usize));
    assert_eq!(mem_info(&mem, CL_MEM_ASSOCIATED_MEMOBJECT), Ok(0usize));
    assert_eq!(mem_info(&mem, CL_MEM_OFFSET), Ok(0usize));
    assert_eq!(mem_info(&mem, CL_MEM_REFERENCE_COUNT), Ok(1u32));
    assert_eq!(target().cl.clRetainMemObject(mem.0), CL_SUCCESS);
    assert_eq!(mem_info(&mem, CL_MEM_REFERENCE_COUNT), Ok(2u32));
    assert_eq!(target().cl.clReleaseMemObject(mem.0), CL_SUCCESS);
    assert_eq!(mem_info::<u32>(&mem, 0xdead), Err(CL_INVALID_VALUE));
    let mut small = [0u8; 4];
    assert_eq!(target().cl.clGetMemObjectInfo(mem.0, CL_MEM_SIZE, 4, small.as_mut_ptr().cast(), null_mut()), CL_INVALID_VALUE);
}

#[test]
fn transfers_support_odd_offsets_and_sizes() {
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(257);
    let mut model = numbers(257);
    assert_eq!(write_at(&queue, &mem, 0, &model), CL_SUCCESS);
    for (offset, size) in [(0, 1), (1, 1), (3, 2), (5, 7), (128, 3), (255, 2), (1, 256), (13, 100)] {
        let data: Vec<u8> = (0..size).map(|n| (n * 31 + offset) as u8).collect();
        assert_eq!(write_at(&queue, &mem, offset, &data), CL_SUCCESS);
        model[offset..offset + size].copy_from_slice(&data);
        let mut back = vec![0; size];
        assert_eq!(read_at(&queue, &mem, offset, &mut back), CL_SUCCESS);
        assert_eq!(back, data);
        assert_eq!(queue.read::<u8>(&mem, 257), model);
    }
    let mut bytes = [0u8; 8];
    assert_eq!(read_at(&queue, &mem, 250, &mut bytes), CL_INVALID_VALUE, "past the end");
    assert_eq!(write_at(&queue, &mem, 258, &bytes[..1]), CL_INVALID_VALUE);
    let cl = &target().cl;
    assert_eq!(cl.clEnqueueReadBuffer(queue.0, mem.0, CL_TRUE, 0, 4, null_mut(), 0, null(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(
        cl.clEnqueueReadBuffer(queue.0, null_mut(), CL_TRUE, 0, 4, bytes.as_mut_ptr().cast(), 0, null(), null_mut()),
        CL_INVALID_MEM_OBJECT
    );
}

#[test]
fn commands_of_a_queue_run_in_order() {
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(4);
    let cl = &target().cl;
    let values: Vec<u32> = (0..200).collect();
    let mut out = vec![0u32; values.len()];
    for (value, out) in values.iter().zip(&mut out) {
        let written = cl.clEnqueueWriteBuffer(queue.0, mem.0, CL_FALSE, 0, 4, (&raw const *value).cast(), 0, null(), null_mut());
        let read = cl.clEnqueueReadBuffer(queue.0, mem.0, CL_FALSE, 0, 4, (&raw mut *out).cast(), 0, null(), null_mut());
        assert_eq!((written, read), (CL_SUCCESS, CL_SUCCESS));
    }
    queue.finish();
    assert_eq!(out, values);
}

#[test]
fn host_access_flags_are_enforced() {
    let context = Context::new();
    let queue = context.queue(0);
    let mut bytes = [0u8; 16];
    let write_only = context.buffer_with(CL_MEM_HOST_WRITE_ONLY, 16, null_mut());
    assert_eq!(read_at(&queue, &write_only, 0, &mut bytes), CL_INVALID_OPERATION);
    assert_eq!(map(&queue, &write_only, CL_MAP_READ, 0, 16).err(), Some(CL_INVALID_OPERATION));
    assert_eq!(write_at(&queue, &write_only, 0, &bytes), CL_SUCCESS);
    let read_only = context.buffer_with(CL_MEM_HOST_READ_ONLY, 16, null_mut());
    assert_eq!(write_at(&queue, &read_only, 0, &bytes), CL_INVALID_OPERATION);
    assert_eq!(map(&queue, &read_only, CL_MAP_WRITE, 0, 16).err(), Some(CL_INVALID_OPERATION));
    let no_access = context.buffer_with(CL_MEM_HOST_NO_ACCESS, 16, null_mut());
    assert_eq!(read_at(&queue, &no_access, 0, &mut bytes), CL_INVALID_OPERATION);
    assert_eq!(write_at(&queue, &no_access, 0, &bytes), CL_INVALID_OPERATION);
}

#[test]
fn copies_between_and_within_buffers() {
    let context = Context::new();
    let queue = context.queue(0);
    let cl = &target().cl;
    let (a, b) = (context.buffer(300), context.buffer(300));
    queue.write(&a, &numbers(300));
    queue.write(&b, &[0u8; 300]);
    let copy = |from: &Mem, to: &Mem, source, destination, size| {
        cl.clEnqueueCopyBuffer(queue.0, from.0, to.0, source, destination, size, 0, null(), null_mut())
    };
    let mut model = vec![0u8; 300];
    for (source, destination, size) in [(0, 0, 64), (64, 100, 4), (3, 201, 5), (7, 210, 33), (299, 299, 1)] {
        assert_eq!(copy(&a, &b, source, destination, size), CL_SUCCESS);
        model[destination..destination + size].copy_from_slice(&numbers(300)[source..source + size]);
    }
    assert_eq!(queue.read::<u8>(&b, 300), model);
    assert_eq!(copy(&a, &a, 0, 150, 100), CL_SUCCESS, "within one buffer");
    assert_eq!(queue.read::<u8>(&a, 300)[150..250], numbers(300)[..100]);
    assert_eq!(copy(&a, &a, 0, 50, 100), CL_MEM_COPY_OVERLAP);
    assert_eq!(copy(&a, &b, 250, 0, 51), CL_INVALID_VALUE);
    assert_eq!(copy(&a, &b, 0, 250, 51), CL_INVALID_VALUE);
}

#[test]
fn fills_support_patterns_of_every_size() {
    let context = Context::new();
    let queue = context.queue(0);
    let cl = &target().cl;
    let mem = context.buffer(1024);
    for size in [1usize, 2, 4, 8, 16, 32, 64, 128] {
        let pattern: Vec<u8> = (0..size).map(|n| (n * 5 + size) as u8).collect();
        queue.write(&mem, &[0u8; 1024]);
        let (offset, length) = (2 * size, 3 * size);
        let fill = |pattern_size, offset, length| {
            cl.clEnqueueFillBuffer(queue.0, mem.0, pattern.as_ptr().cast(), pattern_size, offset, length, 0, null(), null_mut())
        };
        assert_eq!(fill(size, offset, length), CL_SUCCESS);
        let mut model = vec![0u8; 1024];
        for (n, byte) in model[offset..offset + length].iter_mut().enumerate() {
            *byte = pattern[n % size];
        }
        assert_eq!(queue.read::<u8>(&mem, 1024), model, "pattern of {size} bytes");
        if size > 1 {
            assert_eq!(fill(size, size / 2, size), CL_INVALID_VALUE, "the offset is not a multiple");
            assert_eq!(fill(size, 0, size + 1), CL_INVALID_VALUE, "the size is not a multiple");
        }
    }
    let pattern = [0u8; 256];
    for size in [0, 3, 256] {
        let status = cl.clEnqueueFillBuffer(queue.0, mem.0, pattern.as_ptr().cast(), size, 0, 768, 0, null(), null_mut());
        assert_eq!(status, CL_INVALID_VALUE, "a pattern of {size} bytes");
    }
}

#[test]
fn maps_read_and_write_the_buffer() {
    let context = Context::new();
    let queue = context.queue(0);
    for place in [0, CL_MEM_ALLOC_HOST_PTR] {
        let mem = context.buffer_with(CL_MEM_READ_WRITE | place, 500, null_mut());
        queue.write(&mem, &numbers(500));
        let pointer = map(&queue, &mem, CL_MAP_READ | CL_MAP_WRITE, 101, 200).expect("the map");
        assert_eq!(mem_info(&mem, CL_MEM_MAP_COUNT), Ok(1u32));
        assert_eq!(mapped(pointer, 200), &numbers(500)[101..301]);
        mapped(pointer, 200)[50] = 0xee;
        assert_eq!(unmap(&queue, &mem, pointer), CL_SUCCESS);
        queue.finish();
        assert_eq!(mem_info(&mem, CL_MEM_MAP_COUNT), Ok(0u32));
        let mut model = numbers(500);
        model[151] = 0xee;
        assert_eq!(queue.read::<u8>(&mem, 500), model);

        let pointer = map(&queue, &mem, CL_MAP_WRITE_INVALIDATE_REGION, 0, 500).expect("the map");
        mapped(pointer, 500).fill(9);
        assert_eq!(unmap(&queue, &mem, pointer), CL_SUCCESS);
        assert_eq!(queue.read::<u8>(&mem, 500), [9; 500]);
    }
}

#[test]
fn two_maps_of_one_buffer_are_counted() {
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(64);
    queue.write(&mem, &numbers(64));
    let first = map(&queue, &mem, CL_MAP_READ, 0, 32).expect("the first map");
    let second = map(&queue, &mem, CL_MAP_READ, 16, 32).expect("the second map");
    assert_eq!(mem_info(&mem, CL_MEM_MAP_COUNT), Ok(2u32));
    assert_eq!((mapped(first, 32)[16], mapped(second, 32)[0]), (numbers(64)[16], numbers(64)[16]));
    assert_eq!(unmap(&queue, &mem, second), CL_SUCCESS);
    queue.finish();
    assert_eq!(mem_info(&mem, CL_MEM_MAP_COUNT), Ok(1u32));
    assert_eq!(unmap(&queue, &mem, first), CL_SUCCESS);
    queue.finish();
    assert_eq!(mem_info(&mem, CL_MEM_MAP_COUNT), Ok(0u32));
}

#[test]
fn invalid_maps_are_rejected() {
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(64);
    assert_eq!(map(&queue, &mem, CL_MAP_READ, 60, 8).err(), Some(CL_INVALID_VALUE));
    assert_eq!(map(&queue, &mem, CL_MAP_READ, 0, 0).err(), Some(CL_INVALID_VALUE));
    assert_eq!(map(&queue, &mem, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 8).err(), Some(CL_INVALID_VALUE));
    let mut stranger = 0u8;
    assert_eq!(unmap(&queue, &mem, &mut stranger), CL_INVALID_VALUE);
}

#[test]
fn mapping_a_buffer_in_host_memory_returns_that_memory() {
    let context = Context::new();
    let queue = context.queue(0);
    let mut data = numbers(4096);
    let host = data.as_mut_ptr();
    let mem = context.buffer_with(CL_MEM_USE_HOST_PTR, 4096, host.cast());
    let pointer = map(&queue, &mem, CL_MAP_READ | CL_MAP_WRITE, 100, 1000).expect("the map");
    // SAFETY: the address is inside the allocation of `data`.
    assert_eq!(pointer, unsafe { host.add(100) });
    mapped(pointer, 1000)[0] = 0x55;
    assert_eq!(unmap(&queue, &mem, pointer), CL_SUCCESS);
    queue.finish();
    assert_eq!(queue.read::<u8>(&mem, 101)[100], 0x55);
}

#[test]
fn rectangles_are_transferred_and_copied() {
    let context = Context::new();
    let queue = context.queue(0);
    let cl = &target().cl;
    // The buffers have a row pitch of 16 bytes, 8 rows per slice, and 2 slices.
    let (a, b) = (context.buffer(256), context.buffer(256));
    queue.write(&a, &numbers(256));
    queue.write(&b, &[0u8; 256]);
    let region = [5usize, 3, 2];
    let mut host = vec![0u8; 60];
    let status = cl.clEnqueueReadBufferRect(
        queue.0,
        a.0,
        CL_TRUE,
        [2, 1, 0].as_ptr(),
        [1, 0, 0].as_ptr(),
        region.as_ptr(),
        16,
        128,
        10,
        30,
        host.as_mut_ptr().cast(),
        0,
        null(),
        null_mut(),
    );
    assert_eq!(status, CL_SUCCESS);
    let mut model = vec![0u8; 60];
    let mut copied = vec![0u8; 256];
    for (z, y, x) in (0..2).flat_map(|z| (0..3).flat_map(move |y| (0..5).map(move |x| (z, y, x)))) {
        let byte = numbers(256)[z * 128 + (y + 1) * 16 + x + 2];
        model[z * 30 + y * 10 + x + 1] = byte;
        copied[z * 128 + (y + 4) * 16 + x + 7] = byte;
    }
    assert_eq!(host, model);
    let status = cl.clEnqueueCopyBufferRect(
        queue.0,
        a.0,
        b.0,
        [2, 1, 0].as_ptr(),
        [7, 4, 0].as_ptr(),
        region.as_ptr(),
        16,
        128,
        16,
        128,
        0,
        null(),
        null_mut(),
    );
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(queue.read::<u8>(&b, 256), copied);
    queue.write(&b, &[0u8; 256]);
    let status = cl.clEnqueueWriteBufferRect(
        queue.0,
        b.0,
        CL_TRUE,
        [7, 4, 0].as_ptr(),
        [1, 0, 0].as_ptr(),
        region.as_ptr(),
        16,
        128,
        10,
        30,
        host.as_ptr().cast(),
        0,
        null(),
        null_mut(),
    );
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(queue.read::<u8>(&b, 256), copied);
    let status = cl.clEnqueueReadBufferRect(
        queue.0,
        a.0,
        CL_TRUE,
        [2, 1, 0].as_ptr(),
        [1, 0, 0].as_ptr(),
        [5, 8, 2].as_ptr(),
        16,
        128,
        10,
        80,
        host.as_mut_ptr().cast(),
        0,
        null(),
        null_mut(),
    );
    assert_eq!(status, CL_INVALID_VALUE, "past the end");
}

fn sub_buffer(parent: &Mem, flags: cl_bitfield, origin: usize, size: usize) -> Result<Mem, cl_int> {
    let region = cl_buffer_region { origin, size };
    let mut status = 1;
    let mem: cl_mem = target().cl.clCreateSubBuffer(parent.0, flags, CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast(), &mut status);
    assert_eq!(mem.is_null(), status != CL_SUCCESS);
    if status == CL_SUCCESS { Ok(Mem(mem)) } else { Err(status) }
}

#[test]
fn sub_buffers_are_windows_of_their_parent() {
    let context = Context::new();
    let queue = context.queue(0);
    let align: u32 = info(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, size, value, ret))
        .expect("the alignment");
    let align = align as usize / 8;
    let parent = context.buffer(4 * align);
    queue.write(&parent, &numbers(4 * align));
    let window = sub_buffer(&parent, 0, align, align + 10).expect("the sub-buffer");
    assert_eq!(mem_info(&window, CL_MEM_ASSOCIATED_MEMOBJECT), Ok(parent.0 as usize));
    assert_eq!(mem_info(&window, CL_MEM_OFFSET), Ok(align));
    assert_eq!(mem_info(&window, CL_MEM_SIZE), Ok(align + 10));
    assert_eq!(queue.read::<u8>(&window, align + 10), numbers(4 * align)[align..2 * align + 10]);
    assert_eq!(write_at(&queue, &window, 3, &[0xaa, 0xbb]), CL_SUCCESS);
    assert_eq!(queue.read::<u8>(&parent, 4 * align)[align + 3..align + 5], [0xaa, 0xbb]);

    // A kernel accesses the same bytes through the sub-buffer.
    let program = context.build("kernel void add(global uchar *p) { p[get_global_id(0)] += 1; }");
    let kernel = program.kernel("add");
    kernel.set_mem(0, &window);
    assert_eq!(queue.launch(&kernel, &[align], None), CL_SUCCESS);
    let all = queue.read::<u8>(&parent, 4 * align);
    assert_eq!(all[align - 1], numbers(4 * align)[align - 1]);
    assert_eq!(all[align], numbers(4 * align)[align].wrapping_add(1));
    assert_eq!(all[2 * align], numbers(4 * align)[2 * align]);

    assert_eq!(sub_buffer(&parent, 0, 0, 4 * align + 1).err(), Some(CL_INVALID_VALUE));
    assert_eq!(sub_buffer(&parent, 0, 0, 0).err(), Some(CL_INVALID_BUFFER_SIZE));
    assert_eq!(sub_buffer(&window, 0, 0, 8).err(), Some(CL_INVALID_MEM_OBJECT), "a sub-buffer of a sub-buffer");
    let status = sub_buffer(&parent, 0, 1, 8).err();
    assert_eq!(status, Some(CL_MISALIGNED_SUB_BUFFER_OFFSET));
    let read_only = context.buffer_with(CL_MEM_READ_ONLY, 64, null_mut());
    assert_eq!(sub_buffer(&read_only, CL_MEM_WRITE_ONLY, 0, 8).err(), Some(CL_INVALID_VALUE));
    // The sub-buffer retains its parent.
    drop(parent);
    assert_eq!(queue.read::<u8>(&window, 5)[3..], [0xab, 0xbc]);
}

static DESTROYED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn count_destroyed(_mem: cl_mem, data: *mut c_void) {
    // The callbacks run in the reverse order of their registration: the callback with the data 2 runs first.
    let _ = DESTROYED.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |seen| Some(seen * 10 + data as u32));
}

#[test]
fn destructor_callbacks_run_in_reverse_order() {
    let context = Context::new();
    let mem = context.buffer(16);
    for number in [1usize, 2] {
        assert_eq!(target().cl.clSetMemObjectDestructorCallback(mem.0, Some(count_destroyed), number as *mut c_void), CL_SUCCESS);
    }
    assert_eq!(target().cl.clSetMemObjectDestructorCallback(mem.0, None, null_mut()), CL_INVALID_VALUE);
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 0);
    drop(mem);
    let begin = Instant::now();
    while DESTROYED.load(Ordering::SeqCst) != 21 && begin.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 21);
}

#[test]
fn null_and_foreign_handles_are_rejected() {
    let cl = &target().cl;
    assert_eq!(cl.clRetainMemObject(null_mut()), CL_INVALID_MEM_OBJECT);
    assert_eq!(cl.clReleaseMemObject(null_mut()), CL_INVALID_MEM_OBJECT);
    if target().is_wgcl() {
        let context = Context::new();
        assert_eq!(cl.clReleaseMemObject(context.0), CL_INVALID_MEM_OBJECT);
        let mem = context.buffer(16);
        let handle = mem.0;
        drop(mem);
        assert_eq!(cl.clRetainMemObject(handle), CL_INVALID_MEM_OBJECT);
        assert_eq!(cl.clGetMemObjectInfo(handle, CL_MEM_SIZE, 0, null_mut(), null_mut()), CL_INVALID_MEM_OBJECT);
    }
}
