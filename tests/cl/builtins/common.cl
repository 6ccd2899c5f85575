// The common functions, on scalars and vectors, with scalar and vector second arguments.

kernel void scalars(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    float x = a[i];
    global float *o = out + 9 * i;
    o[0] = clamp(x, -1.0f, 2.0f);
    o[1] = mix(x, 10.0f, 0.25f);
    o[2] = step(0.5f, x);
    o[3] = smoothstep(0.0f, 4.0f, x);
    o[4] = sign(x);
    o[5] = degrees(x);
    o[6] = radians(x);
    o[7] = min(x, 1.0f);
    o[8] = max(x, 1.0f);
}
// run: scalars global=8
// arg a: float[8] = {-2, -0.5, 0, 0.5, 1, 2.5, 3, 100}
// arg out: float[72]
// expect out if i % 9 == 0: clamp(a[i / 9], -1.0, 2.0)
// expect out within 2 ulp if i % 9 == 1: a[i / 9] + (10 - a[i / 9]) * 0.25
// expect out if i % 9 == 2: a[i / 9] >= 0.5
// expect out within 1e-6 if i % 9 == 3: clamp(a[i / 9] / 4.0, 0.0, 1.0) * clamp(a[i / 9] / 4.0, 0.0, 1.0) * (3 - 2 * clamp(a[i / 9] / 4.0, 0.0, 1.0))
// expect out if i % 9 == 4: (a[i / 9] > 0) - (a[i / 9] < 0)
// expect out within 2 ulp if i % 9 == 5: a[i / 9] * 180 / pi
// expect out within 2 ulp if i % 9 == 6: a[i / 9] * pi / 180
// expect out if i % 9 == 7: min(a[i / 9], 1.0)
// expect out if i % 9 == 8: max(a[i / 9], 1.0)

kernel void vectors(global const float4 *a, global float4 *out)
{
    size_t i = get_global_id(0);
    float4 x = a[i];
    out[4 * i] = clamp(x, 0.0f, 1.0f);
    out[4 * i + 1] = mix(x, x * 3.0f, 0.5f);
    out[4 * i + 2] = step(1.0f, x);
    out[4 * i + 3] = max(x, (float4)(0, 1, 2, 3)) + sign(x);
}
// run: vectors global=2
// arg a: float4[2] = i * 0.5 - 1
// arg out: float4[8]
// expect out if i / 4 % 4 == 0: clamp(a[i / 16 * 4 + i % 4], 0.0, 1.0)
// expect out if i / 4 % 4 == 1: a[i / 16 * 4 + i % 4] * 2
// expect out if i / 4 % 4 == 2: a[i / 16 * 4 + i % 4] >= 1
// expect out if i / 4 % 4 == 3: max(a[i / 16 * 4 + i % 4], i % 4) + (a[i / 16 * 4 + i % 4] > 0) - (a[i / 16 * 4 + i % 4] < 0)
