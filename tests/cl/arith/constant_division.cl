// Division and remainder by constants, positive and negative.

kernel void signed_by(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i];
    global int *o = out + i * 12;
    o[0] = x / 3;   o[1] = x % 3;
    o[2] = x / -7;  o[3] = x % -7;
    o[4] = x / 16;  o[5] = x % 16;
    o[6] = x / -1;  o[7] = x % -1;
    o[8] = x / 1000003; o[9] = x % 1000003;
    o[10] = x / 0x7fffffff; o[11] = x % -0x7fffffff;
}
// run: signed_by global=8
// arg a: int[8] = {0, 1, -1, 100, -100, 2147483647, -2147483647, 123456789}
// arg out: int[96]
// expect out if i % 12 == 0: a[i / 12] / 3
// expect out if i % 12 == 1: a[i / 12] % 3
// expect out if i % 12 == 2: a[i / 12] / -7
// expect out if i % 12 == 3: a[i / 12] % -7
// expect out if i % 12 == 4: a[i / 12] / 16
// expect out if i % 12 == 5: a[i / 12] % 16
// expect out if i % 12 == 6: -a[i / 12]
// expect out if i % 12 == 7: 0
// expect out if i % 12 == 8: a[i / 12] / 1000003
// expect out if i % 12 == 9: a[i / 12] % 1000003
// expect out if i % 12 == 10: a[i / 12] / 0x7fffffff
// expect out if i % 12 == 11: a[i / 12] % 0x7fffffff

kernel void unsigned_by(global const uint *a, global uint *out)
{
    size_t i = get_global_id(0);
    uint x = a[i];
    global uint *o = out + i * 6;
    o[0] = x / 3u;  o[1] = x % 3u;
    o[2] = x / 10u; o[3] = x % 10u;
    o[4] = x / 0x80000001u; o[5] = x % 0x80000001u;
}
// run: unsigned_by global=8
// arg a: uint[8] = {0, 1, 9, 10, 4294967295, 2147483648, 2147483649, 1000000007}
// arg out: uint[48]
// expect out if i % 6 == 0: a[i / 6] / 3
// expect out if i % 6 == 1: a[i / 6] % 3
// expect out if i % 6 == 2: a[i / 6] / 10
// expect out if i % 6 == 3: a[i / 6] % 10
// expect out if i % 6 == 4: a[i / 6] / 0x80000001
// expect out if i % 6 == 5: a[i / 6] % 0x80000001

// 64 bits: multipliers of 64 and 65 bits, factors of 2, remainders of 32 bits.
kernel void long_by(global const ulong *a, global ulong *out)
{
    size_t i = get_global_id(0);
    ulong x = a[i];
    global ulong *o = out + i * 20;
    o[0] = x / 3UL; o[1] = x % 3UL;
    o[2] = x / 7UL; o[3] = x % 7UL;
    o[4] = x / 10UL; o[5] = x % 10UL;
    o[6] = x / 28UL; o[7] = x % 28UL;
    o[8] = x / 641UL; o[9] = x % 641UL;
    o[10] = x / 1000000007UL; o[11] = x % 1000000007UL;
    o[12] = x / 0x7fffffffUL; o[13] = x % 0x7fffffffUL;
    o[14] = x / 0x80000001UL; o[15] = x % 0x80000001UL;
    o[16] = x / 1000000000000000003UL; o[17] = x % 1000000000000000003UL;
    o[18] = x / 0xfffffffffffffffeUL; o[19] = x % 0xfffffffffffffffeUL;
}
// run: long_by global=16
// arg a: ulong[16] = {0, 2, 3, 1000000006, 1000000007, 18446744073709551615, 18446744073709551614, 18446744065119617029, 9223372036854775807, 9223372036854775808, 4294967296, 4294967295, 18000000126, 2000000000000000005, 12345678901234567890, 6442450944}
// arg out: ulong[320]
// expect out if i % 20 == 0: a[i / 20] / 3
// expect out if i % 20 == 1: a[i / 20] % 3
// expect out if i % 20 == 2: a[i / 20] / 7
// expect out if i % 20 == 3: a[i / 20] % 7
// expect out if i % 20 == 4: a[i / 20] / 10
// expect out if i % 20 == 5: a[i / 20] % 10
// expect out if i % 20 == 6: a[i / 20] / 28
// expect out if i % 20 == 7: a[i / 20] % 28
// expect out if i % 20 == 8: a[i / 20] / 641
// expect out if i % 20 == 9: a[i / 20] % 641
// expect out if i % 20 == 10: a[i / 20] / 1000000007
// expect out if i % 20 == 11: a[i / 20] % 1000000007
// expect out if i % 20 == 12: a[i / 20] / 0x7fffffff
// expect out if i % 20 == 13: a[i / 20] % 0x7fffffff
// expect out if i % 20 == 14: a[i / 20] / 0x80000001
// expect out if i % 20 == 15: a[i / 20] % 0x80000001
// expect out if i % 20 == 16: a[i / 20] / 1000000000000000003
// expect out if i % 20 == 17: a[i / 20] % 1000000000000000003
// expect out if i % 20 == 18: a[i / 20] / 0xfffffffffffffffe
// expect out if i % 20 == 19: a[i / 20] % 0xfffffffffffffffe

// Remainders of many numbers, computed from the quotient as well.
kernel void random_by(global const ulong *a, global ulong *out)
{
    size_t i = get_global_id(0);
    ulong x = a[i] * 0x9E3779B97F4A7C15UL, wrong = 0;
#define CHECK(d) wrong += x / d * d + x % d != x || x % d >= d
    for (int iteration = 0; iteration < 100; iteration++) {
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        CHECK(3UL); CHECK(4294967295UL); CHECK(5UL); CHECK(6UL); CHECK(11UL); CHECK(100UL); CHECK(1000UL); CHECK(65537UL); CHECK(1000000007UL); CHECK(2147483647UL);
    }
    out[i] = wrong;
}
// run: random_by global=64
// arg a: ulong[64] = i + 1
// arg out: ulong[64]
// expect out: 0
