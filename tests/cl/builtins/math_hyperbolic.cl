// Math functions of one argument on ordinary values, within the bounds of the specification (absolute near zeros).

kernel void test_sinh(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = sinh(a[i]);
}
// run: test_sinh global=256
// arg a: float[256] = rand(-5.0, 5.0)
// arg out: float[256]
// expect out within 4 ulp if abs(sinh(a)) > 0.01: sinh(a)
// expect out within 1e-6 if abs(sinh(a)) <= 0.01: sinh(a)

kernel void test_cosh(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = cosh(a[i]);
}
// run: test_cosh global=256
// arg a: float[256] = rand(-5.0, 5.0)
// arg out: float[256]
// expect out within 4 ulp if abs(cosh(a)) > 0.01: cosh(a)
// expect out within 1e-6 if abs(cosh(a)) <= 0.01: cosh(a)

kernel void test_tanh(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = tanh(a[i]);
}
// run: test_tanh global=256
// arg a: float[256] = rand(-3.0, 3.0)
// arg out: float[256]
// expect out within 5 ulp if abs(tanh(a)) > 0.01: tanh(a)
// expect out within 1e-6 if abs(tanh(a)) <= 0.01: tanh(a)

kernel void test_asinh(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = asinh(a[i]);
}
// run: test_asinh global=256
// arg a: float[256] = rand(-20.0, 20.0)
// arg out: float[256]
// expect out within 4 ulp if abs(asinh(a)) > 0.01: asinh(a)
// expect out within 1e-6 if abs(asinh(a)) <= 0.01: asinh(a)

kernel void test_acosh(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = acosh(a[i]);
}
// run: test_acosh global=256
// arg a: float[256] = rand(1.0, 20.0)
// arg out: float[256]
// expect out within 4 ulp if abs(acosh(a)) > 0.01: acosh(a)
// expect out within 1e-6 if abs(acosh(a)) <= 0.01: acosh(a)

kernel void test_atanh(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = atanh(a[i]);
}
// run: test_atanh global=256
// arg a: float[256] = rand(-0.9, 0.9)
// arg out: float[256]
// expect out within 5 ulp if abs(atanh(a)) > 0.01: atanh(a)
// expect out within 1e-6 if abs(atanh(a)) <= 0.01: atanh(a)
