// There is no generic address space before OpenCL C 2.0.
// build: -cl-std=CL1.0
// build: -cl-std=CL1.1
// build: -cl-std=CL1.2
kernel void k(global int *a)
{
    generic int *p = a;       // error: does not support the '__generic' type qualifier
    __generic int *q = a;     // error: does not support the '__generic' type qualifier
    *p = *q;
}
void f(generic int *p)        // error: does not support the '__generic' type qualifier
{
    *p = 1;
}
