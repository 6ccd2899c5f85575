// Arithmetic on contiguous narrow integers: packed arithmetic is valid if no operation needs more bits of a result.
// for: T = char, uchar, short, ushort

#define VECTOR_(t, n) t##n
#define VECTOR(t, n) VECTOR_(t, n)
typedef VECTOR(T, 4) T4;

kernel void low_bits(global const T *a, global const T *b, global T *out, int k)
{
    size_t i = get_global_id(0);
    out[i] = (a[i] * b[i] - (b[i] << 3)) * 7 + (~a[i] ^ k) - (a[i] & 0x35) + (b[i] | k * 5);
}
// run: low_bits global=640 local=64
// arg a: $T[640] = rand(min_of($T), max_of($T))
// arg b: $T[640] = rand(min_of($T), max_of($T))
// arg out: $T[640]
// arg k: int = 1234567
// expect out: (a * b - (b << 3)) * 7 + (~a ^ k) - (a & 0x35) + (b | k * 5)

// Some results need more bits than others.
kernel void all_bits(global const T *a, global const T *b, global T *out, global int *sums, global T *means)
{
    size_t i = get_global_id(0);
    int sum = a[i] + b[i];
    out[i] = sum * 3;
    sums[i] = sum;
    means[i] = (sum + 1) >> 1;
}
// run: all_bits global=320 local=32
// arg a: $T[320] = rand(min_of($T), max_of($T))
// arg b: $T[320] = rand(min_of($T), max_of($T))
// arg out: $T[320]
// arg sums: int[320]
// arg means: $T[320]
// expect out: (a + b) * 3
// expect sums: a + b
// expect means: (a + b + 1) >> 1

// A group size that is not a multiple of the vector width, and one that is a multiple of fewer lanes.
// run: all_bits global=100 local=20
// arg a: $T[100] = rand(min_of($T), max_of($T))
// arg b: $T[100] = rand(min_of($T), max_of($T))
// arg out: $T[100]
// arg sums: int[100]
// arg means: $T[100]
// expect out: (a + b) * 3
// expect sums: a + b
// expect means: (a + b + 1) >> 1
// run: all_bits global=96 local=48
// arg a: $T[96] = rand(min_of($T), max_of($T))
// arg b: $T[96] = rand(min_of($T), max_of($T))
// arg out: $T[96]
// arg sums: int[96]
// arg means: $T[96]
// expect out: (a + b) * 3
// expect sums: a + b
// expect means: (a + b + 1) >> 1

// Components with different constants.
kernel void components(global const T4 *a, global const T4 *b, global T4 *out, T factor)
{
    size_t i = get_global_id(0);
    out[i] = a[i] * (T4)(3, 5, 7, 11) + b[i] * factor - (T4)factor;
}
// run: components global=256 local=64
// arg a: $T4[256] = rand(min_of($T), max_of($T))
// arg b: $T4[256] = rand(min_of($T), max_of($T))
// arg out: $T4[256]
// arg factor: $T = 113
// expect out if i % 4 == 0: a * 3 + b * factor - factor
// expect out if i % 4 == 1: a * 5 + b * factor - factor
// expect out if i % 4 == 2: a * 7 + b * factor - factor
// expect out if i % 4 == 3: a * 11 + b * factor - factor

// Under a condition, in a loop, and across a barrier.
kernel void elsewhere(global const T *a, global T *out, local T *shared, int iterations)
{
    size_t i = get_global_id(0), l = get_local_id(0);
    T x = a[i], sum = x;
    shared[l] = x;
    for (int iteration = 0; iteration < iterations; iteration++) sum += a[i] * x;
    barrier(CLK_LOCAL_MEM_FENCE);
    T y = sum + x + shared[l ^ 1];
    if (x > 3) y = y * 5 + a[i];
    out[i] = y + x;
}
// run: elsewhere global=256 local=64
// arg a: $T[256] = rand(0, 9)
// arg out: $T[256]
// arg shared: local 128
// arg iterations: int = 3
// expect out if a > 3: (a + 3 * a * a + a + a[i ^ 1]) * 5 + a + a
// expect out if a <= 3: a + 3 * a * a + a + a[i ^ 1] + a

// A contiguous range is reversed in place, and one at odd addresses is moved.
kernel void in_place(global T *a, global T *b)
{
    size_t i = get_global_id(0);
    a[i] = a[i] * 3 + 1;
    b[i + 1] = a[i] - 1;
}
// run: in_place global=192 local=64
// arg a: $T[192] = i
// arg b: $T[193]
// expect a: i * 3 + 1
// expect b if i > 0: (i - 1) * 3
