// Functions have no static variables before OpenCL C 2.0.
// build: -cl-std=CL1.1
// build: -cl-std=CL1.2
void f(void)
{
    static int a;                  // error: variables in function scope cannot be declared 'static'
    static global int b;           // error: variables in function scope cannot be declared 'static'
    static constant int c = 1;     // error: variables in function scope cannot be declared 'static'
}
