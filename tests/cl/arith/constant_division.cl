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
