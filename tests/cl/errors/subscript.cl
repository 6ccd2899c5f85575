// Subscripts of operands that are neither pointers nor arrays, and subscripts that are not integers.
kernel void f(global int *out, float x)
{
    int a = 1;
    out[0] = a[0];              // error: subscripted value is not
    out[x] = 1;                 // error: subscript is not an integer
}
