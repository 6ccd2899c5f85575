// Duplicate cases, cases that are not constants.
kernel void f(global int *out, int n)
{
    switch (n) {
    case 1: out[0] = 1; break;
    case 2: out[0] = 2; break;
    case 1: out[0] = 3;         // error: duplicate case value
    case n: out[0] = 4;         // error: constant
    default: break; default: break;     // error: multiple default labels
    }
}
