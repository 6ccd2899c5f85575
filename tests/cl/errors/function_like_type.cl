// OpenCL C has no function pointers.
// requires: wgcl
int one(void) { return 1; }
kernel void f(global int *out)
{
    int (*p)(void) = one;       // error: function
    out[0] = p();
}
