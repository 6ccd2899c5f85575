// Functions of GNU C and clang that sources written for other compilers call.
kernel void builtins(global uint *out, global const uint *in, global float *real)
{
    size_t i = get_global_id(0);
    uint x = in[i];
    global uint *o = out + 12 * i;
    o[0] = __builtin_popcount(x);
    o[1] = x ? __builtin_clz(x) : 32;
    o[2] = x ? __builtin_ctz(x) : 32;
    o[3] = __builtin_ffs(x);
    o[4] = __builtin_parity(x);
    o[5] = __builtin_bswap32(x);
    o[6] = __builtin_bswap16((ushort)x);
    o[7] = __builtin_popcountl((ulong)x << 16 | 1) + __builtin_clzl((ulong)x | 1ul << 40);
    o[8] = __builtin_expect(x > 5, 1) ? 1 : 2;
    o[9] = __builtin_abs((int)x);
    o[10] = __builtin_constant_p(3) * 10 + __builtin_constant_p(x);
    o[11] = (uint)__builtin_astype(1.0f, int);
    __builtin_assume(x != 77);
    __builtin_prefetch(in);
    if (x == 77)
        __builtin_unreachable();
    real[i] = __builtin_sqrtf(4.0f) + __builtin_fabsf(-1.0f) + (__builtin_isinf(__builtin_inff()) != 0) + (__builtin_isnan(__builtin_nanf("")) != 0);
}
// requires: int64
// run: builtins global=5
// arg out: uint[60]
// arg in: uint[5] = {0, 1, 0x12345678, 0x80000000, 6}
// arg real: float[5]
// expect out if i % 12 == 0: popcount(in[i / 12])
// expect out if i % 12 == 1: clz(in[i / 12], 32)
// expect out if i % 12 == 2: ctz(in[i / 12], 32)
// expect out if i % 12 == 3: in[i / 12] == 0 ? 0 : ctz(in[i / 12], 32) + 1
// expect out if i % 12 == 4: popcount(in[i / 12]) & 1
// expect out if i % 12 == 5: (in[i / 12] >> 24) | (in[i / 12] >> 8 & 0xff00) | (in[i / 12] << 8 & 0xff0000) | (in[i / 12] << 24 & 0xff000000)
// expect out if i % 12 == 6: (in[i / 12] >> 8 & 0xff) | (in[i / 12] << 8 & 0xff00)
// expect out if i % 12 == 7: popcount(in[i / 12]) + 1 + 23
// expect out if i % 12 == 8: in[i / 12] > 5 ? 1 : 2
// expect out if i % 12 == 9: in[i / 12]
// expect out if i % 12 == 10: 10
// expect out if i % 12 == 11: 0x3f800000
// expect real: 5
