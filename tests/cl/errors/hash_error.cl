// #error ends the build with its text.
#error this must stop    // error: this must stop
kernel void f(global int *out) { out[0] = 1; }
