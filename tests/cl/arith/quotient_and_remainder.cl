// Quotient and remainder of the same operands: one division, in either order.
// for: T = char, uchar, short, ushort, int, uint, long, ulong

kernel void divide(global const T *a, global const T *b, global T *out)
{
    size_t i = get_global_id(0);
    T x = a[i], y = b[i];
    T rest = x % y;
    out[3 * i] = rest;
    if (i & 1) {
        out[3 * i + 1] = x / y;
    } else {
        out[3 * i + 1] = (x / y) * y + x % y;
    }
    out[3 * i + 2] = y % x;
}
// run: divide global=8
// arg a: $T[8] = {7, -7, 100, 127, min_of($T) + 1, 1, max_of($T), 55}
// arg b: $T[8] = {2, 2, -9, 100, 3, 5, 10, 55}
// arg out: $T[24]
// expect out if i % 3 == 0: a[i / 3] % b[i / 3]
// expect out if i % 3 == 1: i / 3 % 2 == 1 ? a[i / 3] / b[i / 3] : a[i / 3]
// expect out if i % 3 == 2: b[i / 3] % a[i / 3]

kernel void divide_vectors(global const int4 *a, global const int4 *b, global int4 *out)
{
    size_t i = get_global_id(0);
    out[2 * i] = a[i] / b[i];
    out[2 * i + 1] = a[i] % b[i];
}
// run: divide_vectors global=2
// arg a: int4[2] = {17, -17, 17, -17, 2147483647, -2147483647, 5, 0}
// arg b: int4[2] = {5, 5, -5, -5, 2, 3, 7, 9}
// arg out: int4[4]
// expect out: {3, -3, -3, 3, 2, -2, 2, -2, 1073741823, -715827882, 0, 0, 1, -1, 5, 0}
