// Math functions of one argument on ordinary values, within the bounds of the specification (absolute near zeros).

kernel void test_sin(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = sin(a[i]);
}
// run: test_sin global=256
// arg a: float[256] = rand(-50.0, 50.0)
// arg out: float[256]
// expect out within 4 ulp if abs(sin(a)) > 0.01: sin(a)
// expect out within 1e-6 if abs(sin(a)) <= 0.01: sin(a)

kernel void test_cos(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = cos(a[i]);
}
// run: test_cos global=256
// arg a: float[256] = rand(-50.0, 50.0)
// arg out: float[256]
// expect out within 4 ulp if abs(cos(a)) > 0.01: cos(a)
// expect out within 1e-6 if abs(cos(a)) <= 0.01: cos(a)

kernel void test_tan(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = tan(a[i]);
}
// run: test_tan global=256
// arg a: float[256] = rand(-50.0, 50.0)
// arg out: float[256]
// expect out within 5 ulp if abs(tan(a)) > 0.01: tan(a)
// expect out within 1e-6 if abs(tan(a)) <= 0.01: tan(a)

kernel void test_asin(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = asin(a[i]);
}
// run: test_asin global=256
// arg a: float[256] = rand(-1.0, 1.0)
// arg out: float[256]
// expect out within 4 ulp if abs(asin(a)) > 0.01: asin(a)
// expect out within 1e-6 if abs(asin(a)) <= 0.01: asin(a)

kernel void test_acos(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = acos(a[i]);
}
// run: test_acos global=256
// arg a: float[256] = rand(-1.0, 1.0)
// arg out: float[256]
// expect out within 4 ulp if abs(acos(a)) > 0.01: acos(a)
// expect out within 1e-6 if abs(acos(a)) <= 0.01: acos(a)

kernel void test_atan(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = atan(a[i]);
}
// run: test_atan global=256
// arg a: float[256] = rand(-50.0, 50.0)
// arg out: float[256]
// expect out within 5 ulp if abs(atan(a)) > 0.01: atan(a)
// expect out within 1e-6 if abs(atan(a)) <= 0.01: atan(a)

kernel void test_sinpi(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = sinpi(a[i]);
}
// run: test_sinpi global=256
// arg a: float[256] = rand(-4.0, 4.0)
// arg out: float[256]
// expect out within 4 ulp if abs(sin(pi * a)) > 0.01: sin(pi * a)
// expect out within 1e-6 if abs(sin(pi * a)) <= 0.01: sin(pi * a)

kernel void test_cospi(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = cospi(a[i]);
}
// run: test_cospi global=256
// arg a: float[256] = rand(-4.0, 4.0)
// arg out: float[256]
// expect out within 4 ulp if abs(cos(pi * a)) > 0.01: cos(pi * a)
// expect out within 1e-6 if abs(cos(pi * a)) <= 0.01: cos(pi * a)

kernel void test_asinpi(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = asinpi(a[i]);
}
// run: test_asinpi global=256
// arg a: float[256] = rand(-1.0, 1.0)
// arg out: float[256]
// expect out within 5 ulp if abs(asin(a) / pi) > 0.01: asin(a) / pi
// expect out within 1e-6 if abs(asin(a) / pi) <= 0.01: asin(a) / pi

kernel void test_acospi(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = acospi(a[i]);
}
// run: test_acospi global=256
// arg a: float[256] = rand(-1.0, 1.0)
// arg out: float[256]
// expect out within 5 ulp if abs(acos(a) / pi) > 0.01: acos(a) / pi
// expect out within 1e-6 if abs(acos(a) / pi) <= 0.01: acos(a) / pi

kernel void test_atanpi(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = atanpi(a[i]);
}
// run: test_atanpi global=256
// arg a: float[256] = rand(-20.0, 20.0)
// arg out: float[256]
// expect out within 5 ulp if abs(atan(a) / pi) > 0.01: atan(a) / pi
// expect out within 1e-6 if abs(atan(a) / pi) <= 0.01: atan(a) / pi
