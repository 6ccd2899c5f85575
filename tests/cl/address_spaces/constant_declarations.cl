// Constant variables are declared outside of functions or in the outermost block of a kernel, with a constant value.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
constant int fine = 1;
int g(void) { return 1; }
void f(void)
{
    constant int a = 1;           // error: non-kernel function variable cannot be declared in constant address space
}
kernel void k(global int *out, int x)
{
    constant int fine_here = 2;
    constant int in_terms = sizeof(int) + 2 * 3;
    constant int *in_private = &fine;
    constant int no_value;        // error: variable in constant address space must be initialized
    constant int from_argument = x;   // error: initializer element is not a compile-time constant
    constant int from_call = g();     // error: initializer element is not a compile-time constant
    if (x) {
        constant int inner = 1;   // error: variables in the constant address space can only be declared in the outermost scope of a kernel
    }
    {
        constant int block = 1;   // error: variables in the constant address space can only be declared in the outermost scope of a kernel
    }
    out[0] = fine + fine_here + in_terms + *in_private;
}
