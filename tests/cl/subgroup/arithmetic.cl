// Reductions and scans of subgroups for every type, compared with loops over shuffles.
// for: T = int, uint, long, ulong, float, double
// requires: cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative
// build: -cl-std=CL3.0

kernel void k(global int *wrong)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    T x = (T)((lane * 7 + 3) % 11);
    T sum = 0, before = 0, least = x, most = x, upto_least = x, upto_most = x;
    for (uint k = 0; k < size; ++k) {
        T other = (T)((k * 7 + 3) % 11);
        sum += other;
        least = min(least, other);
        most = max(most, other);
        if (k < lane)
            before += other;
        if (k <= lane) {
            upto_least = min(upto_least, other);
            upto_most = max(upto_most, other);
        }
    }
    int bad = sub_group_reduce_add(x) != sum;
    bad += 2 * (sub_group_reduce_min(x) != least);
    bad += 4 * (sub_group_reduce_max(x) != most);
    bad += 8 * (sub_group_scan_exclusive_add(x) != before);
    bad += 16 * (sub_group_scan_inclusive_add(x) != before + x);
    bad += 32 * (sub_group_scan_inclusive_min(x) != upto_least);
    bad += 64 * (sub_group_scan_inclusive_max(x) != upto_most);
    T earlier = sub_group_scan_exclusive_max(x);
    bad += 128 * (lane != 0 && max(earlier, x) != upto_most);
    bad += 256 * (sub_group_shuffle(x, lane ^ 1) != (T)(((lane ^ 1) * 7 + 3) % 11) && (lane ^ 1) < size);
    bad += 512 * (sub_group_shuffle_xor(x, 1) != (T)(((lane ^ 1) * 7 + 3) % 11) && (lane ^ 1) < size);
    bad += 1024 * (sub_group_shuffle_up(x, 2) != (T)(((lane - 2) * 7 + 3) % 11) && lane >= 2);
    bad += 2048 * (sub_group_shuffle_down(x, 2) != (T)(((lane + 2) * 7 + 3) % 11) && lane + 2 < size);
    wrong[get_global_id(0)] = bad;
}
// run: k global=64 local=32
// arg wrong: int[64] = 9
// expect wrong: 0
// run: k global=42 local=21
// arg wrong: int[42] = 9
// expect wrong: 0
