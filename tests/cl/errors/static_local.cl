// Variables in __local memory are not initialised, and are declared only in kernels.
kernel void f(global int *out)
{
    local int x = 5;            // error: initializer
    out[0] = x;
}
void helper(void)
{
    local int y;                // error: kernel
}
