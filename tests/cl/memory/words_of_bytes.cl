// Vectors of bytes in memory that are used as words: as_uint(vload4(0, bytes)), and stores of as_uchar4(word).

kernel void loads(global const uchar *in, global const ushort *shorts, local uchar *copy, global uint *out, global ulong *longs)
{
    uint id = get_global_id(0), n = get_local_id(0), start = 3 * id + (id & 4);
    copy[n] = in[id];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[4 * id] = as_uint(vload4(0, in + start));
    out[4 * id + 1] = as_uint(vload2(id, shorts));
    out[4 * id + 2] = as_uint(vload4(0, copy + (n * 5 & 27)));
    uint2 both = as_uint2(vload8(id, in));
    out[4 * id + 3] = both.y;
    longs[id] = as_ulong(vload8(0, in + start));
}
// run: loads global=32 local=32
// arg in: uchar[256] = i * 37 + 11
// arg shorts: ushort[256] = i + 16256
// arg copy: local 32
// arg out: uint[128]
// arg longs: ulong[32]
// expect out if i % 4 == 0: in[3 * (i / 4) + (i / 4 & 4)] + 256 * in[3 * (i / 4) + (i / 4 & 4) + 1] + 65536 * in[3 * (i / 4) + (i / 4 & 4) + 2] + 16777216 * in[3 * (i / 4) + (i / 4 & 4) + 3]
// expect out if i % 4 == 1: shorts[i / 2] + 65536 * shorts[i / 2 + 1]
// expect out if i % 4 == 2: in[(i / 4 * 5 & 27)] + 256 * in[(i / 4 * 5 & 27) + 1] + 65536 * in[(i / 4 * 5 & 27) + 2] + 16777216 * in[(i / 4 * 5 & 27) + 3]
// expect out if i % 4 == 3: in[i / 4 * 8 + 4] + 256 * in[i / 4 * 8 + 4 + 1] + 65536 * in[i / 4 * 8 + 4 + 2] + 16777216 * in[i / 4 * 8 + 4 + 3]
// expect longs: in[3 * i + (i & 4)] + 256 * in[3 * i + (i & 4) + 1] + 65536 * in[3 * i + (i & 4) + 2] + 16777216 * in[3 * i + (i & 4) + 3] + 4294967296 * in[3 * i + (i & 4) + 4] + 1099511627776 * in[3 * i + (i & 4) + 5] + 281474976710656 * in[3 * i + (i & 4) + 6] + 72057594037927936 * in[3 * i + (i & 4) + 7]

// Both the bytes and the word are used, and a volatile word.
kernel void both(global const uchar4 *in, volatile global uchar4 *again, global uint *out)
{
    uint id = get_global_id(0);
    uchar4 bytes = in[id ^ 5];
    out[id] = as_uint(bytes) + bytes.y - as_uint(again[id]);
}
// run: both global=32 local=16
// arg in: uchar4[32] = rand(0, 255)
// arg again: uchar4[32] = 1
// arg out: uint[32]
// expect out: in[(i ^ 5) * 4] + 257 * in[(i ^ 5) * 4 + 1] + 65536 * in[(i ^ 5) * 4 + 2] + 16777216 * in[(i ^ 5) * 4 + 3] - 16843009

kernel void stores(global const uint *in, global uchar *out, global uchar4 *aligned, local uchar *copy, global ushort *shorts)
{
    uint id = get_global_id(0), n = get_local_id(0);
    vstore4(as_uchar4(in[id]), id, out);
    aligned[id ^ 3] = as_uchar4(in[id]);
    vstore4(as_uchar4(in[id] + 1), (n * 5) & 15, copy);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id & 1) vstore2(as_ushort2(as_uint(vload4(n, copy))), id, shorts);
}
// run: stores global=16 local=16
// arg in: uint[16] = i * 305419897
// arg out: uchar[64]
// arg aligned: uchar4[16]
// arg copy: local 64
// arg shorts: ushort[32] = 7
// expect out: in[i / 4] >> i % 4 * 8
// expect aligned: in[(i / 4 ^ 3)] >> i % 4 * 8
// expect shorts: i / 2 % 2 == 0 ? 7 : in[i / 2 * 13 % 16] + 1 >> i % 2 * 16
