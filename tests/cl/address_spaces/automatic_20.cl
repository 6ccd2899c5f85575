// Variables of functions are private.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
kernel void k(global int *out)
{
    private int a = 1;
    generic int b = 1;            // error: automatic variable qualified with an invalid address space
    global int c;                 // error: function scope variable cannot be declared in global address space
    out[0] = a;
}
