// Barriers, local memory, and groups that do not fill vectors.
// arguments: --isa armv8 --local-size 6
kernel void reversed(global int *a, local int *dynamic)
{
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    dynamic[i] = tile[get_local_size(0) - 1 - i];
    a[get_global_id(0)] = dynamic[i];
}

__attribute__((reqd_work_group_size(1, 1, 1)))
kernel void single(global int *a)
{
    a[0] = a[1];
}
