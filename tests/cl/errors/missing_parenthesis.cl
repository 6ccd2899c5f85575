// A missing closing parenthesis.
kernel void f(global int *out)
{
    out[0] = (1 + 2;        // error: expected ')'
    out[1] = 2;
}
