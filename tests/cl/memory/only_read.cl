// Buffers that a launch only reads, in elements of all sizes, whether the kernel says so or not, and the same memory when the launch writes it as well.
// for: T = uchar, char4, short, ushort2, uint, int2, float4, long, ulong2, uchar16, long4

kernel void turn(global T *a, global const T *b, global T *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}
// run: turn global=64
// arg a: $T[64] = rand(0, 50)
// arg b: $T[64] = rand(0, 50)
// arg out: $T[64]
// expect out: a + b

// What is read was just written, through another pointer to the same memory.
kernel void alias(global const T *a, global T *out, global T *next)
{
    size_t i = get_global_id(0);
    T before = a[i];
    out[i] = before + (T)(1);
    next[i] = a[i];
}
// run: alias global=64
// arg a: $T[64] = rand(0, 50)
// arg out: same a
// arg next: $T[64]
// expect a: a + 1
// expect next: a + 1

// Twice the same memory, only read.
kernel void twice(global const T *a, global const T *b, global T *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}
// run: twice global=64
// arg a: $T[64] = rand(0, 50)
// arg b: same a
// arg out: $T[64]
// expect out: a + a

// From the middle of a buffer.
kernel void part(global const uint *a, global uint *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i];
}
// run: part global=64
// arg a: uint[256] = rand(0, 50)
// arg out: uint[64]
// expect out: a
// run: part global=64
// arg a: same a[128, 64]
// arg out: uint[64]
// expect out: a
