// A label that does not exist, and one that exists twice.
kernel void f(global int *out)
{
    goto nowhere;               // error: use of undeclared label 'nowhere'
again:
    out[0] = 1;
again:                          // error: redefinition of label 'again'
    out[1] = 2;
}
