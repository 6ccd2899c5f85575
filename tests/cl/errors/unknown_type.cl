// A name that is not a type.
kernel void f(global int *out)
{
    strange x = 1;          // error: strange
    out[0] = 1;
}
