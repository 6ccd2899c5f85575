// Subgroups with divergent work-items: loops left one by one, returns, and exchanges among the active work-items.
// requires: cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_non_uniform_arithmetic
// build: -cl-std=CL3.0
// build: -cl-std=CL3.0 -cl-opt-disable

kernel void one_by_one(global int *wrong)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    int bad = 0;
    for (uint k = 0; k <= lane; ++k) {
        // Work-items below k have left.
        bad += sub_group_non_uniform_reduce_add(1) != (int)(size - k);
        bad += sub_group_broadcast_first(lane) != k;
        bad += sub_group_ballot_find_lsb(sub_group_ballot(1)) != k;
        bad += sub_group_non_uniform_scan_exclusive_add(1u) != lane - k;
        bad += sub_group_elect() != (lane == k);
        if (sub_group_non_uniform_any(lane == k && (k & 1)))
            bad += !(k & 1);
    }
    wrong[get_global_id(0)] = bad;
}
// run: one_by_one global=50 local=25
// arg wrong: int[50] = 9
// expect wrong: 0

kernel void returns(global int *wrong, int odd)
{
    size_t i = get_global_id(0);
    uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    wrong[i] = 0;
    if ((lane & 1) == odd)
        return;
    int here = odd ? (size + 1) / 2 : size / 2;
    wrong[i] = sub_group_non_uniform_reduce_add(1) != here;
    if (lane >= 4)
        return;
    wrong[i] += 2 * (sub_group_non_uniform_reduce_max(lane) != sub_group_shuffle(lane, sub_group_ballot_find_msb(sub_group_ballot(1))));
}
// run: returns global=40 local=20
// arg wrong: int[40] = 9
// arg odd: int = 1
// expect wrong: 0
// run: returns global=46 local=23
// arg wrong: int[46] = 9
// arg odd: int = 0
// expect wrong: 0

kernel void with_barriers(global int *wrong)
{
    local uint sums[64];
    uint l = get_local_id(0), lane = get_sub_group_local_id(), size = get_sub_group_size(), id = get_sub_group_id();
    int bad = 0;
    for (uint iteration = 0; iteration < 3; ++iteration) {
        uint sum = sub_group_reduce_add(l + iteration);
        if (sub_group_elect())
            sums[id] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint all = 0;
        for (uint k = 0; k < get_num_sub_groups(); ++k)
            all += sums[k];
        uint n = get_local_size(0);
        bad += all != n * (n - 1) / 2 + n * iteration;
        bad += 8 * (work_group_reduce_add(lane == 0 ? sum : 0) != all);
        barrier(CLK_LOCAL_MEM_FENCE);
        // Subgroups diverge from each other.
        if (id & 1)
            bad += 64 * (sub_group_scan_inclusive_add(1u) != lane + 1);
        else
            bad += 64 * (sub_group_shuffle_up(lane, 1) != lane - 1 && lane != 0);
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    }
    wrong[get_global_id(0)] = bad;
}
// run: with_barriers global=120 local=60
// arg wrong: int[120] = 9
// expect wrong: 0
// run: with_barriers global=64 local=64
// arg wrong: int[64] = 9
// expect wrong: 0

kernel void by_index(global const uint *a, global int *wrong)
{
    size_t i = get_global_id(0);
    uint lane = get_sub_group_local_id(), size = get_sub_group_size(), first = i - lane, from = a[i] % size;
    ulong wide = sub_group_shuffle((ulong)i << 20, from);
    int bad = wide != (ulong)(first + from) << 20;
    bad += 2 * (sub_group_shuffle((uchar)i, from) != (uchar)(first + from));
    bad += 4 * (sub_group_shuffle((float)i, from) != (float)(first + from));
    bad += 8 * (sub_group_broadcast((uint)i, a[0] % size) != first + a[0] % size);
    uint up = a[i] % 4;
    uint moved = sub_group_shuffle_up((uint)i, up);
    bad += 16 * (lane >= up && moved != i - up);
    bad += 32 * (sub_group_non_uniform_reduce_min((long)i) != (long)first);
    wrong[i] = bad;
}
// run: by_index global=64 local=32
// arg a: uint[64] = (i * 13) % 37
// arg wrong: int[64] = 9
// expect wrong: 0
