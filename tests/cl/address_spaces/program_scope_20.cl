// Since OpenCL C 2.0 a program-scope variable without a qualifier is global.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
global int foo;
int foo2;
global uchar buf[512];
global int baz = 12;
static global int bat;
static int s;
int *p;
global int * global ptr;
int * global ptr2;
global int * constant ptr3 = &baz;
global int * global baz_ptr = &baz;
struct pair { int a; float b; };
global struct pair pairs[2] = {{1, 2.0f}, {.b = 3.0f}};
constant struct pair fixed = {1, 2.0f};
constant int table[] = {1, 2, 3};
global int *element = &pairs[1].a;
float4 vector = (float4)(1, 2, 3, 4);

kernel void k(global int *out)
{
    out[0] = table[1] + fixed.a;
}
// run: k global=1
// arg out: int[1]
// expect out: 3
