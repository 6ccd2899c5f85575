// Math functions of one argument on ordinary values, within the bounds of the specification (absolute near zeros).

kernel void test_sqrt(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = sqrt(a[i]);
}
// run: test_sqrt global=256
// arg a: float[256] = rand(0.0, 1000.0)
// arg out: float[256]
// expect out within 3 ulp if abs(sqrt(a)) > 0.01: sqrt(a)
// expect out within 1e-6 if abs(sqrt(a)) <= 0.01: sqrt(a)

kernel void test_rsqrt(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = rsqrt(a[i]);
}
// run: test_rsqrt global=256
// arg a: float[256] = rand(0.01, 1000.0)
// arg out: float[256]
// expect out within 2 ulp if abs(1 / sqrt(a)) > 0.01: 1 / sqrt(a)
// expect out within 1e-6 if abs(1 / sqrt(a)) <= 0.01: 1 / sqrt(a)

kernel void test_cbrt(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = cbrt(a[i]);
}
// run: test_cbrt global=256
// arg a: float[256] = rand(-50.0, 50.0)
// arg out: float[256]
// expect out within 2 ulp if abs(cbrt(a)) > 0.01: cbrt(a)
// expect out within 1e-6 if abs(cbrt(a)) <= 0.01: cbrt(a)

kernel void test_exp(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = exp(a[i]);
}
// run: test_exp global=256
// arg a: float[256] = rand(-20.0, 20.0)
// arg out: float[256]
// expect out within 3 ulp if abs(exp(a)) > 0.01: exp(a)
// expect out within 1e-6 if abs(exp(a)) <= 0.01: exp(a)

kernel void test_exp2(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = exp2(a[i]);
}
// run: test_exp2 global=256
// arg a: float[256] = rand(-20.0, 20.0)
// arg out: float[256]
// expect out within 3 ulp if abs(exp2(a)) > 0.01: exp2(a)
// expect out within 1e-6 if abs(exp2(a)) <= 0.01: exp2(a)

kernel void test_exp10(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = exp10(a[i]);
}
// run: test_exp10 global=256
// arg a: float[256] = rand(-10.0, 10.0)
// arg out: float[256]
// expect out within 3 ulp if abs(exp10(a)) > 0.01: exp10(a)
// expect out within 1e-6 if abs(exp10(a)) <= 0.01: exp10(a)

kernel void test_expm1(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = expm1(a[i]);
}
// run: test_expm1 global=256
// arg a: float[256] = rand(-3.0, 3.0)
// arg out: float[256]
// expect out within 3 ulp if abs(expm1(a)) > 0.01: expm1(a)
// expect out within 1e-6 if abs(expm1(a)) <= 0.01: expm1(a)

kernel void test_log(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = log(a[i]);
}
// run: test_log global=256
// arg a: float[256] = rand(0.001, 100.0)
// arg out: float[256]
// expect out within 3 ulp if abs(log(a)) > 0.01: log(a)
// expect out within 1e-6 if abs(log(a)) <= 0.01: log(a)

kernel void test_log2(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = log2(a[i]);
}
// run: test_log2 global=256
// arg a: float[256] = rand(0.001, 100.0)
// arg out: float[256]
// expect out within 3 ulp if abs(log2(a)) > 0.01: log2(a)
// expect out within 1e-6 if abs(log2(a)) <= 0.01: log2(a)

kernel void test_log10(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = log10(a[i]);
}
// run: test_log10 global=256
// arg a: float[256] = rand(0.001, 100.0)
// arg out: float[256]
// expect out within 3 ulp if abs(log10(a)) > 0.01: log10(a)
// expect out within 1e-6 if abs(log10(a)) <= 0.01: log10(a)

kernel void test_log1p(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = log1p(a[i]);
}
// run: test_log1p global=256
// arg a: float[256] = rand(-0.9, 10.0)
// arg out: float[256]
// expect out within 2 ulp if abs(log1p(a)) > 0.01: log1p(a)
// expect out within 1e-6 if abs(log1p(a)) <= 0.01: log1p(a)
