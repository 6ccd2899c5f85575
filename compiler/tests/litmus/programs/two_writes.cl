// Two work-groups write two places in different orders. The last values must have one order of all writes.
// buffers: x y
// case: -DORDER=memory_order_seq_cst
// forbidden: x = 1, y = 1
// allowed: x = 2, y = 1
// allowed: x = 2, y = 2
// needs: 0 1
// case: -DORDER=memory_order_relaxed
// allowed: x = 1, y = 1

kernel void two_writes(global atomic_int *x, global atomic_int *y)
{
    bool first = get_group_id(0) == 0;
    atomic_store_explicit(first ? x : y, 1, ORDER, memory_scope_device);
    atomic_store_explicit(first ? y : x, 2, ORDER, memory_scope_device);
}
