// Warnings do not stop a build; -Werror turns them into errors.
kernel void f(global int *out)
{
#warning mind the step          // warning: mind the step
    out[0] = 1;
}

struct last { int a }; // warning: expected ';' at end of declaration list

kernel void constants(global uchar4 *out, global const float *in, uchar4 v)
{
    out[0] = v + 1 - (uchar4)(-1);
    out[1] = v + 300; // warning: implicit conversion from 'int' to 'uchar' changes value from 300 to 44
    fract(1.5f, in);  // warning: discards qualifiers
}

kernel void conditions(global int *out, int n)
{
    global int *p = n ? out : 1; // warning: pointer/integer type mismatch in conditional expression ('__global int *' and 'int')
    out[0] = p == 4;             // warning: comparison between pointer and integer
}
