// `generic` and `__generic` are the same, and are the default of pointers since OpenCL C 2.0.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
kernel void k(global int *a, local int *l)
{
    generic int *p = a;
    __generic int *q = p;
    int *r = q;
    p = l;
    q = r;
    r = l;
    *p = 1;
    a[0] = *q + *r;
}
// run: k global=1
// arg a: int[1] = 5
// arg l: local 4
// expect a: 6
