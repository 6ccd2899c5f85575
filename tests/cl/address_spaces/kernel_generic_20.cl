// Kernels cannot have generic pointer parameters.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
kernel void a(generic int *p) {}          // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local'
kernel void b(int *p) {}                  // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local'
kernel void c(global int *global *p) {}
