// A work-group writes a vector, then sets a flag. Another one reads the flag, then the vector.
// buffers: x flag out
// case:
// forbidden: out[4] = 1, out[0] = 0
// forbidden: out[4] = 1, out[3] = 0
// allowed: out[4] = 1, out[0] = 1, out[3] = 4
// allowed: out[4] = 0, out[0] = 1, out[3] = 0
// needs: 0 1

kernel void message_passing_vectors(global int4 *x, global atomic_int *flag, global int *out)
{
    if (get_group_id(0) == 0) {
        *x = (int4)(1, 2, 3, 4);
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else {
        int seen = atomic_load_explicit(flag, memory_order_acquire, memory_scope_device);
        vstore4(*x, 0, out);
        out[4] = seen;
    }
}
