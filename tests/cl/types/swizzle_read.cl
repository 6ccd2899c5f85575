// Component access for reading: .xyzw, .sN, .lo, .hi, .even, .odd, repeated and reordered.

kernel void four(global const int4 *a, global int *out)
{
    int4 v = a[0];
    out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = v.w;
    out[4] = v.s0; out[5] = v.S3;
    vstore2(v.xy, 3, out);
    vstore2(v.lo, 4, out);
    vstore2(v.hi, 5, out);
    vstore2(v.even, 6, out);
    vstore2(v.odd, 7, out);
    vstore4(v.wzyx, 4, out);
    vstore4(v.xxyy, 5, out);
    vstore4(v.s3210, 6, out);
    vstore2(v.wzyx.lo, 14, out);
    out[30] = v.hi.lo;
    out[31] = v.zyx.even.y;
}
// run: four global=1
// arg a: int4[1] = {10, 11, 12, 13}
// arg out: int[32]
// expect out: {10, 11, 12, 13, 10, 13, 10, 11, 10, 11, 12, 13, 10, 12, 11, 13,
//              13, 12, 11, 10, 10, 10, 11, 11, 13, 12, 11, 10, 13, 12, 12, 10}

kernel void sixteen(global const int *a, global int *out)
{
    int16 v = vload16(0, a);
    out[0] = v.sa; out[1] = v.sF; out[2] = v.s7;
    vstore8(v.lo, 1, out);
    vstore8(v.hi, 2, out);
    vstore8(v.even, 3, out);
    vstore8(v.odd, 4, out);
    vstore4(v.sfedc, 10, out);
    vstore4(v.hi.lo, 11, out);
    vstore2(v.odd.hi.even, 24, out);
    vstore16(v.sfedcba9876543210, 4, out);
}
// run: sixteen global=1
// arg a: int[16] = 100 + i
// arg out: int[80]
// expect out if i < 3: {110, 115, 107}
// expect out if i >= 8 && i < 16: 100 + i - 8
// expect out if i >= 16 && i < 24: 108 + i - 16
// expect out if i >= 24 && i < 32: 100 + (i - 24) * 2
// expect out if i >= 32 && i < 40: 101 + (i - 32) * 2
// expect out if i >= 40 && i < 44: 115 - (i - 40)
// expect out if i >= 44 && i < 48: 108 + i - 44
// expect out if i == 48: 109
// expect out if i == 49: 113
// expect out if i >= 64: 115 - (i - 64)

kernel void three(global const float *a, global float *out)
{
    float3 v = vload3(0, a);
    out[0] = v.z;
    vstore2(v.zx, 1, out);
    vstore2(v.lo, 2, out);
    out[6] = v.hi.x;
    vstore3(v.zyx, 3, out);
}
// run: three global=1
// arg a: float[3] = {1, 2, 3}
// arg out: float[12]
// expect out if i == 0: 3
// expect out if i == 2 || i == 3: {_, _, 3, 1}
// expect out if i == 4 || i == 5: i - 3
// expect out if i == 6: 3
// expect out if i >= 9: 12 - i
