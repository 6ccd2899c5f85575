// Majorities of bits and other functions of three numbers, as hash functions write them.
// for: T = uint, ulong

kernel void of_three(global const T *a, global T *o)
{
    size_t i = get_global_id(0);
    T x = a[i], y = a[(i + 1) & 63], z = a[(i + 2) & 63];
    T first = (x & y) | (z & (x ^ y)), second = (z & (x | y)) | (x & y), third = ((y ^ x) & z) + (y & x), fourth = (z & (y ^ x)) ^ (x & y);
    o[i] = first + 3 * second + 5 * third + 7 * fourth;
}
// run: of_three global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg o: $T[64]
// expect o: ((a & a[i + 1 & 63]) | (a & a[i + 2 & 63]) | (a[i + 1 & 63] & a[i + 2 & 63])) * 16

kernel void of_others(global const T *a, global T *o)
{
    size_t i = get_global_id(0);
    T x = a[i], y = a[(i + 1) & 63], z = a[(i + 2) & 63];
    // Not a majority: a selection between equal values, and a sum with a carry.
    o[i] = ((x & y) ^ (z & (x | y))) + 3 * ((x & y) + (z & (x | y))) + 5 * ((x & y) | (z & (x ^ z))) + 7 * ((x & y) | (z ^ (x & y)));
}
// run: of_others global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg o: $T[64]
// expect o: ((a & a[i + 1 & 63]) ^ (a[i + 2 & 63] & (a | a[i + 1 & 63]))) + 3 * ((a & a[i + 1 & 63]) + (a[i + 2 & 63] & (a | a[i + 1 & 63]))) + 5 * ((a & a[i + 1 & 63]) | (a[i + 2 & 63] & (a ^ a[i + 2 & 63]))) + 7 * ((a & a[i + 1 & 63]) | (a[i + 2 & 63] ^ (a & a[i + 1 & 63])))
