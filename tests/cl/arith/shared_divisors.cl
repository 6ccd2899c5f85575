// Quotients with a common divisor: within 2.5 ULP, up to the greatest divisors, as scalars, components and in loops.

kernel void two(global const float *a, global const float *b, global float *c, global float *d)
{
    size_t i = get_global_id(0);
    c[i] = a[i] / b[i];
    d[i] = -a[255 - i] / b[i];
}
// run: two global=256
// arg a: float[256] = float_of(rand(0x30000000, 0x4f000000))
// arg b: float[256] = float_of(rand(0x30000000, 0x4f000000))
// arg c: float[256]
// arg d: float[256]
// expect c within 2.5 ulp: a / b
// expect d within 2.5 ulp: -a[255 - i] / b
//
// run: two global=256
// arg a: float[256] = float_of(rand(0x7b000000, 0x7f7fffff))
// arg b: float[256] = -float_of(rand(0x7e700000, 0x7f7fffff))
// arg c: float[256]
// arg d: float[256]
// expect c within 2.5 ulp: a / b
// expect d within 2.5 ulp: -a[255 - i] / b

kernel void special(global const float *a, global const float *b, global float *out)
{
    size_t i = get_global_id(0);
    out[2 * i] = a[i] / b[i];
    out[2 * i + 1] = 1.0f / b[i];
}
// run: special global=8
// arg a: float[8] = {1, -1, 3, inf, 1, nan, inf, -4}
// arg b: float[8] = {0, 0, inf, 4, inf, 1, 2, -inf}
// arg out: float[16]
// expect out: {inf, inf, -inf, inf, 0, 0, inf, 0.25, 0, 0, nan, 1, inf, 0.5, 0, -0.0}

kernel void components(global const float4 *a, global const float *b, global float4 *c)
{
    size_t i = get_global_id(0);
    c[i] = a[i] / b[i];
}
// run: components global=64
// arg a: float4[64] = rand(-1000.0, 1000.0)
// arg b: float[64] = rand(0.5, 10.0)
// arg c: float4[64]
// expect c within 2.5 ulp: a / b[i / 4]

// Only the sums of the dividends differ: each quotient is exact.
kernel void repeated(global const float *a, global const float *b, global float *c, int n)
{
    size_t i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; k++)
        if (k & 1)
            sum += a[k] / b[i];
    c[i] = sum;
}
// run: repeated global=16
// arg a: float[16] = i
// arg b: float[16] = pow(2, i - 8)
// arg c: float[16]
// arg n: int = 16
// expect c: 64 / b
