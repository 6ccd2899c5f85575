// A condition that is never closed.
#if 1           // error: unterminated conditional directive
kernel void f(global int *out) { out[0] = 1; }
