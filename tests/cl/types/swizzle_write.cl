// Component access on the left of an assignment, in variables, in memory and in arrays.

kernel void variables(global int4 *out)
{
    int4 v = (int4)(0, 1, 2, 3);
    v.x = 10;
    v.zw = (int2)(20, 30);
    out[0] = v;
    v.wzyx = v;
    out[1] = v;
    v.lo = v.hi;
    out[2] = v;
    v.even = (int2)(7, 8);
    v.s3 += 100;
    out[3] = v;
    v.xy = v.yx;
    out[4] = v;
    int8 w = (int8)(v, v);
    w.hi.odd = (int2)(-1, -2);
    w.s01 = 5;
    out[5] = w.lo;
    out[6] = w.hi;
}
// run: variables global=1
// arg out: int4[7]
// expect out: {10, 1, 20, 30, 30, 20, 1, 10, 1, 10, 1, 10, 7, 10, 8, 110, 10, 7, 8, 110, 5, 5, 8, 110, 10, -1, 8, -2}

kernel void memory(global int4 *a, local int4 *l, int k)
{
    a[0].y = 100;
    a[1].wx = (int2)(200, 300);
    a[k].hi = a[k].lo;
    *l = a[0];
    l->z = 9;
    int4 array[3] = {a[0], a[1], *l};
    array[k].x = 77;
    a[3] = array[k];
    (*(a + 4)).s2 = 55;
}
// run: memory global=1
// arg a: int4[5] = i
// arg l: local 16
// arg k: int = 2
// expect a: {0, 100, 2, 3, 300, 5, 6, 200, 8, 9, 8, 9, 77, 100, 9, 3, 16, 17, 55, 19}

kernel void bytes(global uchar4 *a)
{
    size_t i = get_global_id(0);
    a[i].z = a[i].x + 1;
    a[i].xw = (uchar2)(255, 254);
}
// run: bytes global=4
// arg a: uchar4[4] = i * 3
// expect a: {255, i * 3, (i - 2) * 3 + 1, 254}
