// Static variables of functions are in global or constant space from OpenCL C 2.0.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
void f(void)
{
    static int a;
    static global int b = 2;
    static constant int c = 1;
    static local int d;            // error: static variable must reside in global or constant address space
    static private int e;          // error: static variable must reside in global or constant address space
    static constant int g;         // error: variable in constant address space must be initialized
    a = b + c;
}
