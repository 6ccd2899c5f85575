// The integer functions on every integer type.
// for: T = char, uchar, short, ushort, int, uint, long, ulong

kernel void pairs(global const T *a, global const T *b, global T *out)
{
    size_t i = get_global_id(0);
    T x = a[i], y = b[i];
    global T *o = out + 8 * i;
    o[0] = add_sat(x, y);
    o[1] = sub_sat(x, y);
    o[2] = hadd(x, y);
    o[3] = rhadd(x, y);
    o[4] = min(x, y);
    o[5] = max(x, y);
    o[6] = mul_hi(x, y);
    o[7] = rotate(x, y);
}
// run: pairs global=32
// arg a: $T[32] = rand(min_of($T), max_of($T))
// arg b: $T[32] = rand(min_of($T), max_of($T))
// arg out: $T[256]
// expect out if i % 8 == 0: sat($T, a[i / 8] + b[i / 8])
// expect out if i % 8 == 1: sat($T, a[i / 8] - b[i / 8])
// expect out if i % 8 == 2: (a[i / 8] + b[i / 8]) >> 1
// expect out if i % 8 == 3: (a[i / 8] + b[i / 8] + 1) >> 1
// expect out if i % 8 == 4: min(a[i / 8], b[i / 8])
// expect out if i % 8 == 5: max(a[i / 8], b[i / 8])
// expect out if i % 8 == 6: (a[i / 8] * b[i / 8]) >> bits_of($T)
// expect out if i % 8 == 7: (((a[i / 8] & ((1 << bits_of($T)) - 1)) << (b[i / 8] & (bits_of($T) - 1))) | ((a[i / 8] & ((1 << bits_of($T)) - 1)) >> (bits_of($T) - (b[i / 8] & (bits_of($T) - 1)))))

kernel void singles(global const T *a, global T *out)
{
    size_t i = get_global_id(0);
    T x = a[i];
    global T *o = out + 5 * i;
    o[0] = (T)abs(x);
    o[1] = clz(x);
    o[2] = popcount(x);
    o[3] = (T)abs_diff(x, (T)1);
    o[4] = clamp(x, (T)10, (T)100);
}
// run: singles global=32
// arg a: $T[32] = {0, 1, -1, min_of($T), max_of($T), 64, 3, 100, rand(min_of($T), max_of($T)), rand(min_of($T), max_of($T))}
// arg out: $T[160]
// expect out if i % 5 == 0: abs(a[i / 5])
// expect out if i % 5 == 1: clz(a[i / 5] & ((1 << bits_of($T)) - 1), bits_of($T))
// expect out if i % 5 == 2: popcount(a[i / 5] & ((1 << bits_of($T)) - 1))
// expect out if i % 5 == 3: abs(a[i / 5] - 1)
// expect out if i % 5 == 4: clamp(a[i / 5], 10, 100)
