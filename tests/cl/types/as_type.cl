// as_type keeps the bits, also between vectors of different element sizes.

kernel void scalars(global const float *f, global const uint *u, global uint *bits, global float *back, global int *sign)
{
    size_t i = get_global_id(0);
    bits[i] = as_uint(f[i]);
    back[i] = as_float(u[i]);
    sign[i] = as_int(f[i]) < 0;
}
// run: scalars global=8
// arg f: float[8] = {0, -0.0, 1, -2.5, 1e30, 1e-30, inf, 3.14159}
// arg u: uint[8] = {0, 0x3f800000, 0xc0000000, 0x7f800000, 0x00800000, 0x42f6e979, 0x4b000000, 0xff800000}
// arg bits: uint[8]
// arg back: float[8]
// arg sign: int[8]
// expect bits: bits(f)
// expect back: float_of(u)
// expect sign: signbit(f)

kernel void vectors(global const uint4 *a, global uchar16 *bytes, global ushort8 *shorts, global uint2 *halves, global char4 *lane)
{
    size_t i = get_global_id(0);
    bytes[i] = as_uchar16(a[i]);
    shorts[i] = as_ushort8(a[i]);
    halves[i] = as_uint2(as_uchar8(a[i].yz));
    lane[i] = as_char4(a[i].w);
}
// run: vectors global=2
// arg a: uint4[2] = rand(0, UINT_MAX)
// arg bytes: uchar16[2]
// arg shorts: ushort8[2]
// arg halves: uint2[2]
// arg lane: char4[2]
// expect bytes: a[i / 4] >> (i % 4 * 8)
// expect shorts: a[i / 2] >> (i % 2 * 16)
// expect halves: a[i / 2 * 4 + 1 + i % 2]
// expect lane: a[i / 4 * 4 + 3] >> (i % 4 * 8)

kernel void three(global const float *f, global uint *out)
{
    // A vector of three occupies four: as_ between them is allowed.
    float4 x = vload4(0, f);
    uint3 y = as_uint3(x);
    vstore3(y, 0, out);
}
// run: three global=1
// arg f: float[4] = {1, 2, 3, 4}
// arg out: uint[3]
// expect out: bits(f)
