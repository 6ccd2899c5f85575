// Message passing by an atomic half, which has the value 1 (bits 15360).
// buffers: x flag out
// cell: 2
// case:
// forbidden: out[0] = 15360, out[1] = 0
// allowed: out[0] = 0, out[1] = 7
// needs: 0 1

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void message_passing_halves(global short *x, global atomic_half *flag, global short *out)
{
    if (get_group_id(0) == 0) {
        *x = 7;
        atomic_store_explicit(flag, 1.0h, memory_order_release, memory_scope_device);
    } else {
        out[0] = as_short(atomic_load_explicit(flag, memory_order_acquire, memory_scope_device));
        out[1] = *x;
    }
}
