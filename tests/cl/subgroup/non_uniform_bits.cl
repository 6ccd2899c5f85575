// Bitwise and logical reductions and scans of the active work-items.
// for: T = char, uchar, short, ushort, int, uint, long, ulong
// requires: cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_clustered_reduce
// build: -cl-std=CL3.0

#define IN(k) ((k) % 4 != 2 && (k) != 1)
#define OF(k) ((T)((k) * 29 + 77))

kernel void k(global int *wrong)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    int bad = 0;
    if (IN(lane)) {
        T x = OF(lane), a = ~(T)0, o = 0, e = 0, a0 = ~(T)0, o0 = 0, e0 = 0, ca = ~(T)0, co = 0, ce = 0;
        int la = 1, lo = 0, le = 0, la0 = 1, lo0 = 0, le0 = 0;
        for (uint k = 0; k < size; ++k) {
            if (!IN(k))
                continue;
            T y = OF(k);
            int flag = k % 3 == 0;
            a &= y; o |= y; e ^= y;
            la &= flag; lo |= flag; le ^= flag;
            if (k < lane) {
                a0 &= y; o0 |= y; e0 ^= y;
                la0 &= flag; lo0 |= flag; le0 ^= flag;
            }
            if (k / 2 == lane / 2) {
                ca &= y; co |= y; ce ^= y;
            }
        }
        int flag = 4 * (lane % 3 == 0);
        bad += sub_group_non_uniform_reduce_and(x) != a || sub_group_non_uniform_reduce_or(x) != o || sub_group_non_uniform_reduce_xor(x) != e;
        bad += 2 * (sub_group_non_uniform_scan_inclusive_and(x) != (T)(a0 & x) || sub_group_non_uniform_scan_inclusive_or(x) != (T)(o0 | x)
            || sub_group_non_uniform_scan_inclusive_xor(x) != (T)(e0 ^ x));
        bad += 4 * (sub_group_non_uniform_scan_exclusive_and(x) != a0 || sub_group_non_uniform_scan_exclusive_or(x) != o0
            || sub_group_non_uniform_scan_exclusive_xor(x) != e0);
        bad += 8 * (!sub_group_non_uniform_reduce_logical_and(flag) != !la || !sub_group_non_uniform_reduce_logical_or(flag) != !lo
            || !sub_group_non_uniform_reduce_logical_xor(flag) != !le);
        bad += 16 * (sub_group_non_uniform_scan_exclusive_logical_and(flag) != la0 || !sub_group_non_uniform_scan_exclusive_logical_or(flag) != !lo0
            || !sub_group_non_uniform_scan_exclusive_logical_xor(flag) != !le0);
        bad += 32 * (!sub_group_non_uniform_scan_inclusive_logical_and(flag) != !(la0 && flag)
            || !sub_group_non_uniform_scan_inclusive_logical_or(flag) != !(lo0 || flag)
            || !sub_group_non_uniform_scan_inclusive_logical_xor(flag) != !(le0 ^ !!flag));
        if (get_max_sub_group_size() >= 2) {
            bad += 64 * (sub_group_clustered_reduce_and(x, 2) != ca || sub_group_clustered_reduce_or(x, 2) != co
                || sub_group_clustered_reduce_xor(x, 2) != ce);
            bad += 128 * (!sub_group_clustered_reduce_logical_or(flag, 2) != !(lane % 3 == 0 || (IN(lane ^ 1) && (lane ^ 1) < size && (lane ^ 1) % 3 == 0)));
        }
    }
    wrong[get_global_id(0)] = bad;
}
// run: k global=64 local=32
// arg wrong: int[64] = 9
// expect wrong: 0
// run: k global=42 local=21
// arg wrong: int[42] = 9
// expect wrong: 0
