// Sums, minima and maxima of contended atomic floats in global and local memory (cl_ext_float_atomics).
// for: T = float, double, half
// requires: cl_ext_float_atomics
// requires: atomic_$T
// requires: wgcl
// build: -cl-std=CL2.0 -DATOMIC=atomic_$T

#ifndef cl_ext_float_atomics
#error the extension's macro is missing
#endif

kernel void k(global ATOMIC *a, global T *locals, global T *olds)
{
    local ATOMIC l[4];
    uint id = get_local_id(0);
    if (id < 4)
        atomic_init(&l[id], id == 1 ? (T)1000 : (T)0);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    T x = (T)get_global_id(0);
    atomic_fetch_add(&a[0], x);
    atomic_fetch_sub_explicit(&a[1], (T)0.5, memory_order_relaxed);
    atomic_fetch_min(&a[2], 10 - x);
    atomic_fetch_max_explicit(&a[3], 10 + x, memory_order_relaxed, memory_scope_device);
    olds[get_global_id(0)] = atomic_fetch_add(&a[4 + get_global_id(0)], (T)1.25);
    atomic_fetch_add_explicit(&l[0], (T)id, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_min(&l[1], (T)id - 7);
    atomic_fetch_max(&l[2], (T)id);
    atomic_fetch_sub(&l[3], (T)1);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (id < 4)
        locals[4 * get_group_id(0) + id] = atomic_load(&l[id]);
}
// run: k global=64 local=32
// arg a: $T[68] = i < 4 ? 0 : i
// arg locals: $T[8]
// arg olds: $T[64]
// expect a: i == 0 ? 2016 : i == 1 ? -32 : i == 2 ? -53 : i == 3 ? 73 : i + 1.25
// expect locals: {496, -7, 31, -32}
// expect olds: i + 4

// Minima and maxima ignore NaNs, and operations without arithmetic are rejected.
kernel void edges(global ATOMIC *a)
{
    atomic_fetch_min(&a[0], (T)1);
    atomic_fetch_max(&a[1], (T)1);
    atomic_fetch_min(&a[2], (T)NAN);
    atomic_fetch_max(&a[3], (T)-INFINITY);
}
// run: edges global=1
// arg a: $T[4] = {nan, nan, 2, 3}
// expect a: {1, 1, 2, 3}
