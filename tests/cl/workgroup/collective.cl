// Collective functions of work-groups, for every type in which the test's arithmetic is exact.
// for: T = int, uint, long, ulong, float, double
// build: -cl-std=CL3.0

kernel void reduce(global const T *a, global T *add, global T *least, global T *most)
{
    size_t i = get_global_id(0);
    add[i] = work_group_reduce_add(a[i]);
    least[i] = work_group_reduce_min(a[i]);
    most[i] = work_group_reduce_max(a[i]);
}
// run: reduce global=60 local=12
// arg a: $T[60] = (i * 37) % 101
// arg add: $T[60]
// arg least: $T[60]
// arg most: $T[60]
// expect add: sum(j, i / 12 * 12, i / 12 * 12 + 12, (j * 37) % 101)
// expect least if i < 12: 0
// expect least if i >= 12: _
// expect most if i < 12: 94
// expect most if i >= 12: _

kernel void scan(global const T *a, global T *inclusive, global T *exclusive)
{
    size_t i = get_global_id(0);
    T x = a[i];
    inclusive[i] = work_group_scan_inclusive_add(x);
    exclusive[i] = work_group_scan_exclusive_add(x);
}
// run: scan global=64 local=64
// arg a: $T[64] = i + 1
// arg inclusive: $T[64]
// arg exclusive: $T[64]
// expect inclusive: (i + 1) * (i + 2) / 2
// expect exclusive: i * (i + 1) / 2
// run: scan global=33 local=11
// arg a: $T[33] = i + 1
// arg inclusive: $T[33]
// arg exclusive: $T[33]
// expect inclusive: sum(j, i / 11 * 11, i + 1, j + 1)
// expect exclusive: sum(j, i / 11 * 11, i, j + 1)
// run: scan global=3 local=1
// arg a: $T[3] = i + 1
// arg inclusive: $T[3]
// arg exclusive: $T[3]
// expect inclusive: i + 1
// expect exclusive: 0

kernel void extremes(global const T *a, global T *least, global T *most, global T *before)
{
    size_t i = get_global_id(0);
    least[i] = work_group_scan_inclusive_min(a[i]);
    most[i] = work_group_scan_inclusive_max(a[i]);
    T x = work_group_scan_exclusive_max(a[i]);
    before[i] = get_local_id(0) ? x : 0;
    x = work_group_scan_exclusive_min(a[i]);
    if (get_local_id(0))
        before[i] -= x;
}
// run: extremes global=40 local=20
// arg a: $T[40] = {5, 7, 3, 9, 1, 20, 4, 4, 30, 2}
// arg least: $T[40]
// arg most: $T[40]
// arg before: $T[40]
// expect least: {5, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
// expect most: {5, 7, 7, 9, 9, 20, 20, 20, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30}
// expect before: {0, 0, 2, 4, 6, 8, 19, 19, 19, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29}

kernel void broadcast(global const T *a, global T *out)
{
    size_t i = get_global_linear_id();
    out[i] = work_group_broadcast(a[i], 2, 1, 1);
}
// run: broadcast global=8x3x2 local=4x3x2
// arg a: $T[48] = i
// arg out: $T[48]
// expect out if i % 8 < 4: 8 * 3 + 8 + 2
// expect out if i % 8 >= 4: 8 * 3 + 8 + 6
