// Warnings do not stop a build; -Werror makes errors of them.
kernel void f(global int *out)
{
#warning mind the step          // warning: mind the step
    out[0] = 1;
}
