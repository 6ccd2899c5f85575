// Every member of a union is the same memory; casts read objects as other types.
typedef union {
    uint word;
    int number;
    float real;
    uchar bytes[4];
    ushort halves[2];
    uchar4 vector;
    struct { uchar low, second; ushort high; };
    struct { uint all; } whole;
} any;

kernel void punning(global uint *out, global const uint *in)
{
    size_t i = get_global_id(0);
    any a;
    a.word = in[i];
    any b = {.real = 2.0f};
    any c = {0x12345678};
    any list[2] = {a, {.bytes = {1, 2, 3, 4}}};
    global uint *o = out + 10 * i;
    o[0] = a.bytes[0] | a.bytes[1] << 8 | a.bytes[2] << 16 | (uint)a.bytes[3] << 24;
    o[1] = a.halves[0] + ((uint)a.halves[1] << 16);
    o[2] = as_uint(a.real);
    o[3] = as_uint(a.vector.wzyx);
    o[4] = a.low | a.second << 8 | (uint)a.high << 16;
    o[5] = b.word;
    a.bytes[1] = 0xab;
    o[6] = a.whole.all;
    c.halves[1] = 0xffff;
    o[7] = c.number;
    o[8] = list[1].word + list[0].number;
    uint copy = in[i];
    uchar *p = (uchar *)&copy;
    p[2] ^= 0xff;
    *(ushort *)p += 1;
    o[9] = copy;
}
// run: punning global=4
// arg out: uint[40]
// arg in: uint[4] = {0x12345678, 0x3f800000, 0xffffffff, 0x80000001}
// expect out if i % 10 < 3: in[i / 10]
// expect out if i % 10 == 3: (in[i / 10] >> 24) | (in[i / 10] >> 8 & 0xff00) | (in[i / 10] << 8 & 0xff0000) | (in[i / 10] << 24 & 0xff000000)
// expect out if i % 10 == 4: in[i / 10]
// expect out if i % 10 == 5: 0x40000000
// expect out if i % 10 == 6: (in[i / 10] & 0xffff00ff) | 0xab00
// expect out if i % 10 == 7: 0xffff5678
// expect out if i % 10 == 8: 0x04030201 + in[i / 10]
// expect out if i % 10 == 9: ((in[i / 10] ^ 0xff0000) & 0xffff0000) | ((in[i / 10] + 1) & 0xffff)
