// Addresses of one object with computable differences: sums of 32 bits that wrap, and lanes that do not access.

kernel void wrapping(global const int *a, global int *out, uint high, uint low)
{
    uint i = get_global_id(0);
    // `high + low` wraps to 0.
    out[high + i + low] = a[high + low + i] + 10 * a[i] + 100 * a[low - 1 + i + high + 1];
}
// run: wrapping global=64
// arg a: int[64] = i
// arg out: int[64]
// arg high: uint = 0x90000000
// arg low: uint = 0x70000000
// expect out: 111 * i

kernel void far_apart(global const int *a, global int *out, int step)
{
    int i = get_global_id(0);
    for (int k = 0; k < 3; k++)
        out[i] += a[i] + a[i + step] * 2 + a[i + 2 * step - 1] * 3 + a[i + 3 * step - k];
}
// run: far_apart global=32
// arg a: int[128] = i
// arg out: int[32]
// arg step: int = 32
// expect out: 3 * (7 * i + 32 * 2 + 63 * 3 + 96) - 3

kernel void inner(global const int *a, global int *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) out[i] = a[i];
    else out[i] = a[i] + 2 * a[i - 1] + 3 * a[i + 1] + 5 * a[i - width] + 7 * a[i + width];
}
// run: inner global=32x8 local=16x4
// arg a: int[256] = i
// arg out: int[256]
// arg width: int = 32
// arg height: int = 8
// expect out if i % 32 == 0 || i % 32 == 31 || i < 32 || i >= 224: i
// expect out if !(i % 32 == 0 || i % 32 == 31 || i < 32 || i >= 224): i + 2 * (i - 1) + 3 * (i + 1) + 5 * (i - 32) + 7 * (i + 32)

// run: inner global=32x8 local=32x8
// arg a: int[256] = i
// arg out: int[256]
// arg width: int = 32
// arg height: int = 8
// expect out if i % 32 == 0 || i % 32 == 31 || i < 32 || i >= 224: i
// expect out if !(i % 32 == 0 || i % 32 == 31 || i < 32 || i >= 224): i + 2 * (i - 1) + 3 * (i + 1) + 5 * (i - 32) + 7 * (i + 32)

// run: inner global=32x8 local=8x2
// arg a: int[256] = i
// arg out: int[256]
// arg width: int = 32
// arg height: int = 8
// expect out if i % 32 == 0 || i % 32 == 31 || i < 32 || i >= 224: i
// expect out if !(i % 32 == 0 || i % 32 == 31 || i < 32 || i >= 224): i + 2 * (i - 1) + 3 * (i + 1) + 5 * (i - 32) + 7 * (i + 32)

// run: inner global=32x8 local=4x8
// arg a: int[256] = i
// arg out: int[256]
// arg width: int = 32
// arg height: int = 8
// expect out if i % 32 == 0 || i % 32 == 31 || i < 32 || i >= 224: i
// expect out if !(i % 32 == 0 || i % 32 == 31 || i < 32 || i >= 224): i + 2 * (i - 1) + 3 * (i + 1) + 5 * (i - 32) + 7 * (i + 32)

// The lanes of the first vector that access nothing would have addresses before the buffer.
kernel void shifted(global const int *a, global int *out, int first)
{
    int i = get_global_id(0);
    if (i >= first) out[i - first] = a[i - first] + a[i - first + 1];
}
// run: shifted global=64
// arg a: int[64] = i
// arg out: int[64]
// arg first: int = 5
// expect out if i < 59: 2 * i + 1
// expect out if i >= 59: 0

// Rows of a group with three dimensions, where the second size is not a power of two.
kernel void rows(global int *out)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    out[(z * 6 + y) * 16 + x] = x + 100 * y + 10000 * z + 1000000 * (int)((get_local_id(2) * 3 + get_local_id(1)) * 16 + get_local_id(0));
}
// run: rows global=16x6x4 local=16x3x2
// arg out: int[384]
// expect out: i % 16 + 100 * (i / 16 % 6) + 10000 * (i / 96) + 1000000 * (i % 16 + 16 * (i / 16 % 3) + 48 * (i / 96 % 2))

// The stores in both regions have the same address, and the loads before them have, too.
kernel void both_regions(global const int *a, global int *out, global int *more)
{
    int i = get_global_id(0);
    if (a[i] & 1) {
        more[i] = a[i] * 2;
        out[i] = a[i] + more[i];
    } else if (a[i] & 2) {
        more[i] = a[i];
        out[i] = 7;
    } else {
        out[i] = a[i];
        more[i] = out[i] + 1;
    }
}
// run: both_regions global=64
// arg a: int[64] = i
// arg out: int[64]
// arg more: int[64]
// expect out if i % 2 == 1: 3 * i
// expect out if i % 4 == 2: 7
// expect out if i % 4 == 0: i
// expect more if i % 2 == 1: 2 * i
// expect more if i % 4 == 2: i
// expect more if i % 4 == 0: i + 1
