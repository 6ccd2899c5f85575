// Before OpenCL C 2.0 only constants may be at program scope.
// build: -cl-std=CL1.1
// build: -cl-std=CL1.2
constant int known = 3;
global int number;              // error: must reside in constant address space
global int *bad_ptr;            // error: must reside in constant address space
static int hidden = 1;          // error: must reside in constant address space
kernel void f(global int *out)
{
    static int kept;            // error: cannot be declared 'static'
    out[0] = known;
}
