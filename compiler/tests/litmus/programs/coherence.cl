// Accesses of two work-groups to one place. All orders keep its history.
// buffers: x out
// case:
// forbidden: out[0] = 1, out[1] = 0
// forbidden: out[0] = 2, out[1] = 1
// forbidden: out[0] = 2, out[1] = 0
// forbidden: x = 1
// forbidden: x = 0
// allowed: out[0] = 0, out[1] = 2
// allowed: out[0] = 1, out[1] = 2
// allowed: out[0] = 0, out[1] = 1

kernel void coherence(global atomic_int *x, global int *out)
{
    if (get_group_id(0) == 0) {
        atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
        atomic_store_explicit(x, 2, memory_order_relaxed, memory_scope_device);
    } else {
        int a = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
        int b = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
        out[1] = b;
        out[0] = a;
    }
}
