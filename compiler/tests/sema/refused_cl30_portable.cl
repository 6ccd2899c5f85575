// build: -cl-std=CL3.0
// device: portable
// Only barriers order memory beyond a work-group here: atomics are relaxed, and fences have work-group scope.
kernel void k(global atomic_int *a, global int *out) {
    out[0] = atomic_load_explicit(a, memory_order_relaxed, memory_scope_work_group);
    out[1] = atomic_load_explicit(a, memory_order_relaxed);
    out[2] = atomic_load_explicit(a, memory_order_relaxed, memory_scope_device);
    out[3] = atomic_load_explicit(a, memory_order_relaxed, memory_scope_all_devices);
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device); // error: a fence with a scope wider than memory_scope_work_group requires the feature __opencl_c_atomic_order_acq_rel, which this device lacks
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, 4, 2); // error: a fence with a scope wider than memory_scope_work_group
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device); // error: a fence with a scope wider than memory_scope_work_group
    out[4] = atomic_load_explicit(a, memory_order_acquire, memory_scope_work_group); // error: requires the feature __opencl_c_atomic_order_acq_rel
    out[5] = atomic_fetch_add(a, 1); // error: 'atomic_fetch_add' is sequentially consistent and requires the feature __opencl_c_atomic_order_seq_cst
    out[6] = atomic_load_explicit(a, memory_order_seq_cst, memory_scope_work_group); // error: 'memory_order_seq_cst' requires the feature
}
