// Vector literals from scalars and vectors in every mixture, and scalars widened.

kernel void make(global int *out, int s)
{
    int2 a = (int2)(1, 2);
    int4 b = (int4)(a, 3, 4);
    int4 c = (int4)(0, a, 9);
    int8 d = (int8)(b, c);
    int16 e = (int16)(d, a, b, a);
    int3 f = (int3)(a, 5);
    int4 g = (int4)(f, s);
    int4 h = (int4)(s);
    int4 k = s;
    k += (int4)(a.yx, (int2)(7));
    vstore4(b, 0, out);
    vstore4(c, 1, out);
    vstore8(d, 1, out);
    vstore16(e, 1, out);
    vstore4(g, 8, out);
    vstore4(h, 9, out);
    vstore4(k, 10, out);
    float4 mixed = (float4)(1, 2.5f, s, 'a');
    vstore4(convert_int4(mixed * 2.0f), 11, out);
}
// run: make global=1
// arg out: int[48]
// arg s: int = 42
// expect out: {1, 2, 3, 4, 0, 1, 2, 9, 1, 2, 3, 4, 0, 1, 2, 9, 1, 2, 3, 4, 0, 1, 2, 9, 1, 2, 1, 2, 3, 4, 1, 2,
//              1, 2, 5, 42, 42, 42, 42, 42, 44, 43, 49, 49, 2, 5, 84, 194}
