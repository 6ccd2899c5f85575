// Message passing by relaxed atomic accesses to the flag, with fences.
// buffers: x flag out
// case: -DWRITER=memory_order_release -DREADER=memory_order_acquire
// forbidden: out[0] = 1, out[1] = 0
// allowed: out[0] = 0, out[1] = 1
// needs: 0 1
// case: -DWRITER=memory_order_acq_rel -DREADER=memory_order_acq_rel
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DWRITER=memory_order_seq_cst -DREADER=memory_order_seq_cst
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DWRITER=memory_order_relaxed -DREADER=memory_order_acquire
// allowed: out[0] = 1, out[1] = 0
// case: -DWRITER=memory_order_release -DREADER=memory_order_relaxed
// allowed: out[0] = 1, out[1] = 0

kernel void message_passing_fences(global int *x, global atomic_int *flag, global int *out)
{
    if (get_group_id(0) == 0) {
        *x = 1;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, WRITER, memory_scope_device);
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    } else {
        int seen = atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, READER, memory_scope_device);
        out[0] = seen;
        out[1] = *x;
    }
}
