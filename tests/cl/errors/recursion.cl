// Recursion is rejected.
// requires: wgcl
// error anywhere: recursi
int down(int n) { return n ? down(n - 1) : 0; }
kernel void f(global int *out)
{
    out[0] = down(out[1]);
}
