// Float to integer: rounds towards zero, or as the suffix says; saturation handles infinities and NaN.

kernel void rounding(global const float *a, global int *plain, global int *rte, global int *rtz, global int *rtp, global int *rtn)
{
    size_t i = get_global_id(0);
    plain[i] = convert_int(a[i]);
    rte[i] = convert_int_rte(a[i]);
    rtz[i] = convert_int_rtz(a[i]);
    rtp[i] = convert_int_rtp(a[i]);
    rtn[i] = convert_int_rtn(a[i]);
}
// run: rounding global=16
// arg a: float[16] = {0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49, 0.51, -0.51, 3.99, -3.99, 8388607.5, 16777216, -7, 100.25}
// arg plain: int[16]
// arg rte: int[16]
// arg rtz: int[16]
// arg rtp: int[16]
// arg rtn: int[16]
// expect plain: trunc(a)
// expect rte: rint(a)
// expect rtz: trunc(a)
// expect rtp: ceil(a)
// expect rtn: floor(a)

kernel void saturate(global const float *a, global uchar *u8, global short *i16, global int *i32, global uint *u32)
{
    size_t i = get_global_id(0);
    u8[i] = convert_uchar_sat_rte(a[i]);
    i16[i] = convert_short_sat(a[i]);
    i32[i] = convert_int_sat(a[i]);
    u32[i] = convert_uint_sat(a[i]);
}
// run: saturate global=8
// arg a: float[8] = {1e20, -1e20, inf, -inf, nan, 254.5, 255.5, -0.75}
// arg u8: uchar[8]
// arg i16: short[8]
// arg i32: int[8]
// arg u32: uint[8]
// expect u8: {255, 0, 255, 0, 0, 254, 255, 0}
// expect i16: {32767, -32768, 32767, -32768, 0, 254, 255, 0}
// expect i32: {INT_MAX, INT_MIN, INT_MAX, INT_MIN, 0, 254, 255, 0}
// expect u32: {UINT_MAX, 0, UINT_MAX, 0, 0, 254, 255, 0}

kernel void to_float(global const int *a, global const uint *b, global float *fa, global float *fb, global float *up, global float *down)
{
    size_t i = get_global_id(0);
    fa[i] = a[i];
    fb[i] = convert_float(b[i]);
    up[i] = convert_float_rtp(a[i]);
    down[i] = convert_float_rtn(a[i]);
}
// run: to_float global=8
// arg a: int[8] = {0, -1, 16777217, 2147483647, -2147483648, 16777219, 33554435, 5}
// arg b: uint[8] = {0, 1, 16777217, 4294967295, 2147483648, 4294967040, 3000000001, 5}
// arg fa: float[8]
// arg fb: float[8]
// arg up: float[8]
// arg down: float[8]
// expect fa: a
// expect fb: b
// expect up: {0, -1, 16777218, 2147483648, -2147483648, 16777220, 33554436, 5}
// expect down: {0, -1, 16777216, 2147483520, -2147483648, 16777218, 33554432, 5}
