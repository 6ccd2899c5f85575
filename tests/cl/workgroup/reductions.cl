// Tree reductions and scans in local memory, with barriers in loops.

kernel void total(global const int *a, global int *out, local int *tmp)
{
    int k = get_local_id(0);
    tmp[k] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = get_local_size(0) / 2; half_size > 0; half_size >>= 1) {
        if (k < half_size)
            tmp[k] += tmp[k + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (k == 0)
        out[get_group_id(0)] = tmp[0];
}
// run: total global=256 local=64
// arg a: int[256] = rand(-1000, 1000)
// arg out: int[4]
// arg tmp: local 256
// expect out: sum(k, i * 64, i * 64 + 64, a[k])

kernel void scan(global float *a, local float *x, local float *y)
{
    int k = get_local_id(0), n = get_local_size(0);
    local float *from = x, *to = y;
    from[k] = a[get_global_id(0)];
    for (int d = 1; d < n; d *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        to[k] = from[k] + (k >= d ? from[k - d] : 0);
        local float *t = from;
        from = to;
        to = t;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = from[k];
}
// run: scan global=64 local=32
// arg a: float[64] = i
// arg x: local 128
// arg y: local 128
// expect a: sum(k, i / 32 * 32, i + 1, a[k])
