// If only barriers order memory beyond a work-group, OpenCL C 3.0 has only relaxed atomics of work-group scope.
// requires: wgcl !__opencl_c_atomic_scope_device
// build: -cl-std=CL3.0

kernel void f(global atomic_int *a, global int *out)
{
    out[0] = atomic_load_explicit(a, memory_order_relaxed); // error: 'atomic_load_explicit' has device scope and requires the feature __opencl_c_atomic_scope_device
    out[1] = atomic_load_explicit(a, memory_order_relaxed, memory_scope_device);          // error: 'memory_scope_device' requires the feature __opencl_c_atomic_scope_device
    out[2] = atomic_load_explicit(a, memory_order_relaxed, memory_scope_all_svm_devices); // error: 'memory_scope_all_svm_devices' requires the feature __opencl_c_atomic_scope_all_devices
    out[3] = atomic_load_explicit(a, memory_order_relaxed, memory_scope_all_devices);     // error: 'memory_scope_all_devices' requires the feature __opencl_c_atomic_scope_all_devices
    out[4] = atomic_load_explicit(a, memory_order_acquire, memory_scope_work_group);      // error: requires the feature __opencl_c_atomic_order_acq_rel
    out[5] = atomic_fetch_add(a, 1);                                                      // error: requires the feature __opencl_c_atomic_order_seq_cst
    out[7] = atomic_load_explicit(a, 0, 2);                                               // error: 'memory_scope_device' requires the feature __opencl_c_atomic_scope_device
    // Acquire and release fences within a work-group are always supported.
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    out[6] = atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_work_group);
}
