// A variable larger than the device permits.
// build: -cl-std=CL3.0
// requires: wgcl
global uchar big[64 * 1024 * 1024 + 1]; // error: the limit in global memory is 67108864 bytes (64 MiB)
kernel void f(global int *out) { out[0] = big[0]; }
