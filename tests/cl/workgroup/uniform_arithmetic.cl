// cl_khr_work_group_uniform_arithmetic: products, logical and bitwise reductions and scans of a group.
// requires: cl_khr_work_group_uniform_arithmetic

kernel void products(global int *reduced, global uint *inclusive, global float *exclusive)
{
    int id = get_local_id(0);
    reduced[get_global_id(0)] = work_group_reduce_mul(id % 5 == 4 ? -2 : 1);
    inclusive[get_global_id(0)] = work_group_scan_inclusive_mul(id % 5 == 4 ? 3u : 1u);
    exclusive[get_global_id(0)] = work_group_scan_exclusive_mul(id % 5 == 4 ? 0.5f : 1.0f);
}
// run: products global=60 local=20
// arg reduced: int[60]
// arg inclusive: uint[60]
// arg exclusive: float[60]
// expect reduced: 16
// expect inclusive: pow(3, floor((i % 20 + 1) / 5))
// expect exclusive: pow(0.5, floor((i % 20) / 5))

kernel void bits(global uint *all, global uint *any, global uint *odd, global ulong *before)
{
    uint id = get_local_id(0);
    all[get_global_id(0)] = work_group_reduce_and(~(1u << id));
    any[get_global_id(0)] = work_group_scan_inclusive_or(1u << id);
    odd[get_global_id(0)] = work_group_reduce_xor(id);
    before[get_global_id(0)] = work_group_scan_exclusive_or(1ul << id);
}
// run: bits global=60 local=20
// arg all: uint[60]
// arg any: uint[60]
// arg odd: uint[60]
// arg before: ulong[60]
// expect all: 4293918720
// expect any: (2 << (i % 20)) - 1
// expect odd: 0
// expect before: (1 << (i % 20)) - 1

kernel void logic(global int *out)
{
    int id = get_local_id(0);
    int good = work_group_reduce_logical_and(id + 1) == 1 && work_group_reduce_logical_and(id) == 0;
    good &= work_group_reduce_logical_or(id == 7) == 1 && work_group_reduce_logical_xor(id < 3 ? 2 : 0) == 1;
    good &= work_group_scan_inclusive_logical_or(id == 7) == (id >= 7) && work_group_scan_exclusive_logical_and(id != 7) == (id <= 7);
    out[get_global_id(0)] = good;
}
// run: logic global=60 local=20
// arg out: int[60]
// expect out: 1
