// Rotations of subgroups and clusters, and broadcasts of small types and of vectors.
// for: T = char, uchar, short, ushort, int, uint, long, ulong, half, float, double
// requires: cl_khr_subgroup_rotate cl_khr_subgroup_extended_types
// build: -cl-std=CL3.0

kernel void k(global int *wrong)
{
    int lane = get_sub_group_local_id(), size = get_max_sub_group_size();
    T x = (T)(lane * 3 + 1);
    int bad = 0;
    for (int delta = -3; delta < 5; ++delta)
        bad += sub_group_rotate(x, delta) != (T)(((lane + delta) & (size - 1)) * 3 + 1);
    if (size >= 4)
        for (int delta = -3; delta < 5; ++delta)
            bad += 16 * (sub_group_clustered_rotate(x, delta, 4) != (T)(((lane & ~3) + ((lane + delta) & 3)) * 3 + 1));
    bad += 256 * (sub_group_broadcast(x, size - 1) != (T)((size - 1) * 3 + 1));
    typedef T __attribute__((ext_vector_type(3))) T3;
    typedef T __attribute__((ext_vector_type(16))) T16;
    T3 a = sub_group_broadcast((T3)(x, 2, x + 1), 0), b = sub_group_non_uniform_broadcast((T3)(x, x + 2, 7), size - 1);
    T last = (T)((size - 1) * 3 + 1);
    bad += 512 * (a.x != 1 || a.y != 2 || a.z != 2 || b.x != last || b.y != (T)(last + 2) || b.z != 7);
    T16 c = sub_group_broadcast((T16)(x), size - 1);
    bad += 1024 * (c.s0 != last || c.sf != last);
    bad += 2048 * (sub_group_reduce_max(x) != last || sub_group_scan_exclusive_add((T)1) != (T)lane);
    wrong[get_global_id(0)] = bad;
}
// run: k global=64 local=32
// arg wrong: int[64] = 9
// expect wrong: 0
