// Each work-group writes a flag and reads the other group's.
// buffers: x y out
// case: -DSTORE=memory_order_seq_cst -DLOAD=memory_order_seq_cst
// forbidden: out[0] = 0, out[1] = 0
// allowed: out[0] = 0, out[1] = 1
// allowed: out[0] = 1, out[1] = 1
// needs: 0 1
// case: -DSTORE=memory_order_release -DLOAD=memory_order_acquire
// allowed: out[0] = 0, out[1] = 0
// case: -DSTORE=memory_order_relaxed -DLOAD=memory_order_relaxed
// allowed: out[0] = 0, out[1] = 0
// case: -DSTORE=memory_order_relaxed -DLOAD=memory_order_relaxed -DFENCE=memory_order_seq_cst
// forbidden: out[0] = 0, out[1] = 0
// needs: 0 1

kernel void store_buffering(global atomic_int *x, global atomic_int *y, global int *out)
{
    bool first = get_group_id(0) == 0;
    global atomic_int *mine = first ? x : y;
    global atomic_int *other = first ? y : x;
    atomic_store_explicit(mine, 1, STORE, memory_scope_device);
#ifdef FENCE
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, FENCE, memory_scope_device);
#endif
    out[get_group_id(0)] = atomic_load_explicit(other, LOAD, memory_scope_device);
}
