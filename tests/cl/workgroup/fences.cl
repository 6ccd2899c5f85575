// Barriers with both flags order global memory within a group; mem_fence is accepted.

kernel void exchange(global int *a)
{
    int k = get_local_id(0), n = get_local_size(0);
    global int *mine = a + get_group_id(0) * n;
    mine[k] += 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    int x = mine[(k + 1) % n];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    mine[k] = x;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    read_mem_fence(CLK_LOCAL_MEM_FENCE);
    write_mem_fence(CLK_LOCAL_MEM_FENCE);
}
// run: exchange global=32 local=8
// arg a: int[32] = i
// expect a: i / 8 * 8 + (i % 8 + 1) % 8 + 1
