// Atomic halves (cl_ext_float_atomics): two in one word, some of them written without atomics, and every function.
// requires: cl_ext_float_atomics
// requires: __opencl_c_atomic_order_acq_rel
// requires: cl_khr_fp16
// requires: wgcl
// build: -cl-std=CL3.0

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void k(global atomic_half *a, global half *out)
{
    out[0] = atomic_exchange_explicit(&a[0], 2.5h, memory_order_relaxed);
    out[1] = atomic_load_explicit(&a[1], memory_order_acquire);
    atomic_store_explicit(&a[1], 3.5h, memory_order_release);
    half expected = 1.5h;
    out[2] = atomic_compare_exchange_strong_explicit(&a[2], &expected, 4.5h, memory_order_relaxed, memory_order_relaxed);
    expected = 9.0h;
    out[3] = atomic_compare_exchange_weak_explicit(&a[3], &expected, 1.0h, memory_order_acq_rel, memory_order_acquire, memory_scope_device);
    out[4] = expected;
    out[5] = atomic_fetch_min_explicit(&a[4], 0.25h, memory_order_relaxed);
    out[6] = atomic_fetch_max_explicit(&a[5], 60000.0h, memory_order_relaxed);
    out[7] = atomic_fetch_sub_explicit(&a[6], 0.5h, memory_order_relaxed);
}
// run: k global=1
// arg a: half[8] = 1.5
// arg out: half[8] = 7
// expect a: {2.5, 3.5, 4.5, 1.5, 0.25, 60000, 1, 1.5}
// expect out: {1.5, 1.5, 1, 0, 1.5, 1.5, 1.5, 1.5}

// Every second half is a sum over many work-items. Each other half belongs to one work-item, which stores it.
kernel void neighbours(global atomic_half *sums, global half *locals)
{
    local atomic_half l[32];
    uint id = get_local_id(0);
    atomic_init(&l[id], 0.0h);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 8; i++) {
        atomic_fetch_add_explicit(&sums[2 * (id & 3)], 1.0h, memory_order_relaxed);
        ((volatile global half *)sums)[2 * (id & 3) + 1] = 5.0h;
        atomic_fetch_add_explicit(&l[id / 2 & 6], 0.5h, memory_order_relaxed, memory_scope_work_group);
        ((volatile local half *)l)[id / 2 & 6 | 1] = (half)(id / 2 & 6);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0)
        locals[id] = atomic_load_explicit(&l[id], memory_order_relaxed);
}
// run: neighbours global=256 local=32
// arg sums: half[8] = 0
// arg locals: half[32] = 1
// expect sums: i & 1 ? 5 : 512
// expect locals: i >= 8 ? 0 : i & 1 ? i - 1 : 32

// A half at the end of memory, alone in its word.
kernel void last(global atomic_half *one)
{
    atomic_fetch_add_explicit(one, 1.0h, memory_order_relaxed);
}
// run: last global=100
// arg one: half[1] = 4
// expect one: 104

// A counted loop of exchanges. It must not be unrolled: each exchange is a loop on devices without atomics of 16 bits.
kernel void repeated(global half *old)
{
    local atomic_half l;
    uint id = get_local_id(0);
    if (id == 0)
        atomic_init(&l, 32.0h);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    half mine = atomic_exchange_explicit(&l, (half)id, memory_order_relaxed, memory_scope_work_group);
    for (uint i = 0; i < 100; i++)
        mine = atomic_exchange_explicit(&l, mine, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    // The values 0 to 32 are distributed over the work-items and the variable. Their sum is 528.
    local uint sum;
    if (id == 0)
        sum = (uint)atomic_load_explicit(&l, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, (uint)mine);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    old[id] = (half)sum;
}
// run: repeated global=32 local=32
// arg old: half[32] = 0
// expect old: 528
