// Math functions whose results are exact: rounding, fabs, fmin, fmax, copysign, trunc and similar ones.

kernel void rounding(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    global float *o = out + 6 * i;
    o[0] = floor(a[i]); o[1] = ceil(a[i]); o[2] = trunc(a[i]); o[3] = round(a[i]); o[4] = rint(a[i]); o[5] = fabs(a[i]);
}
// run: rounding global=16
// arg a: float[16] = {0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, -3.7, 3.7, 8388609, -1e20, inf, -0.25, 1e-10, 7}
// arg out: float[96]
// expect out if i % 6 == 0: floor(a[i / 6])
// expect out if i % 6 == 1: ceil(a[i / 6])
// expect out if i % 6 == 2: trunc(a[i / 6])
// expect out if i % 6 == 3: round(a[i / 6])
// expect out if i % 6 == 4: rint(a[i / 6])
// expect out if i % 6 == 5: abs(a[i / 6])

kernel void pairs(global const float *a, global const float *b, global float *out)
{
    size_t i = get_global_id(0);
    global float *o = out + 6 * i;
    o[0] = fmin(a[i], b[i]); o[1] = fmax(a[i], b[i]); o[2] = copysign(a[i], b[i]); o[3] = fdim(a[i], b[i]);
    o[4] = fmod(a[i], b[i]); o[5] = maxmag(a[i], b[i]);
}
// run: pairs global=8
// arg a: float[8] = {1, -2, 3.5, nan, 5, -6.25, 7, 100}
// arg b: float[8] = {2, -3, 1.5, 1, nan, 2, -7, 7}
// arg out: float[48]
// expect out if i % 6 == 0: min(a[i / 6], b[i / 6])
// expect out if i % 6 == 1: max(a[i / 6], b[i / 6])
// expect out if i % 6 == 2: copysign(abs(a[i / 6]), b[i / 6])
// expect out if i % 6 == 3: isnan(a[i / 6]) || isnan(b[i / 6]) ? nan : max(a[i / 6] - b[i / 6], 0.0)
// expect out if i % 6 == 4: fmod(a[i / 6], b[i / 6])
// expect out if i % 6 == 5: {_, _, _, _, _, 2, _, _, _, _, _, -3, _, _, _, _, _, 3.5, _, _, _, _, _, 1, _, _, _, _, _, 5, _, _, _, _, _, -6.25, _, _, _, _, _, 7, _, _, _, _, _, 100}

kernel void parts(global const float *a, global float *f, global int *n)
{
    size_t i = get_global_id(0);
    int e;
    f[5 * i] = frexp(a[i], &e);
    n[2 * i] = e;
    f[5 * i + 1] = ldexp(a[i], 3);
    float whole;
    f[5 * i + 2] = modf(a[i], &whole);
    f[5 * i + 3] = whole;
    f[5 * i + 4] = logb(a[i]);
    n[2 * i + 1] = ilogb(a[i]);
}
// run: parts global=4
// arg a: float[4] = {1, 10, -0.75, 1000.5}
// arg f: float[20]
// arg n: int[8]
// expect f: {0.5, 8, 0, 1, 0, 0.625, 80, 0, 10, 3, -0.75, -6, -0.75, 0, -1, 0.97705078125, 8004, 0.5, 1000, 9}
// expect n: {1, 0, 4, 3, 0, -1, 10, 9}

kernel void vectors(global const float4 *a, global float4 *out)
{
    size_t i = get_global_id(0);
    float4 whole;
    out[4 * i] = floor(a[i]);
    out[4 * i + 1] = fmax(a[i], 1.0f);
    out[4 * i + 2] = fract(a[i], &whole);
    out[4 * i + 3] = whole;
}
// run: vectors global=2
// arg a: float4[2] = i * 0.75 - 2
// arg out: float4[8]
// expect out if i / 4 % 4 == 0: floor(a[i / 16 * 4 + i % 4])
// expect out if i / 4 % 4 == 1: max(a[i / 16 * 4 + i % 4], 1.0)
// expect out if i / 4 % 4 == 2: a[i / 16 * 4 + i % 4] - floor(a[i / 16 * 4 + i % 4])
// expect out if i / 4 % 4 == 3: floor(a[i / 16 * 4 + i % 4])
