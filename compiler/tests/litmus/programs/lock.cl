// Two work-groups that take a lock add to a number.
// buffers: lock x out
// case: -DTAKE=memory_order_acquire -DGIVE=memory_order_release
// forbidden: out[0] = 1, out[1] = 1, x = 1
// allowed: out[0] = 1, out[1] = 1, x = 2
// allowed: out[0] = 1, out[1] = 0, x = 1
// case: -DTAKE=memory_order_relaxed -DGIVE=memory_order_relaxed
// allowed: out[0] = 1, out[1] = 1, x = 2

kernel void take_lock(global atomic_int *lock, global int *x, global int *out)
{
    int expected = 0;
    if (atomic_compare_exchange_strong_explicit(lock, &expected, 1, TAKE, memory_order_relaxed, memory_scope_device)) {
        *x += 1;
        atomic_store_explicit(lock, 0, GIVE, memory_scope_device);
        out[get_group_id(0)] = 1;
    }
}
