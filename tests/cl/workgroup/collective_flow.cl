// Collective functions in large groups and complex control flow: in loops, in dynamically uniform branches, in
// sequence, and with values that work-items keep in private memory.
// for: T = char, short, uint, long, float
// build: -cl-std=CL3.0
// build: -cl-std=CL3.0 -cl-opt-disable

kernel void in_loops(global const T *a, global const int *iterations, global T *out)
{
    size_t i = get_global_id(0), l = get_local_id(0);
    T own = a[i], kept = 0;
    // Uniform for a group, but loaded from memory.
    int count = iterations[get_group_id(0)];
    for (int k = 0; k < count; ++k) {
        T before = work_group_scan_exclusive_add((T)1);
        T sum = work_group_reduce_add((T)(l % 3 == k % 3 ? 1 : 0));
        if (iterations[get_group_id(0)] > 2) {
            kept += work_group_broadcast(own, (uint)((k * 7) % get_local_size(0)));
            kept += work_group_scan_inclusive_max((T)(l % 5)) > 4;
        }
        kept += (before == (T)l) + (sum == (T)((get_local_size(0) + 2 - k % 3) / 3));
        own += 1;
    }
    out[i] = kept;
}
// run: in_loops global=120 local=60
// arg a: $T[120] = i % 4
// arg iterations: int[2] = {2, 4}
// arg out: $T[120]
// expect out if i < 60: 4
// expect out if i >= 60: 8 + 0 + (7 % 4 + 1) + (14 % 4 + 2) + (21 % 4 + 3)
// run: in_loops global=66 local=33
// arg a: $T[66] = (i % 33) % 4
// arg iterations: int[2] = {0, 3}
// arg out: $T[66]
// expect out if i < 33: 0
// expect out if i >= 33: 6 + 0 + (7 % 4 + 1) + (14 % 4 + 2)

kernel void in_sequence(global const T *a, global T *out)
{
    local T tile[128];
    size_t i = get_global_id(0), l = get_local_id(0);
    T own = a[i];
    if (work_group_any(own > 3)) {
        tile[l] = own;
        if (work_group_all(own < 9))
            own = work_group_scan_inclusive_add(own) - work_group_scan_exclusive_add(own);
        barrier(CLK_LOCAL_MEM_FENCE);
        own += tile[get_local_size(0) - 1 - l];
    } else {
        own = work_group_reduce_max(own) + work_group_reduce_min(own);
    }
    out[i] = own;
}
// run: in_sequence global=288 local=96
// arg a: $T[288] = i < 96 ? i % 4 : i < 192 ? i % 8 : i % 11
// arg out: $T[288]
// expect out if i < 96: 3
// expect out if i >= 96 && i < 192: i % 8 + (191 - (i - 96)) % 8
// expect out if i >= 192: i % 11 + (287 - (i - 192)) % 11

kernel void scans(global const T *a, global T *up, global T *low, global T *high)
{
    size_t i = get_global_linear_id();
    up[i] = work_group_scan_exclusive_add(a[i]);
    T less = work_group_scan_exclusive_min(a[i]), more = work_group_scan_exclusive_max(a[i]);
    low[i] = get_local_linear_id() ? less : (T)100;
    high[i] = get_local_linear_id() ? more : (T)100;
}
// run: scans global=7x5 local=7x5
// arg a: $T[35] = (i * 5) % 4
// arg up: $T[35]
// arg low: $T[35]
// arg high: $T[35]
// expect up: sum(j, 0, i, (j * 5) % 4)
// expect low if i == 0: 100
// expect low if i > 0: 0
// expect high if i == 0: 100
// expect high if i > 0: min(i - 1, 3)
