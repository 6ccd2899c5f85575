// The parser continues after a missing semicolon.
kernel void f(global int *out)
{
    out[0] = 1          // error: expected ';'
    out[1] = 2;
    out[2] = nowhere;   // error: use of undeclared identifier 'nowhere'
}
