// Sizes of arrays must be constant and not negative.
kernel void f(global int *out, int n)
{
    int a[n];                   // error:
    int b[-1];                  // error: negative size
    out[0] = a[0] + b[0];
}
