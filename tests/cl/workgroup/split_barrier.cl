// cl_intel_split_work_group_barrier: stores before an arrive are visible to all work-items after the wait.
// requires: cl_intel_split_work_group_barrier

kernel void reverse(global const int *a, global int *out)
{
    local int tile[16];
    uint id = get_local_id(0);
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[id] = a[id] + k;
        intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);
        sum += 100;
        intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);
        sum += tile[15 - id];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[id] = sum;
}
// run: reverse global=16 local=16
// arg a: int[16] = i
// arg out: int[16]
// expect out: 406 + 4 * (15 - i)
