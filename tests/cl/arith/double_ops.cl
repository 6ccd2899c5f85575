// Double arithmetic is correctly rounded; conversions to and from it are exact where they can be.
// requires: fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void ops(global const double *a, global const double *b, global double *add, global double *sub, global double *mul, global double *div, global double *root)
{
    size_t i = get_global_id(0);
    add[i] = a[i] + b[i];
    sub[i] = a[i] - b[i];
    mul[i] = a[i] * b[i];
    div[i] = a[i] / b[i];
    root[i] = sqrt(fabs(a[i]));
}
// run: ops global=64
// arg a: double[64] = rand(-1000.0, 1000.0)
// arg b: double[64] = rand(-10.0, 10.0)
// arg add: double[64]
// arg sub: double[64]
// arg mul: double[64]
// arg div: double[64]
// arg root: double[64]
// expect add: a + b
// expect sub: a - b
// expect mul: a * b
// expect div: a / b
// expect root: sqrt(abs(a))

kernel void convert(global const double *a, global float *f, global int *n, global double *back)
{
    size_t i = get_global_id(0);
    f[i] = (float)a[i];
    n[i] = (int)a[i];
    back[i] = n[i] + 0.5;
}
// run: convert global=32
// arg a: double[32] = rand(-100000.0, 100000.0)
// arg f: float[32]
// arg n: int[32]
// arg back: double[32]
// expect f: a
// expect n: to_int(a)
// expect back: to_int(a) + 0.5

kernel void vectors(global const double4 *a, global double4 *out, double s)
{
    size_t i = get_global_id(0);
    double4 x = a[i];
    out[i] = x.wzyx * s + (double4)(1.0, 2.0, 3.0, 4.0);
}
// run: vectors global=4
// arg a: double4[4] = i * 0.125
// arg out: double4[4]
// arg s: double = 2.0
// expect out: a[i / 4 * 4 + 3 - i % 4] * 2 + 1 + i % 4
