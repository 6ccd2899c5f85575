// Work-item functions if vectors use the second dimension, in groups of 1,024.
// build: -cl-std=CL3.0
// requires: groups_of_1024

kernel void ids(global int4 *local_ids, global int *global_ids, global int *linear, int columns)
{
    size_t at = get_global_id(0) * columns + get_global_id(1) + get_global_id(2) * columns * get_global_size(0);
    local_ids[at] = (int4)(get_local_id(0), get_local_id(1), get_local_id(2), get_group_id(1));
    global_ids[at] = get_global_id(1);
    linear[at] = get_local_linear_id();
}
// run: ids global=32x64x2 local=16x32x2
// arg local_ids: int4[4096]
// arg global_ids: int[4096]
// arg linear: int[4096]
// arg columns: int = 64
// expect local_ids if i % 4 == 0: i / 256 % 16
// expect local_ids if i % 4 == 1: i / 4 % 32
// expect local_ids if i % 4 == 2: i / 8192
// expect local_ids if i % 4 == 3: i / 128 % 2
// expect global_ids: i % 64
// expect linear: i / 64 % 16 + i % 32 * 16 + i / 2048 * 512
