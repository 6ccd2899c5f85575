// Math functions of two and three arguments.

kernel void powers(global const float *a, global const float *b, global float *p, global float *r, global float *n, global float *root)
{
    size_t i = get_global_id(0);
    p[i] = pow(a[i], b[i]);
    r[i] = powr(a[i], b[i]);
    n[i] = pown(-a[i], (int)b[i]);
    root[i] = rootn(a[i], 3);
}
// run: powers global=128
// arg a: float[128] = rand(0.1, 10.0)
// arg b: float[128] = rand(-8.0, 8.0)
// arg p: float[128]
// arg r: float[128]
// arg n: float[128]
// arg root: float[128]
// expect p within 16 ulp: pow(a, b)
// expect r within 16 ulp: pow(a, b)
// expect n within 16 ulp: pow(-a, trunc(b))
// expect root within 16 ulp: cbrt(a)

kernel void angles(global const float *a, global const float *b, global float *out, global float *h, global float *o)
{
    size_t i = get_global_id(0);
    out[i] = atan2(a[i], b[i]);
    h[i] = hypot(a[i], b[i]);
    o[i] = atan2pi(a[i], b[i]);
}
// run: angles global=128
// arg a: float[128] = rand(-10.0, 10.0)
// arg b: float[128] = rand(-10.0, 10.0)
// arg out: float[128]
// arg h: float[128]
// arg o: float[128]
// expect out within 6 ulp: atan2(a, b)
// expect h within 4 ulp: hypot(a, b)
// expect o within 6 ulp: atan2(a, b) / pi

kernel void fused(global const float *a, global float *f, global float *m)
{
    size_t i = get_global_id(0);
    f[i] = fma(a[i], a[i], -a[i]);
    m[i] = mad(a[i], 2.0f, 1.0f);
}
// run: fused global=128
// arg a: float[128] = rand(1.0, 2.0)
// arg f: float[128]
// arg m: float[128]
// expect f: fma(a, a, -a)
// expect m within 1 ulp: a * 2 + 1

kernel void sine_and_cosine(global const float *a, global float *s, global float *c)
{
    size_t i = get_global_id(0);
    float cosine;
    s[i] = sincos(a[i], &cosine);
    c[i] = cosine;
}
// run: sine_and_cosine global=64
// arg a: float[64] = rand(-10.0, 10.0)
// arg s: float[64]
// arg c: float[64]
// expect s within 1e-6: sin(a)
// expect c within 1e-6: cos(a)
