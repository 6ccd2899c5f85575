// Comparisons with NaN are false (except `!=`), also if several of them are combined or complemented.

kernel void combined(global const float *a, global const float *b, global const float *c, global int *out)
{
    size_t i = get_global_id(0);
    float x = a[i], y = b[i], z = c[i];
    int bits = 0;
    bits |= (x < y || x > y) << 0;
    bits |= !(x < y) << 1;
    bits |= !(x >= y) << 2;
    bits |= (x < y && x < z) << 3;
    bits |= (x < z && y < z) << 4;
    bits |= (x <= y && x >= y) << 5;
    bits |= (!(x < y) && !(x > y)) << 6;
    bits |= (x < 1 || x > 1) << 7;
    bits |= (x < 1 || x < y) << 8;
    bits |= !(x == y) << 9;
    bits |= (x == x) << 10;
    bits |= (x < y ? x < z : x > z) << 11;
    if (x < y) bits |= 0; else bits |= 1 << 12;
    if (x < y) { if (x < z) bits |= 1 << 13; }
    out[i] = bits;
}
// run: combined global=8
// arg a: float[8] = {nan, 1, 1, 0, nan, nan, 2, 0}
// arg b: float[8] = {1, nan, 2, 0, nan, 2, nan, nan}
// arg c: float[8] = {2, 2, nan, 1, 2, nan, 3, 1}
// arg out: int[8]
// expect out: ((a < b || a > b) + 2 * !(a < b) + 4 * !(a >= b) + 8 * (a < b && a < c) + 16 * (a < c && b < c) + 32 * (a <= b && a >= b)
//              + 64 * (!(a < b) && !(a > b)) + 128 * (a < 1 || a > 1) + 256 * (a < 1 || a < b) + 512 * !(a == b) + 1024 * (a == a)
//              + 2048 * (a < b ? a < c : a > c) + 4096 * !(a < b) + 8192 * (a < b && a < c))
