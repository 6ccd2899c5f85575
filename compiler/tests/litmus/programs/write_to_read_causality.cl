// A second work-group passes on what it has read of the first. A third reads both.
// buffers: x y out
// groups: 3
// case: -DSTORE=memory_order_release -DLOAD=memory_order_acquire
// forbidden: out[0] = 1, out[1] = 1, out[2] = 0
// allowed: out[0] = 1, out[1] = 0, out[2] = 0
// needs: 1 2
// case: -DSTORE=memory_order_relaxed -DLOAD=memory_order_relaxed
// allowed: out[0] = 1, out[1] = 1, out[2] = 0

kernel void write_to_read_causality(global atomic_int *x, global atomic_int *y, global int *out)
{
    switch (get_group_id(0)) {
    case 0:
        atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
        break;
    case 1:
        out[0] = atomic_load_explicit(x, LOAD, memory_scope_device);
        atomic_store_explicit(y, 1, STORE, memory_scope_device);
        break;
    default:
        out[1] = atomic_load_explicit(y, LOAD, memory_scope_device);
        out[2] = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
    }
}
