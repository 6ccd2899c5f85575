// OpenCL C 2.0 requires sequential consistency and the scope of all devices: programs build on every device.
// for: T = int, uint
// build: -cl-std=CL2.0 -DA=atomic_$T

kernel void k(global A *a, global T *old)
{
    local A here;
    if (get_local_id(0) == 0)
        atomic_init(&here, (T)0);
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_all_svm_devices);
    atomic_fetch_add(&here, (T)1);
    atomic_fetch_add_explicit(&a[0], (T)2, memory_order_seq_cst, memory_scope_all_svm_devices);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        old[get_group_id(0)] = atomic_load_explicit(&here, memory_order_seq_cst);
}
// run: k global=64 local=16
// arg a: $T[1]
// arg old: $T[4]
// expect a: 128
// expect old: 16
