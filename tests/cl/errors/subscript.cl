// Subscripts of what is neither pointer nor array, or that are no integers.
kernel void f(global int *out, float x)
{
    int a = 1;
    out[0] = a[0];              // error: subscripted value is not
    out[x] = 1;                 // error: subscript is not an integer
}
