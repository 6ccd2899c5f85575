// Variables in __local memory are not initialised, and stand in kernels only.
kernel void f(global int *out)
{
    local int x = 5;            // error: initializer
    out[0] = x;
}
void helper(void)
{
    local int y;                // error: kernel
}
