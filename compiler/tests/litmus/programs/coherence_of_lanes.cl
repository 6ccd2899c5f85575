// The work-items of a group read one place. Each reads twice, and the second value is not older.
// buffers: x out
// group size: 4
// case:
// forbidden: out[0] = 1, out[4] = 0
// forbidden: out[3] = 1, out[7] = 0
// allowed: out[0] = 0, out[4] = 1
// allowed: out[0] = 1, out[4] = 1

kernel void coherence_of_lanes(global atomic_int *x, global int *out)
{
    if (get_group_id(0) == 0) {
        if (get_local_id(0) == 0)
            atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
    } else {
        int a = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
        int b = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
        out[get_local_id(0)] = a;
        out[4 + get_local_id(0)] = b;
    }
}
