// Scalar comparisons give int 0 or 1.
// for: T = char, uchar, short, ushort, int, uint, long, ulong, float

kernel void compare(global const T *a, global const T *b, global int *out)
{
    size_t i = get_global_id(0);
    T x = a[i], y = b[i];
    global int *o = out + i * 6;
    o[0] = x < y;
    o[1] = x > y;
    o[2] = x <= y;
    o[3] = x >= y;
    o[4] = x == y;
    o[5] = x != y;
}
// run: compare global=16
// arg a: $T[16] = {0, 1, 2, 100, 127, $T(-1), $T(-128), 5}
// arg b: $T[16] = {0, 2, 1, 100, $T(-1), 127, $T(-128)}
// arg out: int[96]
// expect out if i % 6 == 0: a[i / 6] < b[i / 6]
// expect out if i % 6 == 1: a[i / 6] > b[i / 6]
// expect out if i % 6 == 2: a[i / 6] <= b[i / 6]
// expect out if i % 6 == 3: a[i / 6] >= b[i / 6]
// expect out if i % 6 == 4: a[i / 6] == b[i / 6]
// expect out if i % 6 == 5: a[i / 6] != b[i / 6]
