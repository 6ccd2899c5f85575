// vload_half and vstore_half: conversion between half in memory and float, all roundings; no fp16 needed.

kernel void load(global const half *h, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = vload_half(i, h);
}
// run: load global=16
// arg h: ushort[16] = {0, 0x8000, 0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x0400, 0x7c00, 0xfc00, 0x7e00, 0x3555, 0x5640, 0xb266, 0x1234, 0x8001}
// arg out: float[16]
// expect out: half_of(h)

kernel void vectors(global const half *h, global float *two, global float *four, global float *three)
{
    size_t i = get_global_id(0);
    vstore2(vload_half2(i, h), i, two);
    vstore4(vload_half4(i, h), i, four);
    vstore3(vload_half3(i, h), i, three);
}
// run: vectors global=4
// arg h: half[16] = i * 0.5 - 3
// arg two: float[8]
// arg four: float[16]
// arg three: float[12]
// expect two: h
// expect four: h
// expect three: h

kernel void store(global const float *a, global half *plain, global half *rtz, global half *rtp, global half *rtn)
{
    size_t i = get_global_id(0);
    vstore_half(a[i], i, plain);
    vstore_half_rtz(a[i], i, rtz);
    vstore_half_rtp(a[i], i, rtp);
    vstore_half_rtn(a[i], i, rtn);
}
// run: store global=16
// arg a: float[16] = {0, 1, -2.5, 1.0002, 2049, 2051, 70000, -70000, 0.00006, 1e-7, 65519, 3.14159, -3.14159, inf, 0.1, 1e-9}
// arg plain: half[16]
// arg rtz: half[16]
// arg rtp: half[16]
// arg rtn: half[16]
// expect plain: a
// expect rtz if abs(a) < 65504: _
// expect rtz if !(abs(a) < 65504): {_, _, _, _, _, _, 65504, -65504, _, _, 65504, _, _, inf, _, _}
// expect rtp: {0, 1, -2.5, 1.0009765625, 2050, 2052, inf, -65504, _, _, inf, 3.142578125, -3.140625, inf, _, 5.960464477539063e-8}
// expect rtn: {0, 1, -2.5, 1, 2048, 2050, 65504, -inf, _, _, 65504, 3.140625, -3.142578125, inf, _, 0}

kernel void store_vectors(global const float4 *a, global half *out, global half *three)
{
    size_t i = get_global_id(0);
    vstore_half4(a[i], i, out);
    vstore_half3(a[i].xyz, i, three + 1);
}
// run: store_vectors global=4
// arg a: float4[4] = i * 0.25 - 1
// arg out: half[16]
// arg three: half[13]
// expect out: a
// expect three if i > 0: a[(i - 1) / 3 * 4 + (i - 1) % 3]
