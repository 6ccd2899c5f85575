// 64-bit arithmetic: carries, products of halves, quotients and remainders of large numbers, comparisons across halves.
// requires: int64

kernel void longs(global const long *a, global const long *b, global long *out)
{
    size_t i = get_global_id(0);
    long x = a[i], y = b[i];
    global long *o = out + i * 8;
    o[0] = x * y;
    o[1] = x / y;
    o[2] = x % y;
    o[3] = (x << 33) + (y >> 7);
    o[4] = x < y;
    o[5] = (long)(int)x + (uint)y;
    o[6] = x > 0 ? x - y : y - x;
    o[7] = (ulong)x / 10;
}
// run: longs global=16
// arg a: long[16] = rand(LONG_MIN, LONG_MAX)
// arg b: long[16] = rand(1, 4000000000) * rand(-9, 9) + 1
// arg out: long[128]
// expect out if i % 8 == 0: a[i / 8] * b[i / 8]
// expect out if i % 8 == 1: a[i / 8] / b[i / 8]
// expect out if i % 8 == 2: a[i / 8] % b[i / 8]
// expect out if i % 8 == 3: (a[i / 8] << 33) + (b[i / 8] >> 7)
// expect out if i % 8 == 4: a[i / 8] < b[i / 8]
// expect out if i % 8 == 5: int(a[i / 8]) + uint(b[i / 8])
// expect out if i % 8 == 6: a[i / 8] > 0 ? a[i / 8] - b[i / 8] : b[i / 8] - a[i / 8]
// expect out if i % 8 == 7: ulong(a[i / 8]) / 10
