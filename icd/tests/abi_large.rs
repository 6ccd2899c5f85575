//! Buffers of more than 4 GiB, on devices that support them: every kind of access to elements beyond 31 and 32 bits.
//!
//! Only a few pages of a buffer are touched, so the system does not need that much memory.

mod common;

use std::ptr::{null, null_mut};

use common::ffi::{CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_FLOAT, CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_SUCCESS, CL_TRUE};
use common::images;
use common::objects::{Context, Mem, Queue};
use common::{info, is_cpu, target};

/// Bytes of the buffer.
const SIZE: usize = (9 << 29) + 4096;

/// Whether the device supports such a buffer. Without a configured limit, the CPU does if the host has 1.5 times as
/// much memory.
fn can() -> bool {
    let target = target();
    let size = |name| info::<u64>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret)).unwrap_or(0);
    let (most, memory) = (size(CL_DEVICE_MAX_MEM_ALLOC_SIZE), size(CL_DEVICE_GLOBAL_MEM_SIZE));
    assert!(!is_cpu() || most > SIZE as u64 || memory < SIZE as u64 * 3 / 2, "{most} of {memory} bytes");
    most > SIZE as u64
}

fn words(queue: &Queue, mem: &Mem, offset: usize, count: usize) -> Vec<u32> {
    let mut words = vec![0_u32; count];
    let status =
        target().cl.clEnqueueReadBuffer(queue.0, mem.0, CL_TRUE, offset, 4 * count, words.as_mut_ptr().cast(), 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS, "clEnqueueReadBuffer at {offset}");
    words
}

const SOURCE: &str = "
kernel void by_int(global uint *p, int from) { int i = get_global_id(0); p[from + i] = 1000 + i; }
kernel void by_uint(global uint *p, uint from) { uint i = get_global_id(0); p[from + i] = 2000 + i; }
kernel void by_size(global uint *p, ulong from) { size_t i = get_global_id(0); p[from + i] = 3000 + i; }
kernel void by_vector(global uint4 *p, int from) { int i = get_global_id(0); p[from + i] = (uint4)(4000 + i); }
kernel void by_two(global uint *p, int a, int b) { int i = get_global_id(0); global uint *q = p + a; q += b; q[i] = 5000 + i; }
kernel void by_bytes(global uchar *p, uint from) { uint i = get_global_id(0); p[from + i] = i; }
kernel void backwards(global uint *p, ulong from, int by)
{ int i = get_global_id(0); global uint *end = p + from; end[i - by] = 6000 + i; }
kernel void permuted(global uint *p, int from) { int i = get_global_id(0); p[from + (i ^ 5) % 64] = 7000 + i; }
kernel void moved(global uint *p, ulong from, ulong to) { size_t i = get_global_id(0); p[to + i] = p[from + i] + 1; }
kernel void lines(global uint *p, ulong offset, local uint *tile, global uint *out)
{ int i = get_local_id(0);
  event_t e = async_work_group_copy_2D2D(tile, 0, p, offset, 4, 16, 2, 16, 16, 0); wait_group_events(1, &e); out[i] = tile[i]; }
kernel void large_lines(global uint *p, ulong length, local uint *tile, global uint *out)
{ int i = get_local_id(0);
  event_t e = async_work_group_copy_2D2D(tile, 0, p, 0, 4, 16, 2, length, 16, 0); wait_group_events(1, &e); out[i] = tile[i]; }
kernel void large_planes(global uint *p, ulong length, local uint *tile, global uint *out)
{ int i = get_local_id(0);
  event_t e = async_work_group_copy_3D3D(tile, 0, p, 0, 4, 16, 1, 2, 16, length, 16, 16, 0); wait_group_events(1, &e); out[i] = tile[i]; }
kernel void written(global uint *p, ulong offset, local uint *tile)
{ int i = get_local_id(0); tile[i] = 9000 + i; barrier(CLK_LOCAL_MEM_FENCE);
  event_t e = async_work_group_copy_2D2D(p, offset, tile, 0, 4, 16, 2, 16, 16, 0); wait_group_events(1, &e); }
kernel void strided(global uint *p, ulong stride, local uint *tile, global uint *out)
{ event_t e = async_work_group_strided_copy(tile, p, 3, stride, 0); wait_group_events(1, &e);
  if (get_local_id(0) < 3) out[get_local_id(0)] = tile[get_local_id(0)]; }
kernel void distance(global uint *p, ulong offset, global long *out) { out[0] = (p + offset) - p; out[1] = p < p + offset; }
";

#[test]
fn all_indices_reach_all_elements() {
    if !can() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let big = context.buffer(SIZE);
    let program = context.build(SOURCE);
    let last = SIZE / 4 - 1024;
    let (half, most) = (1_usize << 29, 1_usize << 30);
    let launch = |name: &str, set: &dyn Fn(&common::objects::Kernel)| {
        let kernel = program.kernel(name);
        kernel.set_mem(0, &big);
        set(&kernel);
        assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS, "{name}");
    };
    let expect = |what: &str, word: usize, first: u32| {
        assert_eq!(words(&queue, &big, 4 * word, 64), (first..first + 64).collect::<Vec<_>>(), "{what} at word {word}");
    };
    for word in [half - 32, most - 32, last] {
        launch("by_int", &|kernel| assert_eq!(kernel.set(1, &(word as i32)), CL_SUCCESS));
        expect("an int", word, 1000);
        launch("by_uint", &|kernel| assert_eq!(kernel.set(1, &(word as u32)), CL_SUCCESS));
        expect("an uint", word, 2000);
        launch("by_size", &|kernel| assert_eq!(kernel.set(1, &(word as u64)), CL_SUCCESS));
        expect("a size_t", word, 3000);
        launch("by_two", &|kernel| {
            assert_eq!((kernel.set(1, &((word / 2) as i32)), kernel.set(2, &((word - word / 2) as i32))), (CL_SUCCESS, CL_SUCCESS));
        });
        expect("two ints", word, 5000);
        launch("backwards", &|kernel| {
            assert_eq!((kernel.set(1, &((word + half - 1024) as u64)), kernel.set(2, &((half - 1024) as i32))), (CL_SUCCESS, CL_SUCCESS));
        });
        expect("a negative int", word, 6000);
        launch("permuted", &|kernel| assert_eq!(kernel.set(1, &(word as i32)), CL_SUCCESS));
        let permuted: Vec<u32> = (0..64).map(|i| 7000 + (i ^ 5)).collect();
        assert_eq!(words(&queue, &big, 4 * word, 64), permuted, "scattered at word {word}");
        launch("moved", &|kernel| {
            assert_eq!((kernel.set(1, &(word as u64)), kernel.set(2, &((word + 128) as u64))), (CL_SUCCESS, CL_SUCCESS));
        });
        assert_eq!(words(&queue, &big, 4 * (word + 128), 64), permuted.iter().map(|word| word + 1).collect::<Vec<_>>());
        launch("by_vector", &|kernel| assert_eq!(kernel.set(1, &((word / 4) as i32)), CL_SUCCESS));
        let vectors: Vec<u32> = (0..256).map(|word| 4000 + word / 4).collect();
        assert_eq!(words(&queue, &big, 4 * (word / 4 * 4), 256), vectors, "vectors at word {word}");
    }
    for byte in [(1_usize << 31) - 32, (1 << 32) - 64] {
        launch("by_bytes", &|kernel| assert_eq!(kernel.set(1, &(byte as u32)), CL_SUCCESS));
        let bytes: Vec<u8> = words(&queue, &big, byte, 16).into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(bytes, (0..64).collect::<Vec<u8>>(), "bytes at {byte}");
    }
    let out = context.buffer(16);
    launch("distance", &|kernel| {
        assert_eq!(kernel.set(1, &(last as u64)), CL_SUCCESS);
        kernel.set_mem(2, &out);
    });
    assert_eq!(queue.read::<i64>(&out, 2), [last as i64, 1]);
}

/// Asynchronous copies whose offsets, strides and line lengths exceed 32 bits in bytes.
#[test]
fn asynchronous_copies_reach_all_elements() {
    if !can() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let (big, out) = (context.buffer(SIZE), context.buffer(128));
    let program = context.build(SOURCE);
    let launch = |name: &str, number: usize, reads: bool| {
        let kernel = program.kernel(name);
        kernel.set_mem(0, &big);
        assert_eq!(kernel.set(1, &(number as u64)), CL_SUCCESS);
        assert_eq!(target().cl.clSetKernelArg(kernel.0, 2, 128, null()), CL_SUCCESS);
        if reads {
            kernel.set_mem(3, &out);
        }
        assert_eq!(queue.launch(&kernel, &[32], Some(&[32])), CL_SUCCESS, "{name}");
        queue.read::<u32>(&out, 32)
    };
    let (half, most) = (1_usize << 29, 1_usize << 30);
    // Three places, a stride of 2 GiB apart.
    for (number, word) in (0..).zip([0, half, most]) {
        let values: Vec<u32> = (number * 100..).take(32).collect();
        let status =
            target().cl.clEnqueueWriteBuffer(queue.0, big.0, CL_TRUE, 4 * word, 128, values.as_ptr().cast(), 0, null(), null_mut());
        assert_eq!(status, CL_SUCCESS);
        assert_eq!(launch("lines", word, true), values, "lines at word {word}");
    }
    assert_eq!(launch("strided", half, true)[..3], [0, 100, 200]);
    for (length, first) in [(half, 100), (most, 200)] {
        let expected: Vec<u32> = (0..16).chain(first..first + 16).collect();
        assert_eq!(launch("large_lines", length, true), expected, "lines of {length} words");
        assert_eq!(launch("large_planes", length, true), expected, "planes of {length} words");
        launch("written", length + 64, false);
        assert_eq!(words(&queue, &big, 4 * (length + 64), 32), (9000..9032).collect::<Vec<_>>(), "written at word {length}");
    }
}

/// `by_extended_int` stores at a signed 32-bit index, extended to 64 bits.
const LARGE_INDICES: &[u8] = include_bytes!("../../tests/spirv/large_indices.spv");

#[test]
fn spirv_indices_reach_all_elements() {
    if !can() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let big = context.buffer(SIZE);
    let program = context.program_with_il(LARGE_INDICES);
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    let kernel = program.kernel("by_extended_int");
    kernel.set_mem(0, &big);
    for word in [(1_usize << 29) - 32, (1 << 30) - 32, SIZE / 4 - 64] {
        assert_eq!(kernel.set(1, &(word as i32)), CL_SUCCESS);
        assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS);
        assert_eq!(words(&queue, &big, 4 * word, 64), (8000..8064).collect::<Vec<_>>(), "at word {word}");
    }
}

/// The same kernels on small buffers, before and after a large buffer exists.
#[test]
fn small_buffers_are_not_affected() {
    if !can() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(SOURCE);
    let kernel = program.kernel("by_int");
    let small = context.buffer(4096);
    for round in 0..3 {
        let _large = (round == 1).then(|| context.buffer(SIZE));
        queue.write(&small, &[0_u32; 1024]);
        kernel.set_mem(0, &small);
        assert_eq!(kernel.set(1, &100_i32), CL_SUCCESS);
        assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS);
        assert_eq!(queue.read::<u32>(&small, 165)[99..], [&[0][..], &(1000..1064).collect::<Vec<_>>(), &[0]].concat());
    }
}

/// The largest image: 4 GiB. Commands and kernels access its first and last elements.
#[test]
fn an_image_of_4_gib_is_accessed_at_its_end() {
    const EDGE: usize = 16384;
    let cl = &target().cl;
    let edge = |name| info::<usize>(|size, value, ret| cl.clGetDeviceInfo(target().device, name, size, value, ret)).unwrap_or(0);
    // CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT
    if !can() || edge(0x1011) < EDGE || edge(0x1012) < EDGE {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let format = images::format(CL_RGBA, CL_FLOAT);
    let mut status = 1;
    let desc = images::desc(CL_MEM_OBJECT_IMAGE2D, [EDGE, EDGE, 1]);
    let image = Mem(cl.clCreateImage(context.0, 0, &format, &desc, null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS, "clCreateImage");
    let at = |x, y| [x, y, 0usize];
    let (first, last, one) = (at(0, 0), at(EDGE - 1, EDGE - 1), [1usize; 3]);
    for (origin, value) in [(first, 1f32), (last, 5f32)] {
        let color = [value, value + 1., value + 2., value + 3.];
        let status = cl.clEnqueueFillImage(queue.0, image.0, color.as_ptr().cast(), origin.as_ptr(), one.as_ptr(), 0, null(), null_mut());
        assert_eq!(status, CL_SUCCESS, "clEnqueueFillImage");
    }
    let read = |origin: [usize; 3]| {
        let mut color = [0f32; 4];
        let (to, none) = (color.as_mut_ptr().cast(), null());
        let status = cl.clEnqueueReadImage(queue.0, image.0, CL_TRUE, origin.as_ptr(), one.as_ptr(), 0, 0, to, 0, none, null_mut());
        assert_eq!(status, CL_SUCCESS, "clEnqueueReadImage");
        color
    };
    assert_eq!([read(first), read(last)], [[1., 2., 3., 4.], [5., 6., 7., 8.]]);
    let program = context.build(
        "kernel void look(read_only image2d_t i, int x, int y, global float4 *out) { out[0] = read_imagef(i, (int2)(x, y)); }
         kernel void paint(write_only image2d_t i, int x, int y) { write_imagef(i, (int2)(x, y), (float4)(9, 8, 7, 6)); }",
    );
    let out = context.buffer(16);
    let (look, paint) = (program.kernel("look"), program.kernel("paint"));
    look.set_mem(0, &image);
    look.set_mem(3, &out);
    paint.set_mem(0, &image);
    let edge = EDGE as i32 - 1;
    for (kernel, x, y) in [(&look, edge, edge), (&paint, edge - 1, edge)] {
        assert_eq!((kernel.set(1, &x), kernel.set(2, &y)), (CL_SUCCESS, CL_SUCCESS));
        assert_eq!(queue.launch(kernel, &[1], None), CL_SUCCESS);
    }
    assert_eq!(queue.read::<f32>(&out, 4), [5., 6., 7., 8.]);
    assert_eq!(read(at(EDGE - 2, EDGE - 1)), [9., 8., 7., 6.]);
    assert_eq!([read(first), read(last)], [[1., 2., 3., 4.], [5., 6., 7., 8.]]);
}
