// A cast cannot change the address space either.
kernel void f(global int *out, local int *l)
{
    global int *p = (global int *)l;    // error: address space
    *p = 1;
}
