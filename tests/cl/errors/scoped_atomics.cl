// If only barriers order memory beyond a work-group, OpenCL C 3.0 has relaxed atomics, and fences of work-group scope.
// requires: wgcl !__opencl_c_atomic_order_acq_rel
// build: -cl-std=CL3.0

kernel void f(global atomic_int *a, global int *out, int order, int scope)
{
    out[0] = atomic_load_explicit(a, memory_order_acquire, memory_scope_work_group);      // error: requires the feature __opencl_c_atomic_order_acq_rel
    out[1] = atomic_load_explicit(a, memory_order_acquire, memory_scope_device);          // error: requires the feature __opencl_c_atomic_order_acq_rel
    out[2] = atomic_load_explicit(a, (memory_order)order, memory_scope_device);           // error: a memory order other than memory_order_relaxed
    out[3] = atomic_fetch_add(a, 1);                                                      // error: requires the feature __opencl_c_atomic_order_seq_cst
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);     // error: a fence with a scope wider than memory_scope_work_group requires the feature __opencl_c_atomic_order_acq_rel
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_all_devices); // error: a fence with a scope wider than memory_scope_work_group
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, (memory_scope)scope);     // error: a fence with a scope wider than memory_scope_work_group
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);                        // error: a fence with a scope wider than memory_scope_work_group
    // Relaxed atomics of every scope, relaxed fences, and fences of work-group scope are always supported.
    out[4] = atomic_load_explicit(a, memory_order_relaxed);
    out[5] = atomic_load_explicit(a, memory_order_relaxed, memory_scope_device);
    out[6] = atomic_load_explicit(a, memory_order_relaxed, memory_scope_all_svm_devices);
    out[7] = atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_work_group);
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_relaxed, memory_scope_device);
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);
}
