// Work-items of a row load the same local memory in each iteration; a device may load for several iterations at once.
// for: T = float, int, short, long, double
// build: -cl-std=CL3.0

kernel void sums(global const T *in, global T *out, int n)
{
    local T tile[16];
    size_t i = get_local_id(1) * get_local_size(0) + get_local_id(0), items = get_local_size(0) * get_local_size(1);
    for (size_t j = i; j < 16; j += items) tile[j] = in[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    T sum = (T)0;
    for (int j = 0; j < 16; j++) sum += tile[j] * (T)(j + 1);
    for (uint j = 15; j > 7; j--) sum += tile[j];
    for (long j = 0; j < 16; j += 2) sum -= tile[j ^ 1];
    // Only some work-items execute this loop.
    if (i & 1) for (int j = 0; j < 16; j++) sum += tile[j];
    // The number of iterations varies.
    for (int k = 0; k < (int)(i & 3); k++)
        for (int j = 0; j < 8; j++) sum += tile[j];
    // All work-items execute this loop; the number of iterations is an argument.
    for (int k = 0; k < n; k++)
        for (int j = 0; j < 8; j++) sum += tile[j + k] - tile[j];
    // The number of iterations is not a multiple of two.
    for (int j = 0; j < 5; j++) sum += tile[j];
    if (i == 3) {
        out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum;
        return;
    }
    // Some work-items have left.
    for (int j = 0; j < 8; j++) sum += tile[j] * (T)2;
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum;
}
// run: sums global=32x2 local=16x2
// arg in: $T[16] = rand(-8, 8)
// arg out: $T[64]
// arg n: int = 3
// expect out: sum(j, 0, 16, in[j] * (j + 1)) + sum(j, 8, 16, in[j]) - sum(j, 0, 8, in[2 * j + 1]) + ((i / 32 % 2 * 16 + i % 16) & 1) * sum(j, 0, 16, in[j]) + ((i / 32 % 2 * 16 + i % 16) & 3) * sum(j, 0, 8, in[j]) + 2 * (in[8] - in[0]) + in[9] - in[1] + sum(j, 0, 5, in[j]) + ((i / 32 % 2 * 16 + i % 16) == 3 ? 0 : 2 * sum(j, 0, 8, in[j]))

// run: sums global=24x1 local=12x1
// arg in: $T[16] = rand(-8, 8)
// arg out: $T[24]
// arg n: int = 3
// expect out: sum(j, 0, 16, in[j] * (j + 1)) + sum(j, 8, 16, in[j]) - sum(j, 0, 8, in[2 * j + 1]) + ((i % 12) & 1) * sum(j, 0, 16, in[j]) + ((i % 12) & 3) * sum(j, 0, 8, in[j]) + 2 * (in[8] - in[0]) + in[9] - in[1] + sum(j, 0, 5, in[j]) + ((i % 12) == 3 ? 0 : 2 * sum(j, 0, 8, in[j]))

// run: sums global=16x4 local=8x2
// arg in: $T[16] = rand(-8, 8)
// arg out: $T[64]
// arg n: int = 3
// expect out: sum(j, 0, 16, in[j] * (j + 1)) + sum(j, 8, 16, in[j]) - sum(j, 0, 8, in[2 * j + 1]) + ((i / 16 % 2 * 8 + i % 8) & 1) * sum(j, 0, 16, in[j]) + ((i / 16 % 2 * 8 + i % 8) & 3) * sum(j, 0, 8, in[j]) + 2 * (in[8] - in[0]) + in[9] - in[1] + sum(j, 0, 5, in[j]) + ((i / 16 % 2 * 8 + i % 8) == 3 ? 0 : 2 * sum(j, 0, 8, in[j]))

// run: sums global=40x1 local=16x1
// arg in: $T[16] = rand(-8, 8)
// arg out: $T[40]
// arg n: int = 3
// expect out: sum(j, 0, 16, in[j] * (j + 1)) + sum(j, 8, 16, in[j]) - sum(j, 0, 8, in[2 * j + 1]) + ((i % 16) & 1) * sum(j, 0, 16, in[j]) + ((i % 16) & 3) * sum(j, 0, 8, in[j]) + 2 * (in[8] - in[0]) + in[9] - in[1] + sum(j, 0, 5, in[j]) + ((i % 16) == 3 ? 0 : 2 * sum(j, 0, 8, in[j]))

// run: sums global=20x1 local=16x1
// arg in: $T[16] = rand(-8, 8)
// arg out: $T[20]
// arg n: int = 3
// expect out: sum(j, 0, 16, in[j] * (j + 1)) + sum(j, 8, 16, in[j]) - sum(j, 0, 8, in[2 * j + 1]) + ((i % 16) & 1) * sum(j, 0, 16, in[j]) + ((i % 16) & 3) * sum(j, 0, 8, in[j]) + 2 * (in[8] - in[0]) + in[9] - in[1] + sum(j, 0, 5, in[j]) + ((i % 16) == 3 ? 0 : 2 * sum(j, 0, 8, in[j]))

kernel void vectors(global const float4 *in, global float4 *out, global int4 *out2)
{
    local float4 tile[16];
    local int4 other[8];
    size_t i = get_local_id(0);
    if (i < 16) tile[i] = in[i];
    if (i < 8) other[i] = convert_int4(in[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 sum = 0;
    int4 reversed = 0;
    for (uint j = 0; j < 16; j++) sum += tile[j] * (float4)(j + 1);
    for (uint j = 0; j < 8; j++) reversed = reversed * 3 + other[7 - j] * (int)i;
    out[get_global_id(0)] = sum;
    out2[get_global_id(0)] = reversed;
}
// run: vectors global=64 local=32
// arg in: float4[16] = rand(-8, 8)
// arg out: float4[64]
// arg out2: int4[64]
// expect out: sum(j, 0, 16, in[4 * j + i % 4] * (j + 1))
// expect out2: i / 4 % 32 * (in[i % 4] + 3 * (in[4 + i % 4] + 3 * (in[8 + i % 4] + 3 * (in[12 + i % 4] + 3 * (in[16 + i % 4] + 3 * (in[20 + i % 4] + 3 * (in[24 + i % 4] + 3 * in[28 + i % 4])))))))
