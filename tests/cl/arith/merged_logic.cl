// A value is merged with a bitwise function of it and of two others: by a selection, by branches, and in loops.

kernel void selected(global const float *a, global const float *b, global float *out, global uint *words)
{
    size_t i = get_global_id(0);
    uint x = as_uint(b[i]);
    float r = as_float((as_uint(a[i] + 1.0f) & 0x7fffffffu) | (x & 0x80000000u));
    out[4 * i] = (x & 0x7fffffffu) > 0x7f800000u ? b[i] : r;
    out[4 * i + 1] = isnan(b[i]) ? b[i] : copysign(a[i] + 1.0f, b[i]);
    out[4 * i + 2] = isnan(b[i]) ? b[i] : copysign(b[i], a[i]);
    float2 v = (float2)(b[i], a[i]);
    out[4 * i + 3] = (isnan(v) ? v : copysign(v.yx + 1.0f, v)).x;
    words[3 * i] = a[i] > 2 ? x : (x & 0xff) | (as_uint(a[i]) & 0xf00);
    words[3 * i + 1] = a[i] > 2 ? x : (x ^ as_uint(a[i])) & 0x7fffff;
    words[3 * i + 2] = a[i] > 2 ? ~x & as_uint(a[i]) | 3 : x;
}
// run: selected global=8
// arg a: float[8] = {1.5, -2, 3, 4, 1.5, -2, 3, 4}
// arg b: float[8] = {-1, 7, -8, 0.5, nan, -0.0, inf, -3}
// arg out: float[32]
// arg words: uint[24]
// expect out if i % 4 != 2: isnan(b[i / 4]) ? nan : signbit(b[i / 4]) ? 0 - abs(a[i / 4] + 1) : abs(a[i / 4] + 1)
// expect out if i % 4 == 2: isnan(b[i / 4]) ? nan : signbit(a[i / 4]) ? 0 - abs(b[i / 4]) : abs(b[i / 4])
// expect words if i % 3 == 0: a[i / 3] > 2 ? bits(b[i / 3]) : bits(b[i / 3]) & 0xff | bits(a[i / 3]) & 0xf00
// expect words if i % 3 == 1: a[i / 3] > 2 ? bits(b[i / 3]) : (bits(b[i / 3]) ^ bits(a[i / 3])) & 0x7fffff
// expect words if i % 3 == 2: a[i / 3] > 2 ? ~bits(b[i / 3]) & bits(a[i / 3]) | 3 : bits(b[i / 3])

kernel void branched(global const uint *a, global uint *state, int rounds)
{
    size_t i = get_global_id(0);
    uint h = state[i];
    for (int k = 0; k < rounds + (int)(i & 3); k++) {
        if (a[k] & 1 << (i & 7))
            h = (h & 0xffff0000u) | (a[k + 1] & 0xffffu);
        h = (h ^ a[k]) & 0xfffffff7u;
    }
    state[i] = h;
}
// run: branched global=16
// arg a: uint[6] = {1, 7, 0, 0x81, 2, 3}
// arg state: uint[16] = 0x12345678
// arg rounds: int = 1
// expect state: {0x12340006, 0x12340007, 0x12340007, 0x123456f7, 0x12345671, 0x12345676, 0x12345676, 0x12340083,
//                0x12340006, 0x12340007, 0x12340007, 0x123456f7, 0x12345671, 0x12345676, 0x12345676, 0x12340083}

// The value is merged with two functions of it, one of them in a nested merge, as in tanh.
kernel void nested(global const float *a, global const float *b, global float *out)
{
    size_t i = get_global_id(0);
    float x = b[i], r;
    if (fabs(x) <= 0.625f)
        r = copysign(fabs(x) + a[i], x);
    else
        r = isnan(x) ? x : copysign(1.0f - a[i] * fabs(x), x);
    out[i] = r;
}
// run: nested global=16
// arg a: float[16] = i % 4 + 1
// arg b: float[16] = {-1, 0.5, -8, 0.5, nan, -0.25, inf, -3, 0.125, -0.5, 2, nan, 0.625, -0.625, 0.75, -0.75}
// arg out: float[16]
// expect out if isnan(b): nan
// expect out if abs(b) <= 0.625: (signbit(b) ? 0 - 1 : 1) * (abs(b) + a)
// expect out if abs(b) > 0.625: (signbit(b) ? 0 - 1 : 1) * abs(1 - a * abs(b))
