// Relational functions: 0 or 1 for scalars, 0 or -1 for vectors; any, all, select, bitselect.

kernel void scalars(global const float *a, global const float *b, global int *out)
{
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    global int *o = out + 12 * i;
    o[0] = isnan(x); o[1] = isinf(x); o[2] = isfinite(x); o[3] = isnormal(x); o[4] = signbit(x);
    o[5] = isequal(x, y); o[6] = isnotequal(x, y); o[7] = isless(x, y); o[8] = isgreaterequal(x, y);
    o[9] = islessgreater(x, y); o[10] = isordered(x, y); o[11] = isunordered(x, y);
}
// run: scalars global=8
// arg a: float[8] = {0, 1, -1, nan, inf, -inf, -0.0, 2}
// arg b: float[8] = {0, 2, -2, 1, inf, 1, 0, nan}
// arg out: int[96]
// expect out if i % 12 == 0: isnan(a[i / 12])
// expect out if i % 12 == 1: isinf(a[i / 12])
// expect out if i % 12 == 2: !isnan(a[i / 12]) && !isinf(a[i / 12])
// expect out if i % 12 == 3: !isnan(a[i / 12]) && !isinf(a[i / 12]) && a[i / 12] != 0
// expect out if i % 12 == 4: i / 12 == 3 ? _ : signbit(a[i / 12])
// expect out if i % 12 == 5: a[i / 12] == b[i / 12]
// expect out if i % 12 == 6: a[i / 12] != b[i / 12]
// expect out if i % 12 == 7: a[i / 12] < b[i / 12]
// expect out if i % 12 == 8: a[i / 12] >= b[i / 12]
// expect out if i % 12 == 9: a[i / 12] < b[i / 12] || a[i / 12] > b[i / 12]
// expect out if i % 12 == 10: !isnan(a[i / 12]) && !isnan(b[i / 12])
// expect out if i % 12 == 11: isnan(a[i / 12]) || isnan(b[i / 12])

kernel void vectors(global const float4 *a, global const float4 *b, global int4 *out, global int *flags)
{
    size_t i = get_global_id(0);
    out[3 * i] = isnan(a[i]);
    out[3 * i + 1] = isless(a[i], b[i]);
    out[3 * i + 2] = isequal(a[i], b[i]);
    flags[4 * i] = any(a[i] < b[i]);
    flags[4 * i + 1] = all(a[i] < b[i]);
    flags[4 * i + 2] = any(isnan(a[i]));
    flags[4 * i + 3] = any(-1 - (int)i) + 2 * all(1);
}
// run: vectors global=2
// arg a: float4[2] = {1, nan, 3, 4, 0, 0, 0, 0}
// arg b: float4[2] = {2, 2, 3, 3, 1, 2, 3, 4}
// arg out: int4[6]
// arg flags: int[8]
// expect out if i / 4 % 3 == 0: -isnan(a[i / 12 * 4 + i % 4])
// expect out if i / 4 % 3 == 1: -(a[i / 12 * 4 + i % 4] < b[i / 12 * 4 + i % 4])
// expect out if i / 4 % 3 == 2: -(a[i / 12 * 4 + i % 4] == b[i / 12 * 4 + i % 4])
// expect flags: {1, 0, 1, 1, 1, 1, 0, 1}

kernel void choices(global const int *c, global int *out, global float4 *f, global uint *bits)
{
    int i = get_global_id(0);
    out[i] = select(10, 20, c[i]);
    f[i] = select((float4)(1.0f), (float4)(2.0f), (int4)(c[i], 0, -1, 1));
    bits[i] = bitselect(0x00ff00ffu, 0x12345678u, 0x0000ffffu << i);
}
// run: choices global=4
// arg c: int[4] = {0, 1, -1, -2147483648}
// arg out: int[4]
// arg f: float4[4]
// arg bits: uint[4]
// expect out: c ? 20 : 10
// expect f: {c[i / 4] < 0 ? 2 : 1, 1, 2, 1}
// expect bits: (0x00ff00ff & ~(0xffff << i)) | (0x12345678 & (0xffff << i))
