// Compound assignment computes in the promoted type and converts back; ++ and -- give the old or the new value.
// for: T = char, uchar, short, ushort, int, uint, long, ulong

kernel void compound(global const T *a, global T *out)
{
    size_t i = get_global_id(0);
    T x = a[i];
    global T *o = out + i * 12;
    x += 3;    o[0] = x;
    x -= 7;    o[1] = x;
    x *= 5;    o[2] = x;
    x = a[i]; x /= 3;  o[3] = x;
    x = a[i]; x %= 10; o[4] = x;
    x = a[i]; x <<= 2; o[5] = x;
    x = a[i]; x >>= 1; o[6] = x;
    x = a[i]; x &= 0x55; o[7] = x;
    x |= 0x0a; o[8] = x;
    x ^= 0x3c; o[9] = x;
    x = a[i]; T old = x++; o[10] = old ^ x;
    o[11] = x-- - --x;
}
// run: compound global=8
// arg a: $T[8] = rand(min_of($T), max_of($T))
// arg out: $T[96]
// expect out if i % 12 == 0: a[i / 12] + 3
// expect out if i % 12 == 1: a[i / 12] - 4
// expect out if i % 12 == 2: (a[i / 12] - 4) * 5
// expect out if i % 12 == 3: a[i / 12] / 3
// expect out if i % 12 == 4: a[i / 12] % 10
// expect out if i % 12 == 5: a[i / 12] << 2
// expect out if i % 12 == 6: a[i / 12] >> 1
// expect out if i % 12 == 7: a[i / 12] & 0x55
// expect out if i % 12 == 8: (a[i / 12] & 0x55) | 0x0a
// expect out if i % 12 == 9: ((a[i / 12] & 0x55) | 0x0a) ^ 0x3c
// expect out if i % 12 == 10: a[i / 12] ^ (a[i / 12] + 1)
// expect out if i % 12 == 11: _
