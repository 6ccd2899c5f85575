// `dot`, `cross`, `length`, `distance`, `normalize` and their fast_ forms.

kernel void geometry(global const float4 *a, global const float4 *b, global float *out)
{
    size_t i = get_global_id(0);
    float4 x = a[i], y = b[i];
    global float *o = out + 16 * i;
    o[0] = dot(x, y);
    o[1] = dot(x.xyz, y.xyz);
    o[2] = dot(x.xy, y.xy);
    o[3] = length(x);
    o[4] = distance(x.xyz, y.xyz);
    o[5] = fast_length(x.xy);
    o[6] = dot(x.x, y.x);
    o[7] = length(x.y);
    vstore3(cross(x.xyz, y.xyz), 0, o + 8);
    float4 c = cross(x, y);
    o[11] = c.w;
    vstore4(normalize(x), 0, o + 12);
}
// run: geometry global=8
// arg a: float4[8] = rand(-9, 9) + 0.5
// arg b: float4[8] = rand(-9, 9)
// arg out: float[128]
// expect out within 1e-5 if i % 16 == 0: sum(k, 0, 4, a[i / 16 * 4 + k] * b[i / 16 * 4 + k])
// expect out within 1e-5 if i % 16 == 1: sum(k, 0, 3, a[i / 16 * 4 + k] * b[i / 16 * 4 + k])
// expect out within 1e-5 if i % 16 == 2: sum(k, 0, 2, a[i / 16 * 4 + k] * b[i / 16 * 4 + k])
// expect out within 1e-5 if i % 16 == 3: sqrt(sum(k, 0, 4, a[i / 16 * 4 + k] * a[i / 16 * 4 + k]))
// expect out within 1e-5 if i % 16 == 4: sqrt(sum(k, 0, 3, (a[i / 16 * 4 + k] - b[i / 16 * 4 + k]) * (a[i / 16 * 4 + k] - b[i / 16 * 4 + k])))
// expect out within 1e-3 if i % 16 == 5: hypot(a[i / 16 * 4], a[i / 16 * 4 + 1])
// expect out within 1e-5 if i % 16 == 6: a[i / 16 * 4] * b[i / 16 * 4]
// expect out within 1e-5 if i % 16 == 7: abs(a[i / 16 * 4 + 1])
// expect out within 1e-5 if i % 16 == 8: a[i / 16 * 4 + 1] * b[i / 16 * 4 + 2] - a[i / 16 * 4 + 2] * b[i / 16 * 4 + 1]
// expect out within 1e-5 if i % 16 == 9: a[i / 16 * 4 + 2] * b[i / 16 * 4] - a[i / 16 * 4] * b[i / 16 * 4 + 2]
// expect out within 1e-5 if i % 16 == 10: a[i / 16 * 4] * b[i / 16 * 4 + 1] - a[i / 16 * 4 + 1] * b[i / 16 * 4]
// expect out if i % 16 == 11: 0
// expect out within 1e-5 if i % 16 >= 12: a[i / 16 * 4 + i % 4] / sqrt(sum(k, 0, 4, a[i / 16 * 4 + k] * a[i / 16 * 4 + k]))
