// work_group_all, work_group_any, and collective functions in groups of several dimensions, in loops and helpers.
// build: -cl-std=CL3.0

kernel void votes(global const int *a, global int *all, global int *any)
{
    size_t i = get_global_id(0);
    all[i] = work_group_all(a[i] != 0);
    any[i] = work_group_any(a[i]);
}
// run: votes global=32 local=8
// arg a: int[32] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, -1, 0}
// arg all: int[32] = 7
// arg any: int[32] = 7
// expect all: {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
// expect any if i < 24: 1
// expect any if i >= 24: _

int prefix(int x)
{
    return work_group_scan_inclusive_add(x);
}

kernel void plane(global int *out)
{
    int index = get_local_linear_id();
    int total = 0;
    for (int k = 0; k < 3; ++k)
        total += prefix(index + k) + work_group_reduce_max(index);
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[at] = total - 3 * 14;
}
// run: plane global=5x3 local=5x3
// arg out: int[15]
// expect out: 3 * (i * (i + 1) / 2) + 3 * (i + 1)
