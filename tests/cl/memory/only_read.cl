// Read-only buffers with elements of all sizes, with and without const, and the same memory when it is also written.
// for: T = uchar, char4, short, ushort2, uint, int2, float4, long, ulong2, uchar16, long4

kernel void reverse(global T *a, global const T *b, global T *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}
// run: reverse global=64
// arg a: $T[64] = rand(0, 50)
// arg b: $T[64] = rand(0, 50)
// arg out: $T[64]
// expect out: a + b

// The loaded value was just stored through another pointer to the same memory.
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

// Two read-only arguments are the same buffer.
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

// The argument is a buffer, then a sub-buffer that starts in its middle.
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

// Work-items modify the loaded values repeatedly, in parts and as a whole.
kernel void change(global uint *a, global uint4 *b, uint times)
{
    size_t i = get_global_id(0);
    uint before = a[i];
    uint4 four = b[i];
    a[i] = before * 3;
    b[i] = four.wzyx;
    a[i] += before;
    for (uint k = 0; k < times; k++) {
        a[i] += b[i].x;
        b[i].x = a[i] & 15;
    }
}
// run: change global=64
// arg a: uint[64] = i + 1
// arg b: uint4[64] = i % 4 + 2
// arg times: uint = 2
// expect a: 4 * i + 9 + ((4 * i + 9) & 15)
// expect b if i % 4: 5 - i % 4
// expect b if i % 4 == 0: (4 * (i / 4) + 9 + ((4 * (i / 4) + 9) & 15)) & 15

// A barrier separates two loads. Other work-items store between them.
kernel void neighbours(global uint *a)
{
    size_t i = get_global_id(0);
    uint mine = a[i];
    a[i] = mine + 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    uint next = a[i ^ 1];
    barrier(CLK_GLOBAL_MEM_FENCE);
    a[i] = mine * 100 + next;
}
// run: neighbours global=64 local=64
// arg a: uint[64] = i
// expect a: i * 100 + (i % 2 == 0 ? i + 2 : i)

// Too many constants for a uniform buffer.
kernel void large(constant uint *a, global uint *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i * 300];
}
// run: large global=64
// arg a: uint[20000] = i * 7
// arg out: uint[64]
// expect out: i * 2100

constant uint scattered[20000] = {[0] = 5, [300] = 9, [600] = 2, [18900] = 7};
constant uchar bytes[70000] = {[3] = 1, [3000] = 200, [63000] = 3};

kernel void program(global uint *out)
{
    size_t i = get_global_id(0);
    out[i] = scattered[i * 300] + bytes[i * 1000];
}
// run: program global=64
// arg out: uint[64]
// expect out: (i == 0 ? 5 : i == 1 ? 9 : i == 2 ? 2 : 0) + (i == 3 ? 200 : i == 63 ? 10 : 0)
