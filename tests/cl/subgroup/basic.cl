// Subgroups: queries, votes, broadcasts, reductions and scans, also where the last subgroup is not full.
// requires: cl_khr_subgroup_shuffle
// build: -cl-std=CL3.0

kernel void queries(global int *wrong)
{
    uint size = get_sub_group_size(), most = get_max_sub_group_size(), count = get_num_sub_groups();
    uint id = get_sub_group_id(), lane = get_sub_group_local_id();
    int bad = size > most || lane >= size || id >= count || count != (get_local_size(0) + most - 1) / most;
    bad += sub_group_reduce_add(1) != (int)size;
    bad += work_group_reduce_add(lane == 0 ? 1 : 0) != (int)count;
    bad += work_group_reduce_add(lane == 0 ? (int)size : 0) != (int)get_local_size(0);
    wrong[get_global_id(0)] = bad;
}
// run: queries global=64 local=64
// arg wrong: int[64] = 9
// expect wrong: 0
// run: queries global=60 local=20
// arg wrong: int[60] = 9
// expect wrong: 0

kernel void votes(global int *wrong)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    int bad = !sub_group_all(lane < size) + sub_group_all(lane != 0) + !sub_group_any(lane == 0) + sub_group_any(lane >= size);
    bad += sub_group_broadcast(lane * 3, 0) != 0;
    bad += size > 1 && sub_group_broadcast((float)lane * 3, 1) != 3;
    wrong[get_global_id(0)] = bad;
}
// run: votes global=60 local=20
// arg wrong: int[60] = 9
// expect wrong: 0
