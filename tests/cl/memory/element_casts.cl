// Buffers of one type seen through pointers of another size.

kernel void bytes_of_words(global uint *a, global uint *out)
{
    int i = get_global_id(0);
    global uchar *b = (global uchar *)a;
    out[i] = b[i];
    global ushort *s = (global ushort *)(a + 4);
    s[i] = (ushort)(i * 1000 + 1);
}
// run: bytes_of_words global=8
// arg a: uint[8] = 0x03020100 + i * 0x04040404
// arg out: uint[8]
// expect a if i >= 4: ((i - 4) * 2 * 1000 + 1) + ((i - 4) * 2 * 1000 + 1001) * 65536
// expect out: i

kernel void words_of_bytes(global uchar *a, global uint *out, global float *f)
{
    int i = get_global_id(0);
    out[i] = ((global uint *)a)[i];
    f[i] = *(global float *)(a + 4 * i);
}
// run: words_of_bytes global=4
// arg a: uchar[16] = {0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc1, 1, 2, 3, 4, 0, 0, 0, 0}
// arg out: uint[4]
// arg f: float[4]
// expect out: {0x3f800000, 0xc1200000, 0x04030201, 0}
// expect f: {1, -10, float_of(0x04030201), 0}

kernel void vectors(global float *a, global float4 *out, global int *bits)
{
    int i = get_global_id(0);
    out[i] = ((global float4 *)a)[i] * 2.0f;
    bits[i] = ((global int2 *)a)[i].y;
}
// run: vectors global=4
// arg a: float[16] = i
// arg out: float4[4]
// arg bits: int[4]
// expect out: 2 * i
// expect bits: bits(2 * i + 1)

kernel void private_view(global uint *out)
{
    int i = get_global_id(0);
    uint x = 0x01020304 * (i + 1);
    uchar *b = (uchar *)&x;
    uint s = b[0] + 10 * b[3];
    b[1] = 0xff;
    out[2 * i] = s;
    out[2 * i + 1] = x;
}
// run: private_view global=4
// arg out: uint[8]
// expect out if i % 2 == 0: (i / 2 + 1) * 14
// expect out if i % 2 == 1: (0x01020304 * (i / 2 + 1) & 0xffff00ff) | 0xff00
