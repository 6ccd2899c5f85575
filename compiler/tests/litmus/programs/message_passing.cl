// A work-group writes x, then sets a flag. Another one reads the flag, then x.
// buffers: x flag out
// case: -DSTORE=memory_order_release -DLOAD=memory_order_acquire -DSCOPE=memory_scope_device
// forbidden: out[0] = 1, out[1] = 0
// allowed: out[0] = 0, out[1] = 0
// allowed: out[0] = 0, out[1] = 1
// allowed: out[0] = 1, out[1] = 1
// needs: 0 1
// case: -DSTORE=memory_order_release -DLOAD=memory_order_acquire -DSCOPE=memory_scope_all_devices
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DSTORE=memory_order_seq_cst -DLOAD=memory_order_seq_cst -DSCOPE=memory_scope_device
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DSTORE=memory_order_release -DLOAD=memory_order_seq_cst -DSCOPE=memory_scope_device
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1
// case: -DSTORE=memory_order_relaxed -DLOAD=memory_order_relaxed -DSCOPE=memory_scope_device
// allowed: out[0] = 1, out[1] = 0
// case: -DSTORE=memory_order_release -DLOAD=memory_order_relaxed -DSCOPE=memory_scope_device
// allowed: out[0] = 1, out[1] = 0
// case: -DSTORE=memory_order_relaxed -DLOAD=memory_order_acquire -DSCOPE=memory_scope_device
// allowed: out[0] = 1, out[1] = 0

kernel void message_passing(global int *x, global atomic_int *flag, global int *out)
{
    if (get_group_id(0) == 0) {
        *x = 1;
        atomic_store_explicit(flag, 1, STORE, SCOPE);
    } else {
        out[0] = atomic_load_explicit(flag, LOAD, SCOPE);
        out[1] = *x;
    }
}
