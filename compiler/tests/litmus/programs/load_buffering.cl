// Each work-group reads the other group's flag and then writes its own.
// buffers: x y out
// case: -DORDER=memory_order_relaxed
// allowed: out[0] = 1, out[1] = 1
// case: -DORDER=memory_order_relaxed -DFENCE=memory_order_acquire
// forbidden: out[0] = 1, out[1] = 1
// allowed: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DORDER=memory_order_relaxed -DFENCE=memory_order_release
// forbidden: out[0] = 1, out[1] = 1
// needs: 0 1
// case: -DORDER=memory_order_seq_cst
// forbidden: out[0] = 1, out[1] = 1
// needs: 0 1

kernel void load_buffering(global atomic_int *x, global atomic_int *y, global int *out)
{
    bool first = get_group_id(0) == 0;
    global atomic_int *mine = first ? x : y;
    global atomic_int *other = first ? y : x;
    int seen = atomic_load_explicit(other, ORDER, memory_scope_device);
#ifdef FENCE
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, FENCE, memory_scope_device);
#endif
    atomic_store_explicit(mine, 1, ORDER, memory_scope_device);
    out[get_group_id(0)] = seen;
}
