//! `WGCL_CHECK` reports each error of a kernel once. Errors are out-of-bounds accesses and, for example, data races. On
//! request, the option also fails the launch. It reports nothing for correct kernels.
//!
//! Reports go to standard error. The kernels therefore run in child processes, whose output the tests compare.

mod common;

use std::ffi::c_void;
use std::process::{Command, Output};
use std::ptr::null;
use std::sync::atomic::{AtomicBool, Ordering};

use common::ffi::{CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_SUCCESS, cl_event, cl_int};
use common::objects::{Context, Kernel, Queue};
use common::target;

const CL_OUT_OF_RESOURCES: cl_int = -5;
/// Environment variable that is set in the process that runs the kernels.
const CHILD: &str = "WGCL_TEST_FINDINGS";

/// A kernel with one error, on line 3. It runs with 16 work-items in groups of 8. `out` has 16 words.
struct Wrong {
    name: &'static str,
    statement: &'static str,
    /// The part of the report after the name of the kernel.
    message: &'static str,
    /// The part of the line that the report marks.
    at: &'static str,
    /// For a race, the part of the line that the note about the other access marks.
    other: Option<&'static str>,
}

const fn wrong(name: &'static str, statement: &'static str, at: &'static str, message: &'static str) -> Wrong {
    Wrong { name, statement, message, at, other: None }
}

const fn race(name: &'static str, statement: &'static str, [at, other]: [&'static str; 2], message: &'static str) -> Wrong {
    Wrong { name, statement, message, at, other: Some(other) }
}

const WRONG: &[Wrong] = &[
    race(
        "no_barrier",
        "m[l] = 0; barrier(CLK_LOCAL_MEM_FENCE); m[l ^ 1] = i + 1; out[i] = m[l] + 0;",
        ["m[l ^ 1] = i + 1", "m[l] + 0"],
        "store of 4 bytes at byte 0 of the local variable 'm', by work-item (1, 0, 0) of group (0, 0, 0): a data race with work-item (0, 0, 0) of the same group",
    ),
    race(
        "wrong_fence",
        "m[l] = i; barrier(CLK_GLOBAL_MEM_FENCE); out[i] = m[l ^ 1];",
        ["m[l ^ 1]", "m[l] = i"],
        "load of 4 bytes at byte 4 of the local variable 'm', by work-item (0, 0, 0) of group (0, 0, 0): a data race with work-item (1, 0, 0) of the same group",
    ),
    race(
        "one_barrier_less",
        "for (int k = 0; k < 2; k++) { m[l] = k + i; barrier(CLK_LOCAL_MEM_FENCE); out[i] += m[7 - l]; }",
        ["m[7 - l]", "m[l] = k + i"],
        "load of 4 bytes at byte 12 of the local variable 'm', by work-item (4, 0, 0) of group (0, 0, 0): a data race with work-item (3, 0, 0) of the same group",
    ),
    race(
        "neighbours_in_global_memory",
        "out[i] = 5; out[i ^ 1] += 1;",
        ["out[i] = 5", "out[i ^ 1] += 1"],
        "store of 4 bytes at byte 4 of argument 'out', by work-item (1, 0, 0) of group (0, 0, 0): a data race with work-item (0, 0, 0) of the same group",
    ),
    race(
        "one_place_for_all",
        "if (l == 2) out[3] = i;",
        ["out[3] = i", "out[3] = i"],
        "store of 4 bytes at byte 12 of argument 'out', by work-item (10, 0, 0) of group (1, 0, 0): a data race with work-item (2, 0, 0) of group (0, 0, 0)",
    ),
    race(
        "barriers_are_a_groups_own",
        "if (i == 0) out[9] = 7; barrier(CLK_GLOBAL_MEM_FENCE); if (i == 8) out[0] = out[9];",
        ["out[9];", "out[9] = 7"],
        "load of 4 bytes at byte 36 of argument 'out', by work-item (8, 0, 0) of group (1, 0, 0): a data race with work-item (0, 0, 0) of group (0, 0, 0)",
    ),
    race(
        "halves_of_a_word",
        "local short *s = (local short *)m; if (l == 3) m[1] = 70000; if (l == 5) s[3] = 2;",
        ["s[3] = 2", "m[1] = 70000"],
        "store of 2 bytes at byte 6 of the local variable 'm', by work-item (5, 0, 0) of group (0, 0, 0): a data race with work-item (3, 0, 0) of the same group",
    ),
    race(
        "stores_beside_atomics",
        "if (l < 7) atomic_inc(out + 1); else if (i == 7) out[1] = 50;",
        ["out[1] = 50", "atomic_inc"],
        "store of 4 bytes at byte 4 of argument 'out', by work-item (7, 0, 0) of group (0, 0, 0): a data race with work-item (6, 0, 0) of the same group",
    ),
    race(
        "copy_without_wait",
        "event_t e = async_work_group_copy(m, given, 8, 0); out[i] = m[l]; wait_group_events(1, &e);",
        ["m[l];", "async_work_group_copy(m, given, 8, 0)"],
        "load of 4 bytes at byte 0 of the local variable 'm', by work-item (0, 0, 0) of group (0, 0, 0): the asynchronous copy of these bytes is not complete",
    ),
    race(
        "barrier_instead_of_wait",
        "event_t e = async_work_group_copy(m, given, 8, 0); barrier(CLK_LOCAL_MEM_FENCE); m[l ^ 3] = i; wait_group_events(1, &e);",
        ["m[l ^ 3] = i", "async_work_group_copy(m, given, 8, 0)"],
        "store of 4 bytes at byte 12 of the local variable 'm', by work-item (0, 0, 0) of group (0, 0, 0): the asynchronous copy of these bytes is not complete",
    ),
    race(
        "wait_for_another_copy",
        "event_t e[2]; for (int k = 0; k < 2; k++) e[k] = async_work_group_copy(m + k * 4, given, 4, 0); wait_group_events(1, e); out[i] = m[l]; wait_group_events(1, e + 1);",
        ["m[l];", "async_work_group_copy(m + k * 4, given, 4, 0)"],
        "load of 4 bytes at byte 16 of the local variable 'm', by work-item (4, 0, 0) of group (0, 0, 0): the asynchronous copy of these bytes is not complete",
    ),
    race(
        "bytes_of_another_work_item",
        "m[l] = 0; barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_strided_copy(m, given, 8, 2, 0); out[i] = m[7 - l]; wait_group_events(1, &e);",
        ["async_work_group_strided_copy(m, given, 8, 2, 0)", "m[7 - l]"],
        "store of 4 bytes at byte 16 of the local variable 'm', by work-item (4, 0, 0) of group (0, 0, 0): an asynchronous copy; work-item (3, 0, 0) of the same group accesses the bytes before the copy is complete",
    ),
    race(
        "source_changes",
        "m[l] = i; barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_copy(out + get_group_id(0) * 8, m, 8, 0); m[l] = 7 + i; wait_group_events(1, &e);",
        ["m[l] = 7 + i", "async_work_group_copy(out"],
        "store of 4 bytes at byte 0 of the local variable 'm', by work-item (0, 0, 0) of group (0, 0, 0): the asynchronous copy of these bytes is not complete",
    ),
    race(
        "barrier_before_a_copy",
        "m[7 - l] = i; event_t e = async_work_group_copy(m, given, 8, 0); wait_group_events(1, &e); out[i] = m[l];",
        ["m[7 - l] = i", "async_work_group_copy(m, given, 8, 0)"],
        "store of 4 bytes at byte 12 of the local variable 'm', by work-item (4, 0, 0) of group (0, 0, 0): a data race with work-item (3, 0, 0) of the same group",
    ),
    wrong(
        "local_as_it_was",
        "if (l < 7) m[l] = i; barrier(CLK_LOCAL_MEM_FENCE); out[i] = m[l];",
        "m[l];",
        "load of 4 bytes at byte 28 of the local variable 'm', which is uninitialised, by work-item (7, 0, 0) of group (0, 0, 0)",
    ),
    wrong(
        "private_as_it_was",
        "int p[4]; p[n & 1] = i; p[2] = 3; out[i] = p[n + l / 5 * 3];",
        "p[n + l / 5 * 3]",
        "load of 4 bytes at byte 12 of the private variable 'p', which is uninitialised, by work-item (5, 0, 0) of group (0, 0, 0)",
    ),
    wrong(
        "buffer_as_it_was",
        "out[i] = i < 8 ? fresh[i] : i;",
        "fresh[i]",
        "load of 4 bytes at byte 16 of argument 'fresh', which is uninitialised, by work-item (4, 0, 0) of group (0, 0, 0)",
    ),
    wrong(
        "atomic_on_fresh_buffer",
        "atomic_inc(fresh + i / 3);",
        "atomic_inc(fresh + i / 3)",
        "atomic operation of 4 bytes at byte 16 of argument 'fresh', which is uninitialised, by work-item (12, 0, 0) of group (1, 0, 0)",
    ),
    wrong(
        "atomic_on_fresh_local_memory",
        "if (l < 6) m[l] = 0; barrier(CLK_LOCAL_MEM_FENCE); out[i] = atomic_cmpxchg(m + l, 0, 1);",
        "atomic_cmpxchg(m + l, 0, 1)",
        "atomic operation of 4 bytes at byte 24 of the local variable 'm', which is uninitialised, by work-item (6, 0, 0) of group (0, 0, 0)",
    ),
    wrong(
        "atomic_load_of_fresh_buffer",
        "if (i >= 4 && i < 8) out[i] = atomic_load_explicit((global atomic_int *)fresh + i, memory_order_relaxed, memory_scope_device);",
        "atomic_load_explicit(",
        "atomic operation of 4 bytes at byte 16 of argument 'fresh', which is uninitialised, by work-item (4, 0, 0) of group (0, 0, 0)",
    ),
    wrong(
        "exchange_on_fresh_buffer",
        "if (i >= 6 && i < 8) out[i] = atomic_xchg(fresh + i, 3);",
        "atomic_xchg(fresh + i, 3)",
        "atomic operation of 4 bytes at byte 24 of argument 'fresh', which is uninitialised, by work-item (6, 0, 0) of group (0, 0, 0)",
    ),
    wrong(
        "only_to_be_read",
        "if (i == 9) given[i] = 3;",
        "given[i] = 3",
        "store of 4 bytes at byte 36 of argument 'given', which is CL_MEM_READ_ONLY, by work-item (9, 0, 0) of group (1, 0, 0)",
    ),
    wrong(
        "between_words",
        "if (i == 4) *(global int *)((global char *)out + 21) = 3;",
        "*(global int *)((global char *)out + 21) = 3",
        "store of 4 bytes at byte 21 of argument 'out', whose address is not a multiple of 4, by work-item (4, 0, 0) of group (0, 0, 0)",
    ),
    wrong(
        "between_vectors",
        "if (i == 5) *(global int4 *)out = *(global int4 *)(given + 3);",
        "*(global int4 *)(given + 3)",
        "load of 16 bytes at byte 12 of argument 'given', whose address is not a multiple of 16, by work-item (5, 0, 0) of group (0, 0, 0)",
    ),
    wrong(
        "barrier_for_some",
        "if (l != 2) barrier(CLK_LOCAL_MEM_FENCE); out[i] = i;",
        "barrier(CLK_LOCAL_MEM_FENCE)",
        "barrier reached by 7 of 8 work-items of group (0, 0, 0); work-item (2, 0, 0) does not reach it",
    ),
    wrong(
        "barrier_after_return",
        "if (i >= 13) return; barrier(CLK_LOCAL_MEM_FENCE); out[i] = i;",
        "barrier(CLK_LOCAL_MEM_FENCE)",
        "barrier reached by 5 of 8 work-items of group (1, 0, 0); work-item (13, 0, 0) does not reach it",
    ),
    wrong(
        "barrier_in_turns",
        "for (int k = 0; k < 2 + (l == 1); k++) barrier(CLK_LOCAL_MEM_FENCE); out[i] = i;",
        "barrier(CLK_LOCAL_MEM_FENCE)",
        "barrier reached by 1 of 8 work-items of group (0, 0, 0); work-item (0, 0, 0) does not reach it",
    ),
    wrong(
        "reduction_for_some",
        "if (l != 2) out[i] = work_group_reduce_add(i);",
        "work_group_reduce_add(i)",
        "work-group function reached by 7 of 8 work-items of group (0, 0, 0); work-item (2, 0, 0) does not reach it",
    ),
    wrong(
        "scan_for_some",
        "if (i > 8) out[i] = work_group_scan_inclusive_add(i);",
        "work_group_scan_inclusive_add(i)",
        "work-group function reached by 7 of 8 work-items of group (1, 0, 0); work-item (8, 0, 0) does not reach it",
    ),
    wrong(
        "broadcast_after_return",
        "if (i == 3) return; out[i] = work_group_broadcast(i, 0);",
        "work_group_broadcast(i, 0)",
        "work-group function reached by 7 of 8 work-items of group (0, 0, 0); work-item (3, 0, 0) does not reach it",
    ),
    wrong(
        "vote_in_turns",
        "for (int k = 0; k < 2 + (l == 1); k++) out[i] = work_group_any(k + i);",
        "work_group_any(k + i)",
        "work-group function reached by 1 of 8 work-items of group (0, 0, 0); work-item (0, 0, 0) does not reach it",
    ),
    wrong(
        "copy_for_some",
        "event_t e = 0; if (l < 6) e = async_work_group_copy(m, given, 8, 0); wait_group_events(1, &e);",
        "async_work_group_copy(m, given, 8, 0)",
        "asynchronous copy reached by 6 of 8 work-items of group (0, 0, 0); work-item (6, 0, 0) does not reach it",
    ),
    wrong(
        "copy_never_waited_for",
        "async_work_group_copy(m, given, 8, 0); out[i] = i;",
        "async_work_group_copy(m, given, 8, 0)",
        "asynchronous copy, for which wait_group_events was not called, by work-item (0, 0, 0) of group (0, 0, 0)",
    ),
    wrong("by_zero", "out[i] = 100 / (i - 6);", "100 / (i - 6)", "integer division by zero, by work-item (6, 0, 0) of group (0, 0, 0)"),
    wrong(
        "rest_by_zero",
        "uchar2 v = (uchar2)(3, i); out[i] = ((uchar2)(9) % v).y;",
        "(uchar2)(9) % v",
        "integer division by zero, by work-item (0, 0, 0) of group (0, 0, 0)",
    ),
];

/// Data races between two lines. The last string is the flag of the barrier that the note suggests.
const RACES_BETWEEN_LINES: [(&str, &str, &str); 3] = [
    ("local_variable", "m[l] = i;\n            out[i] = m[l ^ 1];", "CLK_LOCAL_MEM_FENCE"),
    ("global_argument", "out[i] = i;\n            given2[i] = out[i ^ 1];", "CLK_GLOBAL_MEM_FENCE"),
    ("local_argument", "given1[l] = i;\n            out[i] = given1[l ^ 1];", "CLK_LOCAL_MEM_FENCE"),
];

fn source(wrong: &Wrong) -> String {
    format!(
        "kernel void {}(global int *out, global int *given, global int *fresh, int n) {{
            local int m[8]; int i = get_global_id(0), l = get_local_id(0);\n{}\n}}",
        wrong.name, wrong.statement
    )
}

/// Runs a kernel with an error. Returns whether its launch succeeds.
fn run_wrong(context: &Context, queue: &Queue, wrong: &Wrong) -> bool {
    eprintln!("@@ {}", wrong.name);
    let program = context.program(&source(wrong));
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS, "{}", program.log());
    let kernel = program.kernel(wrong.name);
    let (out, fresh) = (context.buffer(64), context.buffer(64));
    let mut words = [1_i32; 16];
    let given = context.buffer_with(CL_MEM_READ_ONLY | common::ffi::CL_MEM_COPY_HOST_PTR, 64, words.as_mut_ptr().cast());
    queue.write(&out, &[0_u32; 16]);
    queue.write(&fresh, &[0_u32; 4]);
    for (index, mem) in (0..).zip([&out, &given, &fresh]) {
        kernel.set_mem(index, mem);
    }
    assert_eq!(kernel.set(3, &0_i32), CL_SUCCESS);
    assert_eq!(queue.launch(&kernel, &[16], Some(&[8])), CL_SUCCESS);
    match target().cl.clFinish(queue.0) {
        CL_SUCCESS => true,
        status => {
            assert_eq!(status, CL_OUT_OF_RESOURCES, "{}", wrong.name);
            false
        }
    }
}

/// Runs a kernel with a race between its lines 3 and 4.
fn run_race_between_lines(context: &Context, queue: &Queue, name: &str, statements: &str) {
    eprintln!("@@ {name}");
    let program = context.build(&format!(
        "kernel void {name}(global int *out, local int *given1, global int *given2) {{
            local int m[8]; int i = get_global_id(0), l = get_local_id(0); m[l] = given1[l] = 0; barrier(CLK_LOCAL_MEM_FENCE);
            {statements}\n}}"
    ));
    let kernel = program.kernel(name);
    let (out, other) = (context.buffer(64), context.buffer(64));
    queue.write(&out, &[0_u32; 16]);
    kernel.set_mem(0, &out);
    assert_eq!(target().cl.clSetKernelArg(kernel.0, 1, 32, null()), CL_SUCCESS);
    kernel.set_mem(2, &other);
    assert_eq!(queue.launch(&kernel, &[16], Some(&[8])), CL_SUCCESS);
    queue.finish();
}

/// Correct kernels with unusual code that the specification permits.
const RIGHT: &str = "
    typedef struct { char c; int i; short s, t; } Mixed;
    kernel void reduce(global int *out, local int *m, volatile global int *count) {
        int l = get_local_id(0), n = get_local_size(0);
        local int flag, last;
        flag = 3;
        m[l] = get_global_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int step = n / 2; step > 0; step /= 2) {
            if (l < step) m[l] += m[l + step];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (l == 0) {
            out[get_group_id(0)] = m[0];
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            last = atomic_inc(count) == (int)get_num_groups(0) - 1;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (last) {
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            if (l == 0) { int sum = 0; for (uint k = 0; k < get_num_groups(0); k++) sum += out[k]; out[8] = sum + flag; }
        }
    }
    kernel void own(global int *out, global Mixed *mixed) {
        int i = get_global_id(0), p[5];
        for (int k = 0; k <= i % 4; k++) p[k] = k * i;
        Mixed a; a.c = i; a.i = 2 * i; a.s = 3; a.t = i; mixed[i] = a;
        Mixed b = mixed[i];
        ((global char *)out)[4 * i] = 1; ((global char *)out)[4 * i + 1] = 2; ((global short *)out)[2 * i + 1] = 3;
        out[i] += p[i % 4] + b.i + b.t + (i ? 100 / i : 0);
    }
    kernel void copies(global int *out, global int *in) {
        local int a[2][8], b[4], c[8];
        int l = get_local_id(0), sum = 0;
        event_t e[2], strided = 0;
        e[0] = async_work_group_copy(a[0], in, 8, 0);
        for (int k = 0; k < 3; k++) {
            if (k < 2) e[(k + 1) % 2] = async_work_group_copy(a[(k + 1) % 2], in + 8 * (k + 1), 8, 0);
            wait_group_events(1, e + k % 2);
            sum += a[k % 2][7 - l];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        // Two copies with one event. Other bytes of the source may be changed, and those of the copy may be read.
        strided = async_work_group_strided_copy(b, in, 4, 2, 0);
        strided = async_work_group_copy(c, in, 8, strided);
        if (l < 4) in[8 + l] = in[2 * l];
        wait_group_events(1, &strided);
        c[l] += b[l % 4];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[l] = sum + c[7 - l];
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        e[0] = async_work_group_strided_copy(out + 8, c, 8, 2, 0);
        out[9 + 2 * l] = l;
        wait_group_events(1, e);
    }
    kernel void shared(global int *out, global int *found) {
        if (get_global_id(0) & 1) found[0] = 1;
        local int counts[4];
        if (get_local_id(0) < 4) counts[get_local_id(0)] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        atomic_inc(counts + get_global_id(0) % 3);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) < 4) atomic_add(out + get_local_id(0), counts[get_local_id(0)]);
        // Atomic stores, and exchanges whose result is not used, initialise memory.
        local atomic_int fresh[3];
        if (get_local_id(0) == 0) {
            atomic_init(fresh, 1);
            atomic_store_explicit(fresh + 1, 2, memory_order_relaxed, memory_scope_work_group);
            atomic_xchg((local int *)fresh + 2, 3);
            for (int k = 0; k < 3; k++) atomic_fetch_add_explicit(fresh + k, 1, memory_order_relaxed, memory_scope_work_group);
        }
        event_t e = async_work_group_copy(counts, found + 4, 4, 0);
        wait_group_events(1, &e);
        out[8 + get_global_id(0)] = counts[get_local_id(0) % 4];
    }";

fn run_right(context: &Context, queue: &Queue) {
    eprintln!("@@ right");
    let program = context.program(RIGHT);
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS, "{}", program.log());
    let (out, more) = (context.buffer(128), context.buffer(16 * 16));
    let reduce = program.kernel("reduce");
    reduce.set_mem(0, &out);
    assert_eq!(target().cl.clSetKernelArg(reduce.0, 1, 32, null()), CL_SUCCESS);
    reduce.set_mem(2, &more);
    queue.write(&more, &[0_u32]);
    assert_eq!(queue.launch(&reduce, &[16], Some(&[8])), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&out, 9)[8], 123);
    let own = program.kernel("own");
    own.set_mem(0, &out);
    own.set_mem(1, &more);
    assert_eq!(queue.launch(&own, &[16], Some(&[16])), CL_SUCCESS);
    let (shared, found) = (program.kernel("shared"), context.buffer_with(CL_MEM_READ_WRITE, 32, std::ptr::null_mut()));
    shared.set_mem(0, &out);
    shared.set_mem(1, &found);
    queue.write(&out, &[0_u32; 32]);
    queue.write(&found, &[0, 0, 0, 0, 5, 6, 7, 8]);
    assert_eq!(queue.launch(&shared, &[16], Some(&[8])), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&out, 24)[..12], [6, 5, 5, 0, 0, 0, 0, 0, 5, 6, 7, 8]);
    assert_eq!(target().cl.clFinish(queue.0), CL_SUCCESS);
    run_right_copies(context, queue, &program.kernel("copies"));
}

fn run_right_copies(context: &Context, queue: &Queue, copies: &Kernel) {
    let (out, given) = (context.buffer(128), context.buffer(128));
    copies.set_mem(0, &out);
    copies.set_mem(1, &given);
    queue.write(&given, &std::array::from_fn::<u32, 32, _>(|index| index as u32));
    assert_eq!(queue.launch(copies, &[8], Some(&[8])), CL_SUCCESS);
    let words = queue.read::<u32>(&out, 24);
    // Elements 7 - l of three blocks of 8 words, and `c[7 - l]`, which is its index and an element of `b`.
    let c: Vec<u32> = (0..8).map(|index| index + 2 * (index % 4)).collect();
    let expected: Vec<u32> = (0..8).map(|l| 3 * (7 - l) + 24 + c[7 - l as usize]).collect();
    assert_eq!(words[..8], expected);
    assert_eq!(words[8..24].iter().copied().step_by(2).collect::<Vec<_>>(), c);
}

static CALLED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn waits(_: cl_event, _: cl_int, queue: *mut c_void) {
    assert_eq!(target().cl.clFinish(queue.cast()), CL_SUCCESS);
    CALLED.store(true, Ordering::SeqCst);
}

/// Acts as an application with errors. A callback waits, and a used buffer is released early. No call waits for a
/// queue's last commands. A context, two buffers and a kernel are never released.
#[test]
#[ignore = "run by errors_of_the_application_are_reported, in a process that checks"]
fn careless() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    eprintln!("@@ careless");
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let mut status = 1;
    let gate = cl.clCreateUserEvent(context.0, &mut status);
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(cl.clSetEventCallback(gate, 0, Some(waits), queue.0.cast()), CL_SUCCESS);
    assert_eq!(cl.clSetUserEventStatus(gate, 0), CL_SUCCESS);
    while !CALLED.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    assert_eq!(cl.clReleaseEvent(gate), CL_SUCCESS);
    // Release a buffer while a pending command uses it. No call waits for that command.
    let late = cl.clCreateUserEvent(context.0, &mut status);
    assert_eq!(status, CL_SUCCESS);
    let used = context.buffer(16);
    let word = 0_u32;
    let place = std::ptr::from_ref(&word).cast();
    assert_eq!(cl.clEnqueueFillBuffer(queue.0, used.0, place, 4, 0, 16, 1, &late, std::ptr::null_mut()), CL_SUCCESS);
    drop(used);
    assert_eq!(cl.clSetUserEventStatus(late, 0), CL_SUCCESS);
    assert_eq!(cl.clReleaseEvent(late), CL_SUCCESS);
    // The correct order: the command completes before the buffer is released.
    let (other, kept) = (context.queue(0), context.buffer(16));
    other.write(&kept, &[1_u32; 4]);
    other.finish();
    drop((kept, other));
    let program = context.build("kernel void forgotten(global int *out) { }");
    std::mem::forget((program.kernel("forgotten"), context.buffer(64), context.buffer(64)));
    drop((program, queue));
    std::mem::forget(context);
}

#[test]
fn errors_of_the_application_are_reported() {
    let report = |mode: &str| {
        let text = child("careless", mode);
        let rest = text.split_once("@@ careless\n").map(|(_, rest)| rest).expect("the test has run");
        rest.lines().filter(|line| line.starts_with("wgcl: ")).map(|line| format!("{line}\n")).collect::<String>()
    };
    let expected = "wgcl: a callback calls a blocking OpenCL function: the behaviour is undefined\n\
                    wgcl: a buffer of 16 bytes was released before the commands that use it were complete\n\
                    wgcl: not released: 2 buffers of 64 bytes, 1 context, 1 kernel 'forgotten'\n\
                    wgcl: the application did not wait for the last commands of 1 queue: \
                    the results of these commands are unknown\n";
    assert_eq!(report("1"), expected);
    assert_eq!(report("0"), "");
}

#[test]
#[ignore = "run by the others, in processes that check"]
fn kernels() {
    let Some(mode) = std::env::var_os(CHILD).filter(|_| common::is_cpu()) else {
        eprintln!("@@ none");
        return;
    };
    let context = Context::new();
    let queue = context.queue(0);
    for wrong in WRONG {
        assert_eq!(run_wrong(&context, &queue, wrong), mode == "1", "{}", wrong.name);
    }
    if mode == "1" {
        for (name, statements, _) in RACES_BETWEEN_LINES {
            run_race_between_lines(&context, &queue, name, statements);
        }
    }
    run_right(&context, &queue);
    eprintln!("@@ end");
}

/// Returns the output of a process that ran one of these tests with this value of `WGCL_CHECK`.
fn child(test: &str, mode: &str) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let command = command.args(["--exact", test, "--ignored", "--nocapture"]).env(CHILD, mode).env("WGCL_CHECK", mode);
    let Output { status, stderr, .. } = command.output().expect("a process");
    let text = String::from_utf8_lossy(&stderr).into_owned();
    assert!(status.success(), "{text}");
    text
}

/// Returns the output of the process that runs the kernels, if the device supports checks.
fn report(mode: &str) -> Option<String> {
    let text = child("kernels", mode);
    (!text.contains("@@ none")).then_some(text)
}

/// Returns the part of the output for one kernel.
fn of<'t>(text: &'t str, name: &str) -> &'t str {
    let rest = text.split_once(&format!("@@ {name}\n")).map(|(_, rest)| rest);
    assert!(rest.is_some(), "{name} was not run:\n{text}");
    rest.and_then(|rest| rest.split("@@ ").next()).unwrap_or_default()
}

#[test]
fn errors_of_kernels_are_reported() {
    let Some(text) = report("1") else { return };
    for wrong in WRONG {
        let column = |part: &str| wrong.statement.find(part).expect("a part of the line") + 1;
        let mut expected = vec![format!("<source>:3:{}: error: kernel '{}': {}", column(wrong.at), wrong.name, wrong.message)];
        expected.extend(wrong.other.map(|other| format!("<source>:3:{}: note: the ", column(other))));
        let report = of(&text, wrong.name);
        let lines: Vec<&str> = report.lines().filter(|line| line.starts_with("<source>")).collect();
        let fits = lines.len() == expected.len() && lines.iter().zip(&expected).all(|(line, expected)| line.starts_with(expected.as_str()));
        assert!(fits, "{expected:#?} but\n{report}");
    }
    assert_eq!(of(&text, "right"), "");
    for (name, _, fence) in RACES_BETWEEN_LINES {
        let remedy = format!("; a barrier({fence}) between line 3 and line 4 orders them");
        let report = of(&text, name);
        assert!(report.lines().any(|line| line.contains(": note: the other access") && line.ends_with(&remedy)), "{remedy} but\n{report}");
    }
    let summary = of(&text, "end").lines().find(|line| line.starts_with("wgcl: checked ")).unwrap_or_default();
    assert!(summary.ends_with(&format!(" kernels: {} errors", WRONG.len() + RACES_BETWEEN_LINES.len())), "{summary}");
}

#[test]
fn errors_fail_the_launch_on_request() {
    let Some(text) = report("fatal") else { return };
    assert_eq!(of(&text, "right"), "");
}
