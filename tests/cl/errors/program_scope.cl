// build: -cl-std=CL1.2
// Program-scope variables are constant.
constant int known = 1;
int plain = 1;                  // error: constant address space
kernel void f(global int *out) { out[0] = known + plain; }
