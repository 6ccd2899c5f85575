// Groups of more than one dimension have subgroups too: every work-item has a unique position, and exchanges values.
// requires: cl_khr_subgroup_shuffle
// build: -cl-std=CL3.0

kernel void places(global int *wrong)
{
    local int seen[64];
    int me = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
    seen[me] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint size = get_max_sub_group_size(), place = get_sub_group_id() * size + get_sub_group_local_id();
    int bad = place >= 64 || atomic_inc(&seen[place]) != 0;
    uint other = sub_group_shuffle_xor(place, 1);
    bad += 2 * (size > 1 && other != (place ^ 1));
    barrier(CLK_LOCAL_MEM_FENCE);
    bad += 4 * (seen[me] != 1);
    wrong[(get_global_id(1) * get_global_size(0)) + get_global_id(0)] = bad;
}
// run: places global=32x8 local=16x4
// arg wrong: int[256] = 9
// expect wrong: 0
