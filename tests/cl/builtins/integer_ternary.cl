// mad_hi, mad_sat, mad24, mul24, upsample, and the integer functions on vectors.

kernel void ternary(global const int *a, global const int *b, global const int *c, global int *out)
{
    size_t i = get_global_id(0);
    global int *o = out + 6 * i;
    o[0] = mad_hi(a[i], b[i], c[i]);
    o[1] = mad_sat(a[i], b[i], c[i]);
    o[2] = mul24(a[i] >> 8, b[i] >> 8);
    o[3] = mad24(a[i] >> 8, b[i] >> 8, c[i]);
    o[4] = upsample((short)a[i], (ushort)b[i]);
    o[5] = upsample((char)a[i], (uchar)b[i]);
}
// run: ternary global=32
// arg a: int[32] = rand(INT_MIN, INT_MAX)
// arg b: int[32] = rand(INT_MIN, INT_MAX)
// arg c: int[32] = rand(INT_MIN, INT_MAX)
// arg out: int[192]
// expect out if i % 6 == 0: ((a[i / 6] * b[i / 6]) >> 32) + c[i / 6]
// expect out if i % 6 == 1: sat(int, a[i / 6] * b[i / 6] + c[i / 6])
// expect out if i % 6 == 2: (a[i / 6] >> 8) * (b[i / 6] >> 8)
// expect out if i % 6 == 3: (a[i / 6] >> 8) * (b[i / 6] >> 8) + c[i / 6]
// expect out if i % 6 == 4: short(a[i / 6]) * 65536 + ushort(b[i / 6])
// expect out if i % 6 == 5: char(a[i / 6]) * 256 + uchar(b[i / 6])

kernel void vectors(global const uchar4 *a, global const uchar4 *b, global uchar4 *out, global ushort4 *up)
{
    size_t i = get_global_id(0);
    out[3 * i] = add_sat(a[i], b[i]);
    out[3 * i + 1] = abs_diff(a[i], b[i]);
    out[3 * i + 2] = clamp(a[i], (uchar)50, (uchar)60);
    up[i] = upsample(a[i], b[i]);
}
// run: vectors global=8
// arg a: uchar4[8] = rand(0, 255)
// arg b: uchar4[8] = rand(0, 255)
// arg out: uchar4[24]
// arg up: ushort4[8]
// expect out if i / 4 % 3 == 0: sat(uchar, a[i / 12 * 4 + i % 4] + b[i / 12 * 4 + i % 4])
// expect out if i / 4 % 3 == 1: abs(a[i / 12 * 4 + i % 4] - b[i / 12 * 4 + i % 4])
// expect out if i / 4 % 3 == 2: clamp(a[i / 12 * 4 + i % 4], 50, 60)
// expect up: a * 256 + b
