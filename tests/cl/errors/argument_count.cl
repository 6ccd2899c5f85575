// Too few and too many arguments.
int add(int a, int b) { return a + b; }
kernel void f(global int *out)
{
    out[0] = add(1);            // error: too few arguments
    out[1] = add(1, 2, 3);      // error: too many arguments
}
