// shuffle and shuffle2: masks use only as many bits as needed, and the result has the mask's width.

kernel void one(global const int4 *a, global int4 *out, global int8 *wide, global int2 *narrow, uint4 mask)
{
    out[0] = shuffle(a[0], mask);
    wide[0] = shuffle(a[0], (uint8)(3, 2, 1, 0, 7, 6, 5, 4));
    narrow[0] = shuffle(a[0], (uint2)(2, 2));
}
// run: one global=1
// arg a: int4[1] = 10 + i
// arg out: int4[1]
// arg wide: int8[1]
// arg narrow: int2[1]
// arg mask: uint4 = {1, 0, 6, 3}
// expect out: {11, 10, 12, 13}
// expect wide: {13, 12, 11, 10, 13, 12, 11, 10}
// expect narrow: 12

kernel void two(global const uchar4 *a, global const uchar4 *b, global uchar8 *out)
{
    out[0] = shuffle2(a[0], b[0], (uchar8)(0, 4, 1, 5, 2, 6, 3, 15));
}
// run: two global=1
// arg a: uchar4[1] = 10 + i
// arg b: uchar4[1] = 20 + i
// arg out: uchar8[1]
// expect out: {10, 20, 11, 21, 12, 22, 13, 23}
