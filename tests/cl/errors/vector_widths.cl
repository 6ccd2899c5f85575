// Vectors of different widths or element types do not mix.
kernel void f(global int4 *out)
{
    int4 a = 0;
    int2 b = 0;
    float4 c = 0;
    out[0] = a + b;         // error:
    out[1] = a + c;         // error:
    out[2] = c;             // error:
    out[3] = (int4)(b, 1);  // error:
    out[4] = (int4)(a, 1);  // error:
}
