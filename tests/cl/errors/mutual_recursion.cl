// Recursion through other functions is rejected as well; the message names them.
// requires: wgcl
int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); } // error: 'odd' calls 'even', which calls 'odd'
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int c(int n);
int a(int n) { return c(n); } // error: 'c' calls 'b', which calls 'a', which calls 'c'
int b(int n) { return a(n); }
int c(int n) { return b(n); }
kernel void f(global int *out)
{
    out[0] = even(out[1]) + b(1);
}
