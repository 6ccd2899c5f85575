// Contiguous vectors of adjacent work-items: componentwise operations may keep memory order, others deinterleave.
// for: T = int, uint, float, long

#define VECTOR_(t, n) t##n
#define VECTOR(t, n) VECTOR_(t, n)
typedef VECTOR(T, 2) T2;
typedef VECTOR(T, 4) T4;
typedef VECTOR(T, 16) T16;

kernel void alone(global const T4 *a, global const T4 *b, global T4 *out, T4 factor, T more)
{
    size_t i = get_global_id(0);
    out[i] = a[i] * factor + b[i] * (T4)(1, 2, 3, 4) - more;
}
// run: alone global=64 local=32
// arg a: $T4[64] = rand(-99, 99)
// arg b: $T4[64] = rand(-99, 99)
// arg out: $T4[64]
// arg factor: $T4 = {2, 5, 3, 7}
// arg more: $T = 11
// expect out if i % 4 == 0: a * 2 + b - 11
// expect out if i % 4 == 1: a * 5 + b * 2 - 11
// expect out if i % 4 == 2: a * 3 + b * 3 - 11
// expect out if i % 4 == 3: a * 7 + b * 4 - 11

// Components are used in a branch first, and again after it.
kernel void asked(global const T4 *a, global const T4 *b, global T4 *out, global T *sums, int choice)
{
    size_t i = get_global_id(0);
    T4 sum = a[i] + b[i];
    T total = 0;
    if (choice) total = sum.x * 2 + a[i].w;
    for (int iteration = 0; iteration < choice; iteration++) total += sum.y + b[i].z;
    if (i % 3 == 0) total += sum.z;
    sums[i] = total + sum.x;
    out[i] = sum.wzyx;
}
// run: asked global=64 local=64
// arg a: $T4[64] = rand(-99, 99)
// arg b: $T4[64] = rand(-99, 99)
// arg out: $T4[64]
// arg sums: $T[64]
// arg choice: int = 1
// expect out: a[i ^ 3] + b[i ^ 3]
// expect sums if i % 3 == 0: (a[i * 4] + b[i * 4]) * 3 + a[i * 4 + 3] + a[i * 4 + 1] + b[i * 4 + 1] + b[i * 4 + 2] + a[i * 4 + 2] + b[i * 4 + 2]
// expect sums if i % 3 != 0: (a[i * 4] + b[i * 4]) * 3 + a[i * 4 + 3] + a[i * 4 + 1] + b[i * 4 + 1] + b[i * 4 + 2]
// run: asked global=64 local=64
// arg a: $T4[64] = rand(-99, 99)
// arg b: $T4[64] = rand(-99, 99)
// arg out: $T4[64]
// arg sums: $T[64]
// arg choice: int = 0
// expect out: a[i ^ 3] + b[i ^ 3]
// expect sums if i % 3 == 0: a[i * 4] + b[i * 4] + a[i * 4 + 2] + b[i * 4 + 2]
// expect sums if i % 3 != 0: a[i * 4] + b[i * 4]

// Across a barrier, in the iterations of a loop, and into another order.
kernel void onwards(global const T2 *a, global T2 *out, global T2 *reversed, local T2 *shared, int iterations)
{
    size_t i = get_global_id(0), l = get_local_id(0);
    T2 x = a[i], sum = x + x;
    shared[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int iteration = 0; iteration < iterations; iteration++) sum += shared[l ^ 1] - a[i];
    out[i] = sum;
    reversed[get_global_size(0) - 1 - i] = x * sum;
}
// run: onwards global=128 local=64
// arg a: $T2[128] = rand(-9, 9)
// arg out: $T2[128]
// arg reversed: $T2[128]
// arg shared: local 1024
// arg iterations: int = 3
// expect out: a * 2 + 3 * (a[i ^ 2] * 2 - a)
// expect reversed: a[254 - i + i % 2 * 2] * (a[254 - i + i % 2 * 2] * 2 + 3 * (a[(254 - i + i % 2 * 2) ^ 2] * 2 - a[254 - i + i % 2 * 2]))

kernel void many(global const T16 *a, global T *sums)
{
    size_t i = get_global_id(0);
    T16 sum = a[i] + a[i + 32] * (T16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    sums[i] = sum.s0 + sum.s3 - sum.sf;
}
// run: many global=32 local=32
// arg a: $T16[64] = i % 23
// arg sums: $T[32]
// expect sums: a[i * 16] + a[i * 16 + 3] + 3 * a[i * 16 + 515] - a[i * 16 + 15] - 15 * a[i * 16 + 527]
