// A macro with too many arguments.
#define TWO(a, b) a + b
kernel void f(global int *out)
{
    out[1] = TWO(1, 2, 3);      // error: too many arguments
}
