// Message passing by a flag of 64 bits.
// buffers: x flag out
// cell: 8
// case:
// forbidden: out[0] = 4294967297, out[1] = 0
// allowed: out[0] = 0, out[1] = 1
// allowed: out[0] = 4294967297, out[1] = 1
// needs: 0 1

kernel void message_passing_longs(global long *x, global atomic_long *flag, global long *out)
{
    if (get_group_id(0) == 0) {
        *x = 1;
        atomic_store_explicit(flag, 0x100000001, memory_order_release, memory_scope_device);
    } else {
        out[0] = atomic_load_explicit(flag, memory_order_acquire, memory_scope_device);
        out[1] = *x;
    }
}
