// The work-item functions in one to three dimensions, with offsets, and for dimensions that the range does not have.

kernel void ids(global uint *out)
{
    size_t gx = get_global_id(0) - get_global_offset(0), gy = get_global_id(1) - get_global_offset(1), gz = get_global_id(2) - get_global_offset(2);
    size_t index = (gz * get_global_size(1) + gy) * get_global_size(0) + gx;
    global uint *o = out + index * 4;
    o[0] = get_global_id(0) + 100 * get_global_id(1) + 10000 * get_global_id(2);
    o[1] = get_local_id(0) + 100 * get_local_id(1) + 10000 * get_local_id(2);
    o[2] = get_group_id(0) + 100 * get_group_id(1) + 10000 * get_group_id(2);
    o[3] = get_work_dim() + 10 * get_num_groups(0) + 100 * get_num_groups(1) + 1000 * get_num_groups(2) + 10000 * get_local_size(0);
}
// run: ids global=12 local=4
// arg out: uint[48]
// expect out if i % 4 == 0: i / 4
// expect out if i % 4 == 1: i / 4 % 4
// expect out if i % 4 == 2: i / 16
// expect out if i % 4 == 3: 1 + 30 + 100 + 1000 + 40000
// run: ids global=8x6 local=4x2 offset=3x5
// arg out: uint[192]
// expect out if i % 4 == 0: i / 4 % 8 + 3 + 100 * (i / 32 + 5)
// expect out if i % 4 == 1: i / 4 % 4 + 100 * (i / 32 % 2)
// expect out if i % 4 == 2: i / 4 % 8 / 4 + 100 * (i / 64)
// expect out if i % 4 == 3: 2 + 20 + 300 + 1000 + 40000
// run: ids global=4x3x2 local=2x3x1 offset=0x1x2
// arg out: uint[96]
// expect out if i % 4 == 0: i / 4 % 4 + 100 * (i / 16 % 3 + 1) + 10000 * (i / 48 + 2)
// expect out if i % 4 == 1: i / 4 % 2 + 100 * (i / 16 % 3)
// expect out if i % 4 == 2: i / 4 % 4 / 2 + 10000 * (i / 48)
// expect out if i % 4 == 3: 3 + 20 + 100 + 2000 + 20000

kernel void dynamic_dimension(global uint *out, uint dim)
{
    out[get_global_id(0)] = get_global_size(dim) + 100 * get_local_size(dim) + 10000 * (uint)get_global_id(dim);
}
// run: dynamic_dimension global=4 local=2
// arg out: uint[4]
// arg dim: uint = 0
// expect out: 204 + 10000 * i
// run: dynamic_dimension global=4 local=2
// arg out: uint[4]
// arg dim: uint = 7
// expect out: 101
