// Sequential consistency in OpenCL C 3.0: functions without an order, the order's name, fences, all_svm_devices scope.
// requires: __opencl_c_atomic_order_seq_cst __opencl_c_atomic_scope_all_devices
// build: -cl-std=CL3.0

#if !defined(__opencl_c_atomic_order_seq_cst) || !defined(__opencl_c_atomic_scope_device) || !defined(memory_order_seq_cst)
#error the features' macros are missing
#endif

kernel void functions(global atomic_int *a, global int *old)
{
    local atomic_flag taken;
    atomic_flag_clear(&taken);
    old[0] = atomic_fetch_add(&a[0], 5);
    old[1] = atomic_exchange(&a[1], 7);
    old[2] = atomic_load(&a[2]);
    atomic_store(&a[2], 9);
    int expected = 3;
    old[3] = atomic_compare_exchange_strong(&a[3], &expected, 11);
    old[4] = atomic_flag_test_and_set(&taken) + 2 * atomic_flag_test_and_set(&taken);
    old[5] = atomic_fetch_sub_explicit(&a[5], 1, memory_order_seq_cst);
    old[6] = atomic_fetch_or_explicit(&a[6], 8, memory_order_seq_cst, memory_scope_all_svm_devices);
    old[7] = atomic_fetch_max_explicit(&a[7], 100, memory_order_acq_rel, memory_scope_all_devices);
}
// run: functions global=1
// arg a: int[8] = i
// arg old: int[8]
// expect a: {5, 7, 9, 11, 4, 4, 14, 100}
// expect old: {0, 1, 2, 1, 2, 5, 6, 7}

// Two work-items each store one variable and then load the other one: at least one must see the other's store.
kernel void dekker(global atomic_int *flags, global int *seen)
{
    int me = get_local_id(0), pair = get_group_id(0);
    atomic_store(&flags[2 * pair + me], 1);
    seen[2 * pair + me] = atomic_load(&flags[2 * pair + 1 - me]);
    work_group_barrier(CLK_GLOBAL_MEM_FENCE);
    if (me == 0)
        seen[2 * pair] |= seen[2 * pair + 1];
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_all_svm_devices);
}
// run: dekker global=64 local=2
// arg flags: int[64]
// arg seen: int[64]
// expect flags: 1
// expect seen if i % 2 == 0: 1
// expect seen if i % 2 == 1: _
