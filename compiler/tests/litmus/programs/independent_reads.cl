// Two work-groups write two flags. Two others read them in different orders, and must agree on which was first.
// buffers: x y out
// groups: 4
// case: -DSTORE=memory_order_seq_cst -DLOAD=memory_order_seq_cst
// forbidden: out[0] = 1, out[1] = 0, out[2] = 1, out[3] = 0
// allowed: out[0] = 1, out[1] = 0, out[2] = 0, out[3] = 1
// needs: 2 3
// case: -DSTORE=memory_order_relaxed -DLOAD=memory_order_relaxed -DFENCE=memory_order_seq_cst
// forbidden: out[0] = 1, out[1] = 0, out[2] = 1, out[3] = 0
// needs: 2 3
// case: -DSTORE=memory_order_relaxed -DLOAD=memory_order_relaxed
// allowed: out[0] = 1, out[1] = 0, out[2] = 1, out[3] = 0

kernel void independent_reads(global atomic_int *x, global atomic_int *y, global int *out)
{
    int group = get_group_id(0);
    if (group < 2) {
        atomic_store_explicit(group == 0 ? x : y, 1, STORE, memory_scope_device);
    } else {
        bool first = group == 2;
        int a = atomic_load_explicit(first ? x : y, LOAD, memory_scope_device);
#ifdef FENCE
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, FENCE, memory_scope_device);
#endif
        int b = atomic_load_explicit(first ? y : x, LOAD, memory_scope_device);
        out[2 * (group - 2)] = a;
        out[2 * (group - 2) + 1] = b;
    }
}
