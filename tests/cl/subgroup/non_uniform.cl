// Reductions and scans of the active work-items, of all types, and of clusters, compared with loops.
// for: T = char, ushort, int, uint, ulong, float, double
// requires: cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_clustered_reduce
// build: -cl-std=CL3.0
// build: -cl-std=CL3.0 -DHALF_OF_THEM
// build: -cl-std=CL3.0 -DONE

// The work-items in the branch.
#ifdef HALF_OF_THEM
#define IN(k) ((k) % 3 != 1 && (k) != 0)
#elif defined ONE
#define IN(k) ((k) == 5)
#else
#define IN(k) ((k) != 100)
#endif
#define OF(k) ((T)(((k) * 7 + 3) % 5 + 1))

int of_cluster(uint lane, uint size, T x, uint c, T sum, T product, T least, T most)
{
    T s = 0, p = 1, l = x, m = x;
    for (uint k = lane / c * c; k < lane / c * c + c && k < size; ++k) {
        if (IN(k)) {
            s += OF(k);
            p *= OF(k);
            l = min(l, OF(k));
            m = max(m, OF(k));
        }
    }
    return (s != sum) + (p != product) + (l != least) + (m != most);
}
#define CLUSTER(c) of_cluster(lane, size, x, c, sub_group_clustered_reduce_add(x, c), sub_group_clustered_reduce_mul(x, c), \
    sub_group_clustered_reduce_min(x, c), sub_group_clustered_reduce_max(x, c))

kernel void k(global int *wrong)
{
    uint lane = get_sub_group_local_id(), size = get_sub_group_size(), largest = get_max_sub_group_size();
    int bad = 0;
    if (IN(lane)) {
        T x = OF(lane), sum = 0, product = 1, least = x, most = x, before = 0, product_before = 1, upto_least = x, upto_most = x;
        bool first = true;
        for (uint k = 0; k < size; ++k) {
            if (!IN(k))
                continue;
            T other = OF(k);
            sum += other;
            product *= other;
            least = min(least, other);
            most = max(most, other);
            if (k < lane) {
                first = false;
                before += other;
                product_before *= other;
                upto_least = min(upto_least, other);
                upto_most = max(upto_most, other);
            }
        }
        bad += sub_group_non_uniform_reduce_add(x) != sum;
        bad += 2 * (sub_group_non_uniform_reduce_min(x) != least);
        bad += 4 * (sub_group_non_uniform_reduce_max(x) != most);
        bad += 8 * (sub_group_non_uniform_reduce_mul(x) != product);
        bad += 16 * (sub_group_non_uniform_scan_inclusive_add(x) != before + x);
        bad += 32 * (sub_group_non_uniform_scan_inclusive_min(x) != upto_least);
        bad += 64 * (sub_group_non_uniform_scan_inclusive_max(x) != upto_most);
        bad += 128 * (sub_group_non_uniform_scan_inclusive_mul(x) != (T)(product_before * x));
        bad += 256 * (sub_group_non_uniform_scan_exclusive_add(x) != before);
        bad += 512 * (sub_group_non_uniform_scan_exclusive_mul(x) != product_before);
        T less = sub_group_non_uniform_scan_exclusive_min(x), more = sub_group_non_uniform_scan_exclusive_max(x);
        bad += 1024 * (min(less, x) != upto_least || max(more, x) != upto_most || (first && (less <= 100 || more > 0)));
        bad += 2048 * CLUSTER(1);
        if (largest >= 4)
            bad += 4096 * CLUSTER(4);
        if (largest >= 8)
            bad += 8192 * CLUSTER(8);
    }
    wrong[get_global_id(0)] = bad;
}
// run: k global=64 local=32
// arg wrong: int[64] = 9
// expect wrong: 0
// run: k global=42 local=21
// arg wrong: int[42] = 9
// expect wrong: 0
// run: k global=3 local=3
// arg wrong: int[3] = 9
// expect wrong: 0
