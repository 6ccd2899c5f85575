// A work-group that reads the flag of another overwrites the other's value.
// buffers: x flag out
// case: -DSTORE=memory_order_release -DLOAD=memory_order_acquire
// forbidden: out[0] = 1, x = 2
// allowed: out[0] = 0, x = 2
// allowed: out[0] = 1, x = 1
// needs: 0 1
// case: -DSTORE=memory_order_relaxed -DLOAD=memory_order_relaxed
// allowed: out[0] = 1, x = 2

kernel void overwrite(global int *x, global atomic_int *flag, global int *out)
{
    if (get_group_id(0) == 0) {
        *x = 2;
        atomic_store_explicit(flag, 1, STORE, memory_scope_device);
    } else {
        out[0] = atomic_load_explicit(flag, LOAD, memory_scope_device);
        *x = 1;
    }
}
