// ?: on scalars evaluates only the selected operand; on vectors it selects by the sign bit of each lane.

kernel void scalar(global const int *a, global int *out, global float *mixed)
{
    size_t i = get_global_id(0);
    int x = a[i];
    out[i] = x < 0 ? -1 : x == 0 ? 0 : 1;
    mixed[i] = x > 3 ? x : 0.5f;
}
// run: scalar global=8
// arg a: int[8] = i - 4
// arg out: int[8]
// arg mixed: float[8]
// expect out: (a > 0) - (a < 0)
// expect mixed: a > 3 ? a : 0.5

kernel void guarded(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    // A divisor of 0 must not be used.
    out[i] = a[i] ? 100 / a[i] : 7;
}
// run: guarded global=4
// arg a: int[4] = {0, 3, -7, 0}
// arg out: int[4]
// expect out: a ? 100 / a : 7

kernel void vector(global const int4 *mask, global const float4 *a, global const float4 *b, global float4 *out, global int4 *ints)
{
    size_t i = get_global_id(0);
    out[i] = mask[i] ? a[i] : b[i];
    ints[i] = a[i] < b[i] ? (int4)(1) : (int4)(2, 3, 4, 5);
}
// run: vector global=4
// arg mask: int4[4] = {0, -1, 1, -2147483648}
// arg a: float4[4] = i
// arg b: float4[4] = 10
// arg out: float4[4]
// arg ints: int4[4]
// expect out: mask < 0 ? a : b
// expect ints: a < b ? 1 : 2 + i % 4
