// Arrays of which the second dimension lies side by side: vectors of work-items may lie along it, which nobody is to see.
// build: -cl-std=CL3.0

kernel void transpose(global const int *a, global int *b, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    b[x * n + y] = a[y * n + x];
}
// run: transpose global=64x64 local=16x16
// arg a: int[4096] = i
// arg b: int[4096]
// arg n: int = 64
// expect b: i % 64 * 64 + i / 64
// run: transpose global=64x64 local=8x16
// arg a: int[4096] = i
// arg b: int[4096]
// arg n: int = 64
// expect b: i % 64 * 64 + i / 64

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

// What work-items leave for each other, and where some of them do nothing.
kernel void shared_columns(global const int *a, global int *b, local int *tile, int n)
{
    int x = get_local_id(0), y = get_local_id(1), at = get_global_id(0) * n + get_global_id(1);
    int rows = 0;
    tile[x * 16 + y] = a[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (y < 11) rows = tile[(15 - x) * 16 + y];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[x * 16 + y] = rows;
    barrier(CLK_LOCAL_MEM_FENCE);
    b[at] = tile[x * 16 + (y ^ 1)];
}
// run: shared_columns global=32x32 local=16x16
// arg a: int[1024] = i
// arg b: int[1024]
// arg tile: local 1024
// arg n: int = 32
// expect b if (i % 16 ^ 1) < 11: (i / 512 * 16 + 15 - i / 32 % 16) * 32 + (i % 32 ^ 1)
// expect b if (i % 16 ^ 1) >= 11: 0
