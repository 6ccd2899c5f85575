// cl_khr_async_work_group_copy_fence: later copies use the results of earlier ones, and overwrite their sources.
// requires: cl_khr_async_work_group_copy_fence

kernel void shift(global const int *a, global int *b)
{
    local int tile[16];
    event_t event = async_work_group_copy(tile, a, 16, 0);
    async_work_group_copy_fence(CLK_LOCAL_MEM_FENCE);
    // The sources are elements that other work-items stored.
    event = async_work_group_copy(b, tile + 3, 13, event);
    async_work_group_copy_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // The targets are elements that other work-items read.
    event = async_work_group_copy(tile, b + 5, 8, event);
    async_work_group_copy_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    event = async_work_group_copy(b + 8, tile, 8, event);
    wait_group_events(1, &event);
}
// run: shift global=8 local=8
// arg a: int[16] = i
// arg b: int[16]
// expect b: i < 8 ? i + 3 : i
