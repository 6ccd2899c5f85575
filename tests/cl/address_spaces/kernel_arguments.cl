// Pointer parameters of kernels point to global, local or constant memory; array parameters are pointers too.
// build: -cl-std=CL1.2
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
kernel void fine(global int *a, local int *b, constant int *c, global int d[], constant int e[4], local int f[2][2]) {}
kernel void a(private int *p) {}          // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local'
kernel void b(int *p) {}                  // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local'
kernel void c(int p[4]) {}                // error: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local'
kernel void d(global int p) {}            // error: parameter may not be qualified with an address space
kernel void e(local float4 p) {}          // error: parameter may not be qualified with an address space
kernel void f(constant int p) {}          // error: parameter may not be qualified with an address space
kernel void g(global local int *p) {}     // error: multiple address spaces specified
void h(global int p) {}                   // error: parameter may not be qualified with an address space
kernel void i(global int **p) {}          // error: kernel
