// In OpenCL C 3.0 an order that the device does not report is rejected: the atomic would be weaker than requested.
// requires: wgcl __opencl_c_atomic_order_acq_rel !__opencl_c_atomic_order_seq_cst
// build: -cl-std=CL3.0

#ifdef memory_order_seq_cst
#error a macro of a feature that the device does not have
#endif

kernel void f(global atomic_int *a, local atomic_flag *taken, global int *out)
{
    atomic_fetch_add(a, 1);             // error: 'atomic_fetch_add' is sequentially consistent and requires the feature __opencl_c_atomic_order_seq_cst
    atomic_store(a, 1);                 // error: requires the feature __opencl_c_atomic_order_seq_cst
    out[0] = atomic_load(a);            // error: use 'atomic_load_explicit' with a weaker order
    out[1] = atomic_exchange(a, 1);     // error: requires the feature __opencl_c_atomic_order_seq_cst
    int expected = 1;
    atomic_compare_exchange_weak(a, &expected, 2); // error: requires the feature __opencl_c_atomic_order_seq_cst
    atomic_flag_clear(taken);           // error: requires the feature __opencl_c_atomic_order_seq_cst
    atomic_store_explicit(a, 1, memory_order_seq_cst); // error: 'memory_order_seq_cst' requires the feature __opencl_c_atomic_order_seq_cst
    memory_order order = memory_order_seq_cst;         // error: 'memory_order_seq_cst' requires the feature
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); // error: 'memory_order_seq_cst' requires the feature
    // The orders given by value.
    atomic_store_explicit(a, 1, 5);                    // error: 'memory_order_seq_cst' requires the feature __opencl_c_atomic_order_seq_cst
    out[5] = atomic_load_explicit(a, (memory_order)(4 + 1), memory_scope_device); // error: 'memory_order_seq_cst' requires the feature
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, 5, memory_scope_device); // error: 'memory_order_seq_cst' requires the feature
    // Supported orders, and a value that is not an order.
    atomic_init(a, 1);
    out[2] = atomic_fetch_add_explicit(a, 1, memory_order_acq_rel, memory_scope_device);
    out[3] = atomic_load_explicit(a, memory_order_acquire, memory_scope_all_svm_devices);
    out[4] = atomic_inc((volatile global int *)out);
}
