// as_type needs the same size.
kernel void f(global int *out)
{
    out[0] = as_int((short)1);      // error:
    out[1] = as_int2(1.0f).x;       // error:
}
