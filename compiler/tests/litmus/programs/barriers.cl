// Work-items of one group exchange values through global and local memory, with barriers of each scope.
// buffers: x out
// groups: 1
// group size: 6
// events: 40
// case: -DSCOPE=memory_scope_work_group
// forbidden: out[0] = 0
// forbidden: out[5] = 0
// forbidden: out[6] = 0
// forbidden: out[11] = 0
// allowed: out[0] = 6, out[5] = 1, out[6] = 6, out[11] = 1
// case: -DSCOPE=memory_scope_device
// forbidden: out[0] = 0
// forbidden: out[5] = 0
// forbidden: out[6] = 0
// forbidden: out[11] = 0
// allowed: out[0] = 6, out[5] = 1, out[6] = 6, out[11] = 1

kernel void barriers(global int *x, global int *out)
{
    local int y[6];
    int i = get_local_id(0), other = 5 - i;
    x[i] = i + 1;
    y[i] = i + 1;
    work_group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, SCOPE);
    out[i] = x[other];
    out[6 + i] = y[other];
}
