//! Buffers of more than 4 GiB, on devices that support them: every kind of access to elements whose indices need more
//! than 31 or 32 bits.
//!
//! The tests touch only a few pages of a buffer, so the system does not need that much memory.

mod common;

use std::ptr::{null, null_mut};

use common::ffi::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE,
    cl_buffer_region,
};
use common::large::{SIZE, alone, reserve};
use common::objects::{Context, Mem, Queue};
use common::{info, is_cpu, target};

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
kernel void constants(global uint *p)
{ p[0x20000010] = 11; p[0x40000010u] = 12; p[0x48000300ul] = 13; (p + 0x40000030)[-0x10] = 14;
  global uint *q = p + 0x20000000; q[0x20000040] = 15; q[-0x1ffffff0] = 16; ((global uchar *)p)[0x100010003] = 0x17; }
typedef struct { uint head[15]; uint tail; } item;
kernel void rows(global uint (*p)[1 << 24], int row, uint column) { int i = get_global_id(0); p[row][column + i] = 10000 + i; }
kernel void members(global item *p, int from) { int i = get_global_id(0); p[from + i].tail = 11000 + i; }
kernel void atomics(global uint *p, uint from) { uint i = get_global_id(0); atomic_add(p + from + i, 12000 + i); }
kernel void shorts(global ushort *p, uint from) { uint i = get_global_id(0); vstore2((ushort2)(i, i + 1), from / 2 + i, p); }
kernel void distance(global uint *p, ulong offset, global long *out) { out[0] = (p + offset) - p; out[1] = p < p + offset; }
";

#[test]
fn all_indices_reach_all_elements() {
    let Some(_memory) = reserve(SIZE) else { return };
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
    launch("constants", &|_| {});
    for (word, value) in [
        (0x2000_0010, 11),
        (0x4000_0010, 12),
        (0x4800_0300, 13),
        (0x4000_0020, 14),
        (0x4000_0040, 15),
        (0x10, 16),
        (0x4000_4000, 0x1700_0000),
    ] {
        assert_eq!(words(&queue, &big, 4 * word, 1), [value], "a constant index of {word:#x}");
    }
    for (row, column) in [(70, 5), (63, 0xff_fff0)] {
        launch("rows", &|kernel| assert_eq!((kernel.set(1, &row), kernel.set(2, &column)), (CL_SUCCESS, CL_SUCCESS)));
        expect("an element of a row", ((row as usize) << 24) + column as usize, 10000);
    }
    for from in [1 << 25, (1 << 26) - 32, SIZE / 64 - 64] {
        launch("members", &|kernel| assert_eq!(kernel.set(1, &(from as i32)), CL_SUCCESS));
        for item in [0, 63] {
            assert_eq!(words(&queue, &big, 64 * (from + item) + 60, 1), [11000 + item as u32], "a member of item {from} + {item}");
        }
    }
    let zeros = [0_u32; 256];
    for word in [half + 4096, most - 32, last] {
        let status =
            target().cl.clEnqueueWriteBuffer(queue.0, big.0, CL_TRUE, 4 * word, 1024, zeros.as_ptr().cast(), 0, null(), null_mut());
        assert_eq!(status, CL_SUCCESS);
        launch("atomics", &|kernel| assert_eq!(kernel.set(1, &(word as u32)), CL_SUCCESS));
        expect("an atomic sum", word, 12000);
        launch("shorts", &|kernel| assert_eq!(kernel.set(1, &(2 * word as u32)), CL_SUCCESS));
        let pairs: Vec<u32> = (0..64).map(|i| i | (i + 1) << 16).collect();
        assert_eq!(words(&queue, &big, 4 * word, 64), pairs, "pairs of shorts at word {word}");
    }
    let out = context.buffer(16);
    launch("distance", &|kernel| {
        assert_eq!(kernel.set(1, &(last as u64)), CL_SUCCESS);
        kernel.set_mem(2, &out);
    });
    assert_eq!(queue.read::<i64>(&out, 2), [last as i64, 1]);
}

/// Tests asynchronous copies with offsets, strides and line lengths of 2 and 4 GiB.
#[test]
fn asynchronous_copies_reach_all_elements() {
    let Some(_memory) = reserve(SIZE) else { return };
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
    // Write three regions. The distance between two of them is 2 GiB.
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
    let Some(_memory) = reserve(SIZE) else { return };
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

/// Runs the same kernels on small buffers, before and after a large buffer exists.
#[test]
fn small_buffers_are_not_affected() {
    let Some(_memory) = reserve(SIZE) else { return };
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

/// Tests commands with offsets or pitches of 2 GiB and more. Each command touches a few bytes.
#[test]
fn commands_reach_all_elements() {
    let Some(_memory) = reserve(SIZE) else { return };
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let big = context.buffer(SIZE);
    let (half, most) = (1_usize << 31, 1_usize << 32);
    let expect = |what: &str, byte: usize, expected: [u32; 4]| assert_eq!(words(&queue, &big, byte, 4), expected, "{what} at byte {byte}");
    for (number, byte) in (1_u32..).zip([half, most, SIZE - 64]) {
        let pattern = [number, number + 1, number + 2, number + 3];
        let status = cl.clEnqueueFillBuffer(queue.0, big.0, pattern.as_ptr().cast(), 16, byte, 32, 0, null(), null_mut());
        assert_eq!(status, CL_SUCCESS);
        expect("a fill", byte, pattern);
        expect("a fill", byte + 16, pattern);
        assert_eq!(cl.clEnqueueCopyBuffer(queue.0, big.0, big.0, byte, byte + 32, 16, 0, null(), null_mut()), CL_SUCCESS);
        expect("a copy", byte + 32, pattern);
        assert_eq!(words(&queue, &big, byte % most % half + 4096, 4), [0; 4], "nothing wraps");
    }
    // Transfer two rows of 16 bytes with a row pitch of 2 GiB or 4 GiB. Then transfer two slices with such a slice
    // pitch.
    let values: Vec<u32> = (50..58).collect();
    for pitch in [half, most] {
        for (region, row, slice) in [([16, 2, 1], pitch, 0), ([16, 1, 2], 16, pitch)] {
            let (origin, none) = ([1024_usize, 0, 0], [0_usize; 3]);
            let mut back = vec![0_u32; 8];
            let write = cl.clEnqueueWriteBufferRect(
                queue.0,
                big.0,
                CL_TRUE,
                origin.as_ptr(),
                none.as_ptr(),
                region.as_ptr(),
                row,
                slice,
                16,
                0,
                values.as_ptr().cast(),
                0,
                null(),
                null_mut(),
            );
            let read = cl.clEnqueueReadBufferRect(
                queue.0,
                big.0,
                CL_TRUE,
                origin.as_ptr(),
                none.as_ptr(),
                region.as_ptr(),
                row,
                slice,
                16,
                0,
                back.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            );
            assert_eq!((write, read), (CL_SUCCESS, CL_SUCCESS));
            assert_eq!(back, values);
            assert_eq!(words(&queue, &big, 1024 + pitch, 4), values[4..], "a pitch of {pitch} bytes");
            let status = cl.clEnqueueCopyBufferRect(
                queue.0,
                big.0,
                big.0,
                origin.as_ptr(),
                [2048_usize, 0, 0].as_ptr(),
                region.as_ptr(),
                row,
                slice,
                row,
                slice,
                0,
                null(),
                null_mut(),
            );
            assert_eq!(status, CL_SUCCESS);
            assert_eq!(words(&queue, &big, 2048 + pitch, 4), values[4..], "a copy with a pitch of {pitch} bytes");
        }
    }
}

#[test]
fn sub_buffers_begin_beyond_4_gib() {
    let Some(_memory) = reserve(SIZE) else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let big = context.buffer(SIZE);
    let kernel = context.build(SOURCE).kernel("by_int");
    for origin in [1_usize << 31, 1 << 32, SIZE - 4096] {
        let region = cl_buffer_region { origin, size: 4096 };
        let mut status = 1;
        let part =
            target().cl.clCreateSubBuffer(big.0, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast(), &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreateSubBuffer at {origin}");
        let part = Mem(part);
        kernel.set_mem(0, &part);
        assert_eq!(kernel.set(1, &100_i32), CL_SUCCESS);
        assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS);
        assert_eq!(words(&queue, &big, origin + 400, 64), (1000..1064).collect::<Vec<_>>(), "a sub-buffer at {origin}");
    }
}

fn has_pipes() -> bool {
    let target = target();
    // CL_DEVICE_PIPE_SUPPORT
    info::<u32>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, 0x1071, size, value, ret)) == Ok(CL_TRUE)
}

/// Tests a pipe of more than 4 GiB. Reservations without writes advance the read and write positions to packets beyond
/// 2 and 4 GiB.
#[test]
fn pipes_hold_more_than_4_gib() {
    const PACKET: u32 = 1024;
    const SKIP: u32 = 1 << 20;
    let Some(_memory) = reserve(SIZE).filter(|_| has_pipes()) else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let pipe = context.pipe(PACKET, (SIZE as u64 / u64::from(PACKET)) as u32 - 100_000);
    let program = context.program(
        "typedef struct { uint words[256]; } packet;
         kernel void skip_write(write_only pipe packet p, uint n) { reserve_id_t r = reserve_write_pipe(p, n); commit_write_pipe(p, r); }
         kernel void skip_read(read_only pipe packet p, uint n) { reserve_id_t r = reserve_read_pipe(p, n); commit_read_pipe(p, r); }
         kernel void put(write_only pipe packet p, uint first)
         { packet it; for (int i = 0; i < 256; i++) it.words[i] = first + i; write_pipe(p, &it); }
         kernel void take(read_only pipe packet p, global uint *out)
         { packet it; out[256] = read_pipe(p, &it); for (int i = 0; i < 256; i++) out[i] = it.words[i]; }",
    );
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS, "{}", program.log());
    let out = context.buffer(257 * 4);
    let launch = |name: &str, number: Option<u32>| {
        let kernel = program.kernel(name);
        kernel.set_mem(0, &pipe);
        match number {
            Some(number) => assert_eq!(kernel.set(1, &number), CL_SUCCESS),
            None => kernel.set_mem(1, &out),
        }
        assert_eq!(queue.launch(&kernel, &[1], Some(&[1])), CL_SUCCESS, "{name}");
    };
    for round in 0..4_u32 {
        launch("skip_write", Some(SKIP));
        launch("skip_read", Some(SKIP));
        launch("put", Some(round * 1000));
        launch("take", None);
        let expected: Vec<u32> = (round * 1000..).take(256).chain([0]).collect();
        assert_eq!(queue.read::<u32>(&out, 257), expected, "after {} packets", (round + 1) * (SKIP + 1));
    }
}

#[test]
fn a_buffer_may_have_the_maximum_size() {
    let target = target();
    let most: u64 = info(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, size, value, ret))
        .expect("the maximum size of a buffer");
    let memory: u64 = info(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_GLOBAL_MEM_SIZE, size, value, ret))
        .expect("the size of the memory");
    assert!(!is_cpu() || most == memory, "a buffer has at most {most} of {memory} bytes");
    let _memory = alone();
    let context = Context::new();
    let queue = context.queue(0);
    let big = context.buffer(most as usize);
    let program = context.build("kernel void mark(global uint *p, ulong last) { ulong i = get_global_id(0); p[i * last] = 40 + i; }");
    let kernel = program.kernel("mark");
    kernel.set_mem(0, &big);
    let last = most / 4 - 1;
    assert_eq!(kernel.set(1, &last), CL_SUCCESS);
    assert_eq!(queue.launch(&kernel, &[2], None), CL_SUCCESS, "{most} bytes");
    assert_eq!((words(&queue, &big, 0, 1), words(&queue, &big, 4 * last as usize, 1)), (vec![40], vec![41]), "{most} bytes");
}
