// An address that is converted to a float is not a constant.
// requires: fp64 int64

constant int x = 3;
constant ulong integer = (ulong)&x;
constant double number = (double)(ulong)&x; // error: initializer element is not a compile-time constant

kernel void k(global double *out)
{
    out[0] = number + integer;
}
