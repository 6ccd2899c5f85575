// Arrays contiguous in the second dimension: the results are the same if vectors use that dimension.
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

// Work-items exchange values, and some are inactive.
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
