// Recursion through another function is refused as well.
// requires: wgcl
// error anywhere: recursi
int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
kernel void f(global int *out)
{
    out[0] = even(out[1]);
}
