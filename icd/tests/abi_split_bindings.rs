//! Tests buffers that are larger than the binding limit of a device. wgcl splits them across several adjacent bindings.
//!
//! `WGCL_BINDING_LIMIT` makes bindings small, so that small buffers are split. `full_size_buffers` runs all tests again
//! in a child process, with buffers of hundreds of MiB.

mod common;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::commands::{Commands, functions};
use common::ffi::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_DEVICE_EXTENSIONS, CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_NAME, CL_EVENT_COMMAND_EXECUTION_STATUS,
    CL_MAP_READ, CL_MAP_WRITE, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE, cl_buffer_region, cl_int,
};
use common::objects::{Context, Event, Mem, Queue};
use common::{images, info, info_string};

const CL_OUT_OF_RESOURCES: cl_int = -5;

/// Environment variable that is set in the process that uses large buffers.
const LARGE: &str = "WGCL_TEST_LARGE";

/// Returns the size of a binding in bytes.
fn unit() -> usize {
    if std::env::var_os(LARGE).is_some() { 128 << 20 } else { 64 << 10 }
}

/// Returns the target, with a small binding limit.
fn target() -> &'static common::Target {
    static LIMIT: std::sync::Once = std::sync::Once::new();
    LIMIT.call_once(|| {
        if std::env::var_os(LARGE).is_none() {
            // SAFETY: `Once` blocks the other tests here. They read the environment only after this block.
            unsafe {
                std::env::set_var("WGCL_BINDING_LIMIT", unit().to_string());
                // Buffers accessed by address are not split.
                std::env::set_var("WGCL_ADDRESSES", "0");
            }
        }
    });
    common::target()
}

/// Returns the size of the buffers in bytes: two bindings and a part of a third one.
fn size() -> usize {
    unit() * 75 / 32
}

/// Returns the byte offsets of the two borders between bindings. Adjacent bindings overlap by a few bytes.
fn borders() -> [usize; 2] {
    [unit(), 2 * unit()]
}

/// Bytes before a border that a test accesses.
const BEFORE: usize = 2048;
/// Bytes around a border that a test accesses.
const AROUND: usize = BEFORE + 1024;

/// Returns bytes that differ from adjacent bytes, and from bytes whose distance is a power of two.
fn noise(count: usize, seed: usize) -> Vec<u8> {
    (0..count).map(|n| ((n + seed).wrapping_mul(0x9E37_79B9) >> 13) as u8).collect()
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn fill(queue: &Queue, mem: &Mem, pattern: &[u8], offset: usize, size: usize) {
    let pointer = pattern.as_ptr().cast();
    let status = target().cl.clEnqueueFillBuffer(queue.0, mem.0, pointer, pattern.len(), offset, size, 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS, "clEnqueueFillBuffer({offset}, {size})");
}

fn read_at(queue: &Queue, mem: &Mem, offset: usize, size: usize) -> Vec<u8> {
    let mut out = vec![0; size];
    let status = target().cl.clEnqueueReadBuffer(queue.0, mem.0, CL_TRUE, offset, size, out.as_mut_ptr().cast(), 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS, "clEnqueueReadBuffer({offset}, {size})");
    out
}

fn write_at(queue: &Queue, mem: &Mem, offset: usize, bytes: &[u8]) {
    let status =
        target().cl.clEnqueueWriteBuffer(queue.0, mem.0, CL_TRUE, offset, bytes.len(), bytes.as_ptr().cast(), 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS, "clEnqueueWriteBuffer({offset}, {})", bytes.len());
}

/// Maps a buffer, and passes all its bytes to `f`.
fn with_all<R>(queue: &Queue, mem: &Mem, size: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
    let (cl, mut status) = (&target().cl, 1);
    let flags = CL_MAP_READ | CL_MAP_WRITE;
    let pointer = cl.clEnqueueMapBuffer(queue.0, mem.0, CL_TRUE, flags, 0, size, 0, null(), null_mut(), &mut status);
    assert_eq!(status, CL_SUCCESS, "clEnqueueMapBuffer");
    // SAFETY: the driver mapped `size` bytes at `pointer`.
    let result = f(unsafe { std::slice::from_raw_parts_mut(pointer.cast::<u8>(), size) });
    assert_eq!(cl.clEnqueueUnmapMemObject(queue.0, mem.0, pointer, 0, null(), null_mut()), CL_SUCCESS);
    queue.finish();
    result
}

/// Returns the words of a buffer that are not zero, with their indices.
fn words_set(queue: &Queue, mem: &Mem, size: usize) -> BTreeMap<usize, u32> {
    with_all(queue, mem, size, |bytes| {
        let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).enumerate();
        words.filter(|(_, word)| *word != 0).collect()
    })
}

fn device_extensions() -> String {
    info_string(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_EXTENSIONS, size, value, ret)).unwrap_or_default()
}

#[test]
fn words_at_random_indices_are_written_nowhere_else() {
    let source = "kernel void scatter(global uint *big, global const uint *at) { size_t i = get_global_id(0); big[at[i]] = at[i] + 1; }
        kernel void gather(global const uint *big, global const uint *at, global uint *out) { size_t i = get_global_id(0); out[i] = big[at[i]]; }";
    let _ = target();
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(source);
    let (big, count) = (context.buffer(size()), 5000);
    fill(&queue, &big, &[0; 4], 0, size());
    let mut state = 1;
    let mut at: Vec<u32> = (0..count).map(|_| (random(&mut state) % (size() as u64 / 4)) as u32).collect();
    at.extend(borders().iter().flat_map(|border| (border / 4 - 256..border / 4 + 64).map(|word| word as u32)));
    at.extend([0, size() as u32 / 4 - 1]);
    let places = context.buffer(at.len() * 4);
    queue.write(&places, &at);
    let kernel = program.kernel("scatter");
    kernel.set_mem(0, &big);
    kernel.set_mem(1, &places);
    assert_eq!(queue.launch(&kernel, &[at.len()], None), CL_SUCCESS);
    queue.finish();
    let expected: BTreeMap<usize, u32> = at.iter().map(|&word| (word as usize, word + 1)).collect();
    assert!(words_set(&queue, &big, size()) == expected);
    let out = context.buffer(at.len() * 4);
    let kernel = program.kernel("gather");
    for (index, mem) in [(0, &big), (1, &places), (2, &out)] {
        kernel.set_mem(index, mem);
    }
    assert_eq!(queue.launch(&kernel, &[at.len()], None), CL_SUCCESS);
    let values: Vec<u32> = queue.read(&out, at.len());
    assert_eq!(values, at.iter().map(|word| word + 1).collect::<Vec<_>>());
}

/// Tests every kind of memory access, on both sides of every border, and across it.
#[test]
fn accesses_of_all_sizes_cross_the_borders() {
    let kernels = |ty: &str| {
        format!(
            "kernel void put_{ty}(global {ty} *big, ulong at, global const {ty} *in) {{ size_t i = get_global_id(0); big[at + i] = in[i]; }}
             kernel void get_{ty}(global const {ty} *big, ulong at, global {ty} *out) {{ size_t i = get_global_id(0); out[i] = big[at + i]; }}\n"
        )
    };
    let unaligned = |lanes: u32, ty: &str| {
        format!(
            "kernel void put_v{lanes}{ty}(global {ty} *big, ulong at, global const {ty} *in) {{
                size_t i = get_global_id(0); vstore{lanes}(vload{lanes}(i, in), i, big + at + 1); }}
             kernel void get_v{lanes}{ty}(global const {ty} *big, ulong at, global {ty} *out) {{
                size_t i = get_global_id(0); vstore{lanes}(vload{lanes}(i, big + at + 1), i, out); }}\n"
        )
    };
    let types = [("uchar", 1), ("ushort", 2), ("uint", 4), ("ulong", 8), ("uchar4", 4), ("float4", 16), ("uint16", 64), ("ulong16", 128)];
    let vectors = [(16, "uchar", 1), (3, "ushort", 2), (4, "float", 4), (8, "uint", 4), (16, "ulong", 8)];
    let mut source = String::new();
    let mut list = Vec::new();
    for (ty, bytes) in types {
        source.push_str(&kernels(ty));
        list.push((ty.to_owned(), bytes, bytes, 0));
    }
    for (lanes, ty, bytes) in vectors {
        source.push_str(&unaligned(lanes, ty));
        list.push((format!("v{lanes}{ty}"), bytes, lanes as usize * bytes, bytes));
    }
    let _ = target();
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(&source);
    let (big, small, back) = (context.buffer(size()), context.buffer(AROUND), context.buffer(AROUND));
    for (name, unit, step, shift) in &list {
        for (seed, border) in borders().into_iter().enumerate() {
            let (first, count) = (border - BEFORE, AROUND / step - 1);
            let bytes = noise(count * step, seed + step);
            write_at(&queue, &big, first - 64, &vec![0xA5; AROUND + 128]);
            queue.write(&small, &bytes);
            for (kernel, other) in [("put", &small), ("get", &back)] {
                let kernel = program.kernel(&format!("{kernel}_{name}"));
                kernel.set_mem(0, &big);
                assert_eq!(kernel.set(1, &((first / unit) as u64)), CL_SUCCESS);
                kernel.set_mem(2, other);
                assert_eq!(queue.launch(&kernel, &[count], None), CL_SUCCESS);
            }
            let begin = first + shift;
            assert!(read_at(&queue, &big, begin, bytes.len()) == bytes, "put_{name} at {border}");
            let outside = [read_at(&queue, &big, first - 64, 64 + shift), read_at(&queue, &big, begin + bytes.len(), 32)].concat();
            assert!(outside.iter().all(|byte| *byte == 0xA5), "put_{name} beyond {border}");
            assert!(queue.read::<u8>(&back, bytes.len()) == bytes, "get_{name} at {border}");
        }
    }
}

#[test]
fn atomics_count_on_both_sides() {
    let long = device_extensions().contains("cl_khr_int64_base_atomics");
    let mut source = String::from(
        "kernel void count(global uint *big, global const uint *at) {
            size_t i = get_global_id(0);
            atomic_inc(&big[at[i % 8]]);
            atomic_max((global int *)&big[at[i % 8] + 1], (int)i);
            atomic_cmpxchg(&big[at[i % 8] + 2], 0, (uint)(i % 8) + 100);
            ((global uchar *)&big[at[i % 8] + 3])[i / 8 % 4] = (uchar)(i / 8 % 4 + 1);
        }",
    );
    if long {
        source.push_str(
            "\n#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
            kernel void count_long(global ulong *big, global const uint *at) { atom_add(&big[at[get_global_id(0) % 8] / 2], 1UL << 32); }",
        );
    }
    let _ = target();
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(&source);
    let (big, places) = (context.buffer(size()), context.buffer(32));
    fill(&queue, &big, &[0], 0, size());
    let words = unit() as u32 / 4;
    let at = [0, words - 64, words - 4, words, words + 4, 2 * words - 100, 2 * words - 4, 2 * words];
    queue.write(&places, &at);
    let mut expected = BTreeMap::new();
    for (k, word) in (0..).zip(at) {
        expected.extend([(word, 128), (word + 1, 1016 + k), (word + 2, 100 + k), (word + 3, 0x0403_0201)].map(|(at, n)| (at as usize, n)));
    }
    let kernel = program.kernel("count");
    kernel.set_mem(0, &big);
    kernel.set_mem(1, &places);
    assert_eq!(queue.launch(&kernel, &[1024], None), CL_SUCCESS);
    assert_eq!(words_set(&queue, &big, size()), expected);
    if long {
        fill(&queue, &big, &[0], 0, size());
        let kernel = program.kernel("count_long");
        kernel.set_mem(0, &big);
        kernel.set_mem(1, &places);
        assert_eq!(queue.launch(&kernel, &[1024], None), CL_SUCCESS);
        assert_eq!(words_set(&queue, &big, size()), at.iter().map(|word| (*word as usize + 1, 128)).collect());
    }
}

#[test]
fn a_kernel_uses_several_large_buffers_and_sub_buffers() {
    let source = "kernel void add(global const uint *a, global uint *b, constant uint *c, global uint *part, global const uint *at) {
            uint i = at[get_global_id(0)]; b[i] = a[i] + c[i]; part[get_global_id(0)] = c[i];
        }";
    let _ = target();
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(source);
    let [a, b, c] = [(); 3].map(|()| context.buffer(size()));
    let at: Vec<u32> = borders().iter().flat_map(|border| (border / 4 - 100..border / 4 + 28).map(|word| word as u32)).collect();
    let bytes = |seed: u32| at.iter().map(|word| word * seed).collect::<Vec<u32>>();
    for (mem, seed) in [(&a, 3), (&c, 5)] {
        for (border, values) in borders().into_iter().zip(bytes(seed).chunks(128)) {
            write_at(&queue, mem, border - 400, &values.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        }
    }
    fill(&queue, &b, &[0; 16], 0, size());
    // Create two sub-buffers across a border of their parent. The first one fits in a binding, and the second one does
    // not.
    for (origin, length) in [(unit() - 4096, 8192), (4096, size() - 8192)] {
        let region = cl_buffer_region { origin, size: length };
        let mut status = 1;
        let part =
            target().cl.clCreateSubBuffer(b.0, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast(), &mut status);
        assert_eq!(status, CL_SUCCESS);
        let part = Mem(part);
        let places = context.buffer(at.len() * 4);
        queue.write(&places, &at);
        let kernel = program.kernel("add");
        for (index, mem) in [(0, &a), (1, &b), (2, &c), (3, &part), (4, &places)] {
            kernel.set_mem(index, mem);
        }
        fill(&queue, &b, &[0], 0, size());
        assert_eq!(queue.launch(&kernel, &[at.len()], None), CL_SUCCESS);
        let mut expected: BTreeMap<usize, u32> = at.iter().map(|&word| (word as usize, word.wrapping_mul(8))).collect();
        expected.extend((origin / 4..).zip(bytes(5)));
        expected.retain(|_, word| *word != 0);
        assert!(words_set(&queue, &b, size()) == expected, "{origin}");
    }
}

#[test]
fn sub_buffers_of_a_large_buffer_share_its_bytes() {
    // With the stride 97, the kernel writes to all bindings.
    let source = "kernel void put(global uint *part, uint n) { uint i = get_global_id(0); part[i * 97 % n] = i + 1; }";
    let _ = target();
    let context = Context::new();
    let queue = context.queue(0);
    let kernel = context.build(source).kernel("put");
    let big = context.buffer(size());
    for (origin, length) in
        [(unit() - 8192, 16384), (unit() * 2 - 256, 1024), (8192, unit() * 2), (unit(), unit()), (size() / 4096 * 4096, 64)]
    {
        let length = length.min(size() - origin);
        if length == 0 {
            continue;
        }
        let region = cl_buffer_region { origin, size: length };
        let mut status = 1;
        let part = Mem(target().cl.clCreateSubBuffer(
            big.0,
            CL_MEM_READ_WRITE,
            CL_BUFFER_CREATE_TYPE_REGION,
            (&raw const region).cast(),
            &mut status,
        ));
        assert_eq!(status, CL_SUCCESS);
        fill(&queue, &big, &[0; 8], 0, size());
        let (words, items) = (length / 4, (length / 4).min(4096));
        kernel.set_mem(0, &part);
        assert_eq!(kernel.set(1, &(words as u32)), CL_SUCCESS);
        assert_eq!(queue.launch(&kernel, &[items], None), CL_SUCCESS);
        let mut expected = BTreeMap::new();
        for i in 0..items {
            expected.insert(origin / 4 + i * 97 % words, i as u32 + 1);
        }
        // Several work-items may write one word, so compare only the indices of the written words.
        let found = words_set(&queue, &big, size());
        assert!(found.keys().eq(expected.keys()), "{origin} {length}");
    }
}

#[test]
fn transfers_cross_the_borders() {
    let _ = target();
    let context = Context::new();
    let queue = context.queue(0);
    let (a, b) = (context.buffer(size()), context.buffer(size()));
    let mut model = vec![[0u8; AROUND]; 2];
    for (k, border) in borders().into_iter().enumerate() {
        let first = border - BEFORE;
        for mem in [&a, &b] {
            fill(&queue, mem, &[0], 0, size());
        }
        for (length, offset, count) in [(1, 13, 2900), (2, 1026, 800), (4, 1900, 300), (8, 1800, 280), (16, 1808, 1200), (128, 1024, 2048)]
        {
            let pattern = noise(length, length + k);
            let offset = offset / length * length;
            let size = count / length * length;
            fill(&queue, &a, &pattern, first + offset, size);
            for (n, byte) in model[k][offset..offset + size].iter_mut().enumerate() {
                *byte = pattern[n % length];
            }
        }
        assert!(read_at(&queue, &a, first, AROUND) == model[k], "fill");
        // Copy across a border of each buffer. In some copies, the bytes have other offsets within their words.
        for (to, length) in [(3, 2500), (512, 2048), (0, AROUND)] {
            let status = target().cl.clEnqueueCopyBuffer(queue.0, a.0, b.0, first, first + to - 64, length, 0, null(), null_mut());
            assert_eq!(status, CL_SUCCESS);
            assert!(read_at(&queue, &b, first + to - 64, length) == model[k][..length], "copy");
        }
        let bytes = noise(AROUND, k);
        with_all(&queue, &a, size(), |all| all[first..first + AROUND].copy_from_slice(&bytes));
        assert!(read_at(&queue, &a, first, AROUND) == bytes, "map");
        write_at(&queue, &a, first + 5, &bytes[..AROUND - 5]);
        assert!(read_at(&queue, &a, first + 5, AROUND - 5) == bytes[..AROUND - 5], "write");
    }
    // The whole buffer.
    let status = target().cl.clEnqueueCopyBuffer(queue.0, a.0, b.0, 0, 0, size(), 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    let whole = with_all(&queue, &a, size(), |all| all.to_vec());
    assert!(with_all(&queue, &b, size(), |all| *all == whole));
}

#[test]
fn pointers_in_memory_find_their_binding() {
    let source = "kernel void keep(global uint *big, global ulong *kept, ulong at) { kept[get_global_id(0)] = (ulong)(big + at + get_global_id(0)); }
        kernel void follow(global const ulong *kept, global uint *big) { global uint *p = (global uint *)kept[get_global_id(0)]; *p = 77; }";
    let _ = target();
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(source);
    let (big, kept) = (context.buffer(size()), context.buffer(256 * 8));
    fill(&queue, &big, &[0], 0, size());
    let first = unit() / 4 - 128;
    let (keep, follow) = (program.kernel("keep"), program.kernel("follow"));
    keep.set_mem(0, &big);
    keep.set_mem(1, &kept);
    assert_eq!(keep.set(2, &(first as u64)), CL_SUCCESS);
    follow.set_mem(0, &kept);
    follow.set_mem(1, &big);
    for kernel in [&keep, &follow] {
        assert_eq!(queue.launch(kernel, &[256], None), CL_SUCCESS);
    }
    assert_eq!(words_set(&queue, &big, size()), (first..first + 256).map(|word| (word, 77)).collect());
}

#[test]
fn shared_memory_may_be_large() {
    let source = "kernel void put(global uint *big, ulong at) { big[at + get_global_id(0)] = get_global_id(0) + 1; }
        kernel void follow(global ulong *list) { *(global uint *)list[get_global_id(0)] += 1000; }";
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(source);
    let start = cl.clSVMAlloc(context.0, CL_MEM_READ_WRITE, size(), 0).cast::<u8>();
    if start.is_null() {
        assert!(!target().is_wgcl(), "clSVMAlloc");
        return;
    }
    let first = unit() - 512;
    let around = start.wrapping_add(first).cast::<c_void>();
    let zero = 0u32;
    assert_eq!(cl.clEnqueueSVMMemFill(queue.0, around, (&raw const zero).cast(), 4, 1024, 0, null(), null_mut()), CL_SUCCESS);
    let put = program.kernel("put");
    assert_eq!(cl.clSetKernelArgSVMPointer(put.0, 0, start.cast()), CL_SUCCESS);
    assert_eq!(put.set(1, &(first as u64 / 4)), CL_SUCCESS);
    assert_eq!(queue.launch(&put, &[256], None), CL_SUCCESS);
    // The kernel finds the large buffer only through host addresses in another buffer.
    let list: Vec<u64> = (0..256).map(|k| around.wrapping_byte_add(4 * k) as u64).collect();
    let kept = context.buffer(256 * 8);
    queue.write(&kept, &list);
    let follow = program.kernel("follow");
    follow.set_mem(0, &kept);
    let pointers = [start.cast::<c_void>()];
    assert_eq!(cl.clSetKernelExecInfo(follow.0, 0x11B6, size_of_val(&pointers), pointers.as_ptr().cast()), CL_SUCCESS);
    assert_eq!(queue.launch(&follow, &[256], None), CL_SUCCESS);
    let mut out = [0u32; 256];
    let status = cl.clEnqueueSVMMemcpy(queue.0, CL_TRUE, out.as_mut_ptr().cast(), around, 1024, 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    assert!(out.iter().zip(1001..).all(|(found, expected)| *found == expected), "{out:?}");
    cl.clSVMFree(context.0, start.cast());
}

#[test]
fn images_may_be_large() {
    if !images::supported() {
        return;
    }
    let _ = target();
    let context = Context::new();
    let queue = context.queue(0);
    let source = "kernel void mark(write_only image2d_t image, int first) {
            int2 at = (int2)(get_global_id(0), first + get_global_id(1)); write_imageui(image, at, (uint4)(at.x & 255, at.y & 255, 3, 4)); }
        kernel void look(read_only image2d_t image, int first, global uint4 *out) {
            const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
            size_t i = get_global_id(0) + get_global_id(1) * get_global_size(0);
            out[i] = read_imageui(image, s, (int2)(get_global_id(0), first + get_global_id(1))); }";
    let program = context.build(source);
    let width = if unit() > 1 << 20 { 16_384 } else { 128 };
    let rows = size() / 4 / width;
    // CL_RGBA, CL_UNSIGNED_INT8
    let format = images::format(0x10B5, 0x10DA);
    let image = images::image(&context, CL_MEM_READ_WRITE, format, &images::desc(CL_MEM_OBJECT_IMAGE2D, [width, rows, 1]), null_mut());
    let first = unit() / 4 / width - 2;
    let (mark, look) = (program.kernel("mark"), program.kernel("look"));
    mark.set_mem(0, &image);
    assert_eq!(mark.set(1, &(first as cl_int)), CL_SUCCESS);
    assert_eq!(queue.launch(&mark, &[width, 4], None), CL_SUCCESS);
    let out = context.buffer(width * 4 * 16);
    look.set_mem(0, &image);
    assert_eq!(look.set(1, &(first as cl_int)), CL_SUCCESS);
    look.set_mem(2, &out);
    assert_eq!(queue.launch(&look, &[width, 4], None), CL_SUCCESS);
    let seen: Vec<u32> = queue.read(&out, width * 4 * 4);
    let expected: Vec<u32> = (0..4 * width).flat_map(|k| [(k % width) & 255, (first + k / width) & 255, 3, 4].map(|n| n as u32)).collect();
    assert!(seen == expected, "read by a kernel");
    let area = images::Area { origin: [0, first, 0], region: [width, 4, 1] };
    let bytes = images::read(&queue, &image, area, 4);
    assert!(bytes.iter().zip(&expected).all(|(byte, word)| u32::from(*byte) == *word), "read by the host");
}

#[test]
fn recorded_launches_access_all_of_a_large_buffer() {
    let _ = target();
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let kernel = context.build("kernel void more(global uint *big, ulong at) { big[at + get_global_id(0)] += 1; }").kernel("more");
    let big = context.buffer(size());
    fill(&queue, &big, &[0], 0, size());
    let first = 2 * unit() / 4 - 100;
    kernel.set_mem(0, &big);
    assert_eq!(kernel.set(1, &(first as u64)), CL_SUCCESS);
    let commands = Commands::new(functions, &queue);
    commands.launch(&kernel, 128, None, &[]);
    commands.finalize();
    for _ in 0..3 {
        commands.enqueue();
    }
    assert_eq!(words_set(&queue, &big, size()), (first..first + 128).map(|word| (word, 3)).collect());
}

/// Tests a kernel with more buffers than bindings. The small buffers share one binding, and the large buffer has its
/// own bindings.
#[test]
fn one_large_and_many_small_buffers_are_bound_together() {
    const MANY: usize = 40;
    let params: String = (0..MANY).map(|k| format!(", global uint *b{k}")).collect();
    let sum: String = (0..MANY).map(|k| format!(" sum += b{k}[i]; b{k}[i] = i + {k};")).collect();
    let source =
        format!("kernel void all(global uint *big, ulong at{params}) {{ uint i = get_global_id(0), sum = 0;{sum} big[at + i] = sum; }}");
    let _ = target();
    let context = Context::new();
    let queue = context.queue(0);
    let kernel = context.build(&source).kernel("all");
    let big = context.buffer(size());
    fill(&queue, &big, &[0], 0, size());
    let first = unit() / 4 - 32;
    kernel.set_mem(0, &big);
    assert_eq!(kernel.set(1, &(first as u64)), CL_SUCCESS);
    let small: Vec<Mem> = (0..MANY).map(|_| context.buffer(256)).collect();
    for (k, mem) in (0_u32..).zip(&small) {
        queue.write(mem, &[k + 1; 64]);
        kernel.set_mem(k + 2, mem);
    }
    assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS);
    let sum = (MANY * (MANY + 1) / 2) as u32;
    assert_eq!(words_set(&queue, &big, size()), (first..first + 64).map(|word| (word, sum)).collect());
    for (k, mem) in (0_u32..).zip(&small) {
        assert_eq!(queue.read::<u32>(mem, 64), (k..k + 64).collect::<Vec<_>>(), "the buffer {k}");
    }
}

/// Tests a kernel that needs more bindings than the device has. Only this launch must fail. Small buffers share a
/// binding.
#[test]
fn too_many_bindings_are_an_error() {
    let target = target();
    let name =
        info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_NAME, size, value, ret)).unwrap_or_default();
    let most: u64 =
        info(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, size, value, ret)).unwrap_or(0);
    let context = Context::new();
    let queue = context.queue(0);
    let source =
        "kernel void four(global uint *a, global uint *b, global uint *c, global uint *d, uint at) { a[at] = b[at] + c[at] + d[at]; }
        kernel void three(global uint *a, global uint *b, global uint *c, uint at) { a[at] = b[at] + c[at]; }
        kernel void one(global uint *a) { a[0] = 5; }";
    let program = context.build(source);
    let small = context.buffer(4096);
    if name.contains("llvmpipe") && std::env::var_os(LARGE).is_some() {
        // The test touches only one word of each buffer.
        assert_eq!(most, 1 << 30);
        let large: Vec<Mem> = (0..4).map(|_| context.buffer(1 << 30)).collect();
        for (mem, value) in large.iter().zip([0u32, 1, 2, 3]) {
            write_at(&queue, mem, 0, &value.to_le_bytes());
        }
        let kernel = program.kernel("four");
        for (index, mem) in (0..).zip(&large) {
            kernel.set_mem(index, mem);
        }
        assert_eq!(kernel.set(4, &0u32), CL_SUCCESS);
        let (size, mut event) = (1usize, null_mut());
        let status = target.cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &size, null(), 0, null(), &mut event);
        if status == CL_SUCCESS {
            let event = Event(event);
            if target.cl.clWaitForEvents(1, &event.0) == CL_SUCCESS {
                // Lavapipe of Mesa 25.0 has enough bindings, lavapipe of Mesa 22.3 does not.
                assert_eq!(read_at(&queue, &large[0], 0, 4), [6, 0, 0, 0]);
            } else {
                let state: cl_int =
                    info(|size, value, ret| target.cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, ret))
                        .unwrap_or(0);
                assert_eq!(state, CL_OUT_OF_RESOURCES);
                assert_ne!(target.cl.clFinish(queue.0), CL_SUCCESS, "reported once");
            }
        } else {
            assert_eq!(status, CL_OUT_OF_RESOURCES);
        }
        // The device has enough bindings for three of the buffers.
        let last = (1usize << 28) - 1;
        for (mem, value) in large.iter().zip([0u32, 7, 11]) {
            write_at(&queue, mem, 4 * last, &value.to_le_bytes());
        }
        let kernel = program.kernel("three");
        for (index, mem) in (0..).zip(&large[..3]) {
            kernel.set_mem(index, mem);
        }
        assert_eq!(kernel.set(3, &(last as u32)), CL_SUCCESS);
        assert_eq!(queue.launch(&kernel, &[1], None), CL_SUCCESS);
        assert_eq!(read_at(&queue, &large[0], 4 * last, 4), [18, 0, 0, 0]);
    }
    let kernel = program.kernel("one");
    kernel.set_mem(0, &small);
    assert_eq!(queue.launch(&kernel, &[1], None), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&small, 1), [5]);
}

#[test]
fn full_size_buffers() {
    if std::env::var_os(LARGE).is_some() {
        return;
    }
    let target = target();
    let most: u64 =
        info(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, size, value, ret)).unwrap_or(0);
    if most < 320 << 20 {
        assert!(!target.is_wgcl(), "the device allocates {most} bytes at most");
        return;
    }
    let program = std::env::current_exe().expect("the running program");
    let mut command = std::process::Command::new(program);
    let output = command
        .env(LARGE, "1")
        .env("WGCL_ADDRESSES", "0")
        .env_remove("WGCL_BINDING_LIMIT")
        .args(["--test-threads", "1"])
        .output()
        .expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
}
