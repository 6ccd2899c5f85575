// + - * / on floats: the first three correctly rounded, division within 2.5 ULP.

kernel void ops(global const float *a, global const float *b, global float *add, global float *sub, global float *mul, global float *div, global float *neg)
{
    size_t i = get_global_id(0);
    add[i] = a[i] + b[i];
    sub[i] = a[i] - b[i];
    mul[i] = a[i] * b[i];
    div[i] = a[i] / b[i];
    neg[i] = -a[i];
}
// run: ops global=256
// arg a: float[256] = rand(-1000.0, 1000.0)
// arg b: float[256] = rand(-10.0, 10.0)
// arg add: float[256]
// arg sub: float[256]
// arg mul: float[256]
// arg div: float[256]
// arg neg: float[256]
// expect add: a + b
// expect sub: a - b
// expect mul: a * b
// expect div within 2.5 ulp: a / b
// expect neg: -a

kernel void special(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    float x = a[i];
    out[4 * i] = x + 1.0f;
    out[4 * i + 1] = x - x;
    out[4 * i + 2] = x * 2.0f;
    out[4 * i + 3] = 1.0f / x;
}
// run: special global=4
// arg a: float[4] = {inf, -inf, nan, 0}
// arg out: float[16]
// expect out: {inf, nan, inf, 0, -inf, nan, -inf, 0, nan, nan, nan, nan, 1, 0, 0, inf}
