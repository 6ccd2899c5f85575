// C11 atomics on global and local memory: every function, with and without orders and scopes.
// for: T = int, uint
// build: -cl-std=CL2.0 -DA=atomic_$T

kernel void fetch(global A *a, global T *old)
{
    old[0] = atomic_fetch_add(&a[0], (T)5);
    old[1] = atomic_fetch_sub_explicit(&a[1], (T)5, memory_order_relaxed);
    old[2] = atomic_fetch_or_explicit(&a[2], (T)0xf0, memory_order_acquire, memory_scope_device);
    old[3] = atomic_fetch_xor_explicit(&a[3], (T)0xff, memory_order_release, memory_scope_work_group);
    old[4] = atomic_fetch_and_explicit(&a[4], (T)0x0f, memory_order_acq_rel, memory_scope_device);
    old[5] = atomic_fetch_min(&a[5], (T)7);
    old[6] = atomic_fetch_max(&a[6], (T)7000);
    old[7] = atomic_exchange(&a[7], (T)77);
}
// run: fetch global=1
// arg a: $T[8] = 1000 + i
// arg old: $T[8]
// expect a: {1005, 996, 1018, 788, 12, 7, 7000, 77}
// expect old: 1000 + i

kernel void exchange(global A *a, global T *seen, global int *done)
{
    T expected = 10;
    done[0] = atomic_compare_exchange_strong(&a[0], &expected, (T)20);
    seen[0] = expected;
    expected = 11;
    done[1] = atomic_compare_exchange_strong_explicit(&a[1], &expected, (T)20, memory_order_acq_rel, memory_order_relaxed);
    seen[1] = expected;
    local T place;
    place = 10;
    done[2] = atomic_compare_exchange_weak_explicit(&a[2], &place, (T)30, memory_order_relaxed, memory_order_relaxed, memory_scope_device);
    seen[2] = place;
    seen[3] = atomic_load(&a[3]);
    atomic_store(&a[3], (T)40);
    seen[4] = atomic_load_explicit(&a[4], memory_order_acquire, memory_scope_device);
    atomic_store_explicit(&a[4], (T)50, memory_order_release);
    atomic_init(&a[5], (T)60);
}
// run: exchange global=1
// arg a: $T[6] = 10
// arg seen: $T[5]
// arg done: int[3]
// expect a: {20, 10, 30, 40, 50, 60}
// expect seen: 10
// expect done: {1, 0, 1}

kernel void counted(global A *total, global T *out)
{
    local A here;
    local atomic_flag taken;
    if (get_local_id(0) == 0)
        atomic_init(&here, (T)0);
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    atomic_fetch_add_explicit(&here, (T)1, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_fetch_add(total, atomic_load(&here));
        atomic_flag_clear(&taken);
        int first = atomic_flag_test_and_set(&taken);
        int second = atomic_flag_test_and_set_explicit(&taken, memory_order_acquire);
        out[get_group_id(0)] = first * 10 + second;
    }
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
}
// run: counted global=48 local=16
// arg total: $T[1]
// arg out: $T[3]
// expect total: 48
// expect out: 1
