// build: -cl-std=CL3.0
// Orders and scopes are features of OpenCL C 3.0: this device has acquire and release, no total order.
#ifdef memory_order_seq_cst
#error a macro without its feature
#endif
kernel void k(global atomic_int *a, global int *out) {
    out[0] = atomic_load_explicit(a, memory_order_acquire) + atomic_load_explicit(a, memory_order_relaxed, memory_scope_all_svm_devices);
    out[1] = atomic_fetch_add(a, 1); // error: 'atomic_fetch_add' is sequentially consistent and requires the feature __opencl_c_atomic_order_seq_cst
    atomic_store_explicit(a, 1, memory_order_seq_cst, memory_scope_device); // error: 'memory_order_seq_cst' requires the feature __opencl_c_atomic_order_seq_cst
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); // error: 'memory_order_seq_cst' requires the feature
}
