// Malformed literals.
kernel void f(global int *out)
{
    out[0] = 089;               // error: invalid digit
    out[2] = 12xyz;             // error: invalid suffix
    out[3] = 1lL;               // error: invalid suffix 'lL' on integer constant
}
