// Rotations as programs write them: two shifts joined by |, + or ^, also of sums, products and other shifts.
// for: T = uint, ulong

#define W (sizeof(T) * 8)
#define ROT(x, n) (((x) << (n)) | ((x) >> (W - (n))))

kernel void written_out(global const T *a, global T *o)
{
    size_t i = get_global_id(0);
    T x = a[i];
    o[i] = ROT(x, 7) ^ ((x << 11) + (x >> (W - 11))) ^ ((x >> (W - 29)) ^ (x << 29)) ^ (x >> 5 | x << (W - 5));
}
// run: written_out global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg o: $T[64]
// expect o: (a << 7 | (a & max_of($T)) >> bits_of($T) - 7) ^ (a << 11 | (a & max_of($T)) >> bits_of($T) - 11) ^ (a << 29 | (a & max_of($T)) >> bits_of($T) - 29) ^ (a << bits_of($T) - 5 | a >> 5)

kernel void of_sums(global const T *a, global T *o)
{
    size_t i = get_global_id(0);
    T x = a[i] + 0x5bd1e995, y = a[i] * 0x9E3779B1, z = a[i] << 3, w = x + a[63 - i];
    o[i] = ROT(x, 13) + ROT(y, 15) + ROT(z, 9) + ROT(w, 21) + x;
}
// run: of_sums global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg o: $T[64]
// expect o: ((a + 0x5bd1e995) << 13 | ((a + 0x5bd1e995) & max_of($T)) >> bits_of($T) - 13) + ((a * 0x9E3779B1) << 15 | ((a * 0x9E3779B1) & max_of($T)) >> bits_of($T) - 15) + ((a << 3) << 9 | ((a << 3) & max_of($T)) >> bits_of($T) - 9) + ((a + 0x5bd1e995 + a[63 - i]) << 21 | ((a + 0x5bd1e995 + a[63 - i]) & max_of($T)) >> bits_of($T) - 21) + a + 0x5bd1e995

kernel void by_halves(global const T *a, global T *o)
{
    size_t i = get_global_id(0);
    o[i] = ROT(a[i], W / 2) + rotate(a[i], (T)(W / 2 + 1)) + rotate(rotate(a[i], (T)5), (T)(W - 5)) + rotate(rotate(a[i], (T)30), (T)20);
}
// run: by_halves global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg o: $T[64]
// expect o: (a << bits_of($T) / 2 | a >> bits_of($T) / 2) + (a << bits_of($T) / 2 + 1 | a >> bits_of($T) / 2 - 1) + a + (a << 50 % bits_of($T) | a >> bits_of($T) - 50 % bits_of($T))

// Rotations by whole bytes are shuffles.
kernel void by_bytes(global const T *a, global T *o)
{
    size_t i = get_global_id(0);
    T x = a[i];
    o[i] = ROT(x, 8) ^ ROT(x, 16) * 3 ^ ROT(x, W - 8) * 5 ^ ROT(x, W - 16) * 7 ^ ROT(x, W / 2) * 9 ^ ROT(x, W / 2 + 8) * 11 ^ ROT(x, W / 2 - 8) * 13;
}
// run: by_bytes global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg o: $T[64]
// expect o: ((a << 8 | (a & max_of($T)) >> bits_of($T) - (8)) & max_of($T)) * 1 ^ ((a << 16 | (a & max_of($T)) >> bits_of($T) - (16)) & max_of($T)) * 3 ^ ((a << bits_of($T) - 8 | (a & max_of($T)) >> bits_of($T) - (bits_of($T) - 8)) & max_of($T)) * 5 ^ ((a << bits_of($T) - 16 | (a & max_of($T)) >> bits_of($T) - (bits_of($T) - 16)) & max_of($T)) * 7 ^ ((a << bits_of($T) / 2 | (a & max_of($T)) >> bits_of($T) - (bits_of($T) / 2)) & max_of($T)) * 9 ^ ((a << (bits_of($T) / 2 + 8) | (a & max_of($T)) >> bits_of($T) - ((bits_of($T) / 2 + 8))) & max_of($T)) * 11 ^ ((a << (bits_of($T) / 2 - 8) | (a & max_of($T)) >> bits_of($T) - ((bits_of($T) / 2 - 8))) & max_of($T)) * 13

kernel void by_amounts(global const T *a, global const uint *n, global T *o)
{
    size_t i = get_global_id(0);
    T x = a[i];
    uint m = n[i];
    // By 0 a sum is twice the number, and a difference is 0.
    o[i] = (x << m | x >> (W - m)) ^ (x >> m | x << (-m & (W - 1))) * 3 ^ ((x << m) + (x >> (W - m))) * 5 ^ ((x << m) ^ (x >> (W - m))) * 7;
}
// run: by_amounts global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg n: uint[64] = i % bits_of($T)
// arg o: $T[64]
// expect o: (a << n | a >> bits_of($T) - n) ^ (((a >> n | a << bits_of($T) - n) & max_of($T)) * 3) ^ ((n == 0 ? a + a : (a << n | a >> bits_of($T) - n) & max_of($T)) * 5) ^ ((n == 0 ? 0 : (a << n | a >> bits_of($T) - n) & max_of($T)) * 7)

kernel void no_rotations(global const T *a, global T *o)
{
    size_t i = get_global_id(0);
    T x = a[i], y = a[63 - i];
    o[i] = (x << 7 | y >> (W - 7)) + (x << 7 | x >> (W - 6)) + ((x + 1) << 9 | x >> (W - 9)) + (x << 7 & x >> (W - 7));
}
// run: no_rotations global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg o: $T[64]
// expect o: (a << 7 | a[63 - i] >> bits_of($T) - 7) + (a << 7 | a >> bits_of($T) - 6) + (a + 1 << 9 | a >> bits_of($T) - 9) + (a << 7 & a >> bits_of($T) - 7)
