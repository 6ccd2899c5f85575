// Contiguous accesses of adjacent work-items: combined accesses must have the effect of the separate ones.

kernel void copy_bytes(global const uchar *a, global uchar *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i];
}
// run: copy_bytes global=1024
// arg a: uchar[1024] = rand(0, 255)
// arg out: uchar[1024]
// expect out: a

kernel void mixed(global const uchar *a, global const short *b, global int *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] - b[i];
}
// run: mixed global=96 local=8
// arg a: uchar[96] = rand(0, 255)
// arg b: short[96] = rand(-1000, 1000)
// arg out: int[96]
// expect out: a - b

// The guard ends in the middle of a combined access.
kernel void guarded(global const float *a, global float *out, uint n)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    out[i] = 2 * a[i];
}
// run: guarded global=64
// arg a: float[64] = i
// arg out: float[64]
// arg n: uint = 61
// expect out if i < 61: 2 * a
// expect out if i >= 61: 0

kernel void both_ways(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i];
    if (x & 1) x = 3 * x + 1;
    else x >>= 1;
    out[i] = x;
}
// run: both_ways global=256
// arg a: int[256] = rand(-1000, 1000)
// arg out: int[256]
// expect out if a & 1: 3 * a + 1
// expect out if (a & 1) == 0: a >> 1

kernel void pairs(global const float2 *a, global float2 *out, int n)
{
    size_t i = get_global_id(0);
    float2 sum = 0;
    for (int k = 0; k < n; k++) sum = sum * 0.5f + a[i];
    out[i] = sum;
}
// run: pairs global=32
// arg a: float2[32] = i
// arg out: float2[32]
// arg n: int = 3
// expect out: 1.75 * a

kernel void counted(global const uint *a, global uint *out, global uint *counts)
{
    size_t i = get_global_id(0);
    atomic_inc(&counts[a[i] & 7]);
    out[i] = a[i];
}
// run: counted global=128
// arg a: uint[128] = i
// arg out: uint[128]
// arg counts: uint[8]
// expect out: a
// expect counts: 16

// Contiguous ranges at any address, and a second dimension.
kernel void rows(global const float *a, global float *out, int pitch)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * 16 + x] = a[y * pitch + x + 1];
}
// run: rows global=16x4
// arg a: float[80] = i
// arg out: float[64]
// arg pitch: int = 19
// expect out: (i / 16) * 19 + i % 16 + 1

// A work-item reads its own writes.
kernel void again(global int *a)
{
    size_t i = get_global_id(0);
    a[i] += 3;
    a[i] *= a[i];
}
// run: again global=64
// arg a: int[64] = i
// expect a: (i + 3) * (i + 3)
