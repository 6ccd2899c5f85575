// A cast does not cross address spaces either.
kernel void f(global int *out, local int *l)
{
    global int *p = (global int *)l;    // error: address space
    *p = 1;
}
