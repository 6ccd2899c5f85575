// Work-groups at the edges of the range are smaller if the local size does not divide the global size (OpenCL C 2.0
// and later): work-item functions, barriers, local memory and collective functions in them.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0

kernel void line(global uint *out)
{
    size_t i = get_global_id(0) - get_global_offset(0);
    out[4 * i] = get_local_id(0) + 1000 * get_local_size(0);
    out[4 * i + 1] = get_group_id(0) + 1000 * get_num_groups(0);
    out[4 * i + 2] = get_enqueued_local_size(0) + 1000 * get_local_linear_id() + 100000 * get_enqueued_local_size(1);
    out[4 * i + 3] = get_global_id(0) + 1000 * get_global_size(0);
}
// run: line global=10 local=4
// arg out: uint[44]
// expect out if i < 40 && i % 4 == 0: i / 4 % 4 + 1000 * min(4, 10 - i / 16 * 4)
// expect out if i < 40 && i % 4 == 1: i / 16 + 3000
// expect out if i < 40 && i % 4 == 2: 4 + 1000 * (i / 4 % 4) + 100000
// expect out if i < 40 && i % 4 == 3: i / 4 + 10000
// run: line global=3 local=64 offset=5
// arg out: uint[16]
// expect out if i < 12 && i % 4 == 0: i / 4 + 3000
// expect out if i < 12 && i % 4 == 1: 1000
// expect out if i < 12 && i % 4 == 2: 64 + 1000 * (i / 4) + 100000
// expect out if i < 12 && i % 4 == 3: i / 4 + 5 + 3000
// run: line global=997 local=32 offset=1000
// arg out: uint[3988]
// expect out if i % 4 == 0: i / 4 % 32 + 1000 * min(32, 997 - i / 128 * 32)
// expect out if i % 4 == 1: i / 128 + 32000
// expect out if i % 4 == 2: 32 + 1000 * (i / 4 % 32) + 100000
// expect out if i % 4 == 3: i / 4 + 1000 + 997000

// All eight sizes of groups, with the sum over each group in three ways.
kernel void space(global uint *ids, global uint *sums, local uint *shared)
{
    size_t i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    size_t items = get_local_size(0) * get_local_size(1) * get_local_size(2);
    ids[2 * i] = get_local_id(0) + 10 * get_local_id(1) + 100 * get_local_id(2) + 1000 * get_group_id(0) + 10000 * get_group_id(1) + 100000 * get_group_id(2);
    ids[2 * i + 1] = get_local_size(0) + 10 * get_local_size(1) + 100 * get_local_size(2) + 1000 * get_num_groups(0) + 10000 * get_num_groups(1) + 100000 * get_num_groups(2);
    shared[get_local_linear_id()] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0;
    for (size_t k = 0; k < items; k++)
        sum += shared[k];
    uint last = work_group_broadcast(work_group_scan_inclusive_add((uint)i), get_local_size(0) - 1, get_local_size(1) - 1, get_local_size(2) - 1);
    bool same = sum == work_group_reduce_add((uint)i) && sum == last && work_group_all(i == shared[get_local_linear_id()]);
    sums[i] = same ? sum : 0xffffffff;
}
// run: space global=5x7x3 local=2x3x2
// arg ids: uint[210]
// arg sums: uint[105]
// arg shared: local 48
// expect ids if i % 2 == 0: (i / 2 % 5 % 2 + 10 * (i / 10 % 7 % 3) + 100 * (i / 70 % 2)
//                            + 1000 * (i / 2 % 5 / 2) + 10000 * (i / 10 % 7 / 3) + 100000 * (i / 70 / 2))
// expect ids if i % 2 == 1: (min(2, 5 - i / 2 % 5 / 2 * 2) + 10 * min(3, 7 - i / 10 % 7 / 3 * 3) + 100 * min(2, 3 - i / 70 / 2 * 2)
//                            + 3000 + 30000 + 200000)
// expect sums: sum(z, i / 35 / 2 * 2, min(3, i / 35 / 2 * 2 + 2), sum(y, i / 5 % 7 / 3 * 3, min(7, i / 5 % 7 / 3 * 3 + 3),
//              sum(x, i % 5 / 2 * 2, min(5, i % 5 / 2 * 2 + 2), (z * 7 + y) * 5 + x)))

// Each group reverses its copy.
kernel void copies(global const int *in, global int *out, local int *part)
{
    size_t first = get_group_id(0) * get_enqueued_local_size(0), n = get_local_size(0);
    event_t done = async_work_group_copy(part, in + first, n, 0);
    wait_group_events(1, &done);
    out[get_global_id(0)] = part[n - 1 - get_local_id(0)];
}
// run: copies global=23 local=8
// arg in: int[23] = rand(-1000, 1000)
// arg out: int[23]
// arg part: local 32
// expect out: in[i / 8 * 8 + min(8, 23 - i / 8 * 8) - 1 - i % 8]

// The required size is the size of all groups but the last.
kernel __attribute__((reqd_work_group_size(8, 1, 1))) void required(global int *out)
{
    out[get_global_id(0)] = get_local_size(0);
}
// run: required global=13 local=8
// arg out: int[13]
// expect out: i < 8 ? 8 : 5
// run: required global=13
// arg out: int[13]
// expect out: i < 8 ? 8 : 5

// A driver that chooses the size may choose one with a remainder.
kernel void chosen(global int *out)
{
    size_t n = get_enqueued_local_size(0), g = get_group_id(0), left = get_global_size(0) - g * n;
    bool fits = get_local_size(0) == min(n, left) && get_global_id(0) == g * n + get_local_id(0)
        && get_num_groups(0) == (get_global_size(0) + n - 1) / n;
    out[get_global_id(0) + get_global_size(0) * get_global_id(1)] = fits;
}
// run: chosen global=1009
// arg out: int[1009]
// expect out: 1
// run: chosen global=31x37
// arg out: int[1147]
// expect out: 1
