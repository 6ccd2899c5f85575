// A work-item writes x, another one of its work-group sets a flag after a barrier. Two work-items of another group read
// the flag and x. The barrier is one of the subgroup.
// buffers: x flag out
// group size: 4
// case: -DFLAGS=CLK_GLOBAL_MEM_FENCE
// forbidden: out[0] = 1, out[1] = 0
// allowed: out[0] = 0, out[1] = 1
// needs: 0 1
// case: -DFLAGS=CLK_GLOBAL_MEM_FENCE|CLK_LOCAL_MEM_FENCE
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1

kernel void message_passing_subgroups(global int *x, global atomic_int *flag, global int *out)
{
    int last = get_local_size(0) - 1;
    if (get_group_id(0) == 0) {
        if (get_local_id(0) == 0)
            *x = 1;
        sub_group_barrier(FLAGS, memory_scope_device);
        if (get_local_id(0) == last)
            atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    } else {
        if (get_local_id(0) == last)
            out[0] = atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device);
        sub_group_barrier(FLAGS, memory_scope_device);
        if (get_local_id(0) == 0)
            out[1] = *x;
    }
}
