// Counts bytes. Each work-group counts in local memory first, which needs fewer atomic operations on global memory.
kernel void histogram(global const uchar *bytes, global uint *counts, int n)
{
    local uint own[256];
    for (int i = get_local_id(0); i < 256; i += get_local_size(0))
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&own[bytes[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 256; i += get_local_size(0))
        if (own[i])
            atomic_add(&counts[i], own[i]);
}
