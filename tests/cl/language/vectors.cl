// Components of vectors in all spellings, read and written, also of three lanes; literals; comparisons; selections.
// build: -cl-std=CL3.0
kernel void components(global int *out, global int3 *three)
{
    int4 v = (int4)(1, 2, 3, 4);
    v.hi = (int2)(30, 40);
    v.lo.y = 20;
    out[0] = v.x + v.y + v.z + v.w;
    v.even = v.odd;
    out[1] = v.s0 * 1000 + v.S2;
    v.rgba = v.abgr;
    out[2] = v.r * 100 + v.a;
    int16 w = (int16)(v, v.wzyx, (int8)(7));
    w.sF = 1;
    w.sa = 2;
    w.hi.hi.hi.hi += 10;
    w.s01 = w.s10;
    out[3] = w.sf + w.SA + w.s4 + w.sB;
    int3 t = (int3)(1, 2, 3);
    t.hi = (int2)(9, 100);
    out[4] = t.x * 100 + t.y * 10 + t.z;
    t.odd = (int2)(5, 100);
    out[5] = t.x * 100 + t.y * 10 + t.z;
    t.even = (int2)(6, 7);
    t.lo += 1;
    out[6] = t.x * 100 + t.y * 10 + t.z;
    three[0].hi = (int2)(8, 100);
    three[0].xy = t.zy;
    three[1] = t.zyx;
    int2 h = t.hi, o = t.odd;
    out[7] = h.x * 10 + o.x;
    int a = ((int2)(3, 4)).y + (int4)(5).z + ((int4){1, 2, 3, 4}).w;
    out[8] = a;
    int4 b = 3, c = (int4)(1, (int2)(2), 4), d = {c.xy, c.zw}, e = {1, 2, 3, 4};
    out[9] = b.w + c.z + d.w + e.y;
    int4 less = c < b, both = less && e, not_ = !less;
    out[10] = less.x + less.w + both.y + not_.w;
    int4 picked = less ? (int4)(1) : (int4)(2);
    out[11] = picked.x * 10 + picked.w;
    float4 f = (float4)(1.5f), g = less ? f : (float4)(2);
    out[12] = (int)(g.x * 10 + g.w);
    uchar4 u = (uchar4)(200) + (uchar4)(100);
    char4 equal = u == (uchar4)(44);
    out[13] = u.x + equal.y;
    int index = 2;
    e[index] = 9;
    e[0]++;
    out[14] = e[index] + e.x;
    out[15] = any(less) + all(less) + any((int2)(0)) + all((int2)(-1));
}
// run: components global=1
// arg out: int[16]
// arg three: int[8] = {11, 12, 13, 14, 21, 22, 23, 24}
// expect out: {91, 20040, 4020, 40, 129, 159, 767, 76, 13, 11, -3, 12, 17, 43, 11, 2}
// expect three: {7, 6, 8, _, 7, 6, 7, _}
