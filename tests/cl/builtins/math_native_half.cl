// native_ and half_ functions: coarse results of the right function.

kernel void native(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    float x = a[i];
    global float *o = out + 12 * i;
    o[0] = native_sin(x); o[1] = native_cos(x); o[2] = native_exp(x); o[3] = native_log(x); o[4] = native_sqrt(x); o[5] = native_rsqrt(x);
    o[6] = native_recip(x); o[7] = native_divide(3.0f, x); o[8] = native_powr(x, 2.5f); o[9] = native_exp2(x); o[10] = native_log2(x); o[11] = native_tan(x * 0.25f);
}
// run: native global=32
// arg a: float[32] = rand(0.1, 3.0)
// arg out: float[384]
// expect out within 1e-4 if i % 12 == 0: sin(a[i / 12])
// expect out within 1e-4 if i % 12 == 1: cos(a[i / 12])
// expect out within 1e-4 if i % 12 == 2: exp(a[i / 12])
// expect out within 1e-4 if i % 12 == 3: log(a[i / 12])
// expect out within 1e-4 if i % 12 == 4: sqrt(a[i / 12])
// expect out within 1e-4 if i % 12 == 5: 1 / sqrt(a[i / 12])
// expect out within 1e-4 if i % 12 == 6: 1 / a[i / 12]
// expect out within 1e-4 if i % 12 == 7: 3 / a[i / 12]
// expect out within 1e-4 if i % 12 == 8: pow(a[i / 12], 2.5)
// expect out within 1e-4 if i % 12 == 9: exp2(a[i / 12])
// expect out within 1e-4 if i % 12 == 10: log2(a[i / 12])
// expect out within 1e-4 if i % 12 == 11: tan(a[i / 12] * 0.25)

kernel void halves(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    float x = a[i];
    global float *o = out + 4 * i;
    o[0] = half_sin(x); o[1] = half_exp(x); o[2] = half_sqrt(x); o[3] = half_divide(x, 3.0f);
}
// run: halves global=32
// arg a: float[32] = rand(0.1, 3.0)
// arg out: float[128]
// expect out within 8e-3 if i % 4 == 0: sin(a[i / 4])
// expect out within 2e-2 if i % 4 == 1: exp(a[i / 4])
// expect out within 8e-3 if i % 4 == 2: sqrt(a[i / 4])
// expect out within 8e-3 if i % 4 == 3: a[i / 4] / 3
