// -Werror turns warnings into errors.
// build: -Werror
kernel void f(global int *out)
{
#warning mind the step          // error: mind the step
    out[0] = 1;
}
