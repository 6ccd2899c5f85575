// Kernels cannot have pointers to pointers as parameters before OpenCL C 2.0.
// build: -cl-std=CL1.1
// build: -cl-std=CL1.2
kernel void k(global int *global *p) {}   // error: kernel parameter cannot be declared as a pointer to a pointer
