// The file ends inside a function.
// error anywhere: expected '}'
kernel void f(global int *out)
{
    if (out[0]) {
        out[1] = 2;
