// Invalid types of kernel parameters.
kernel void pointer(private int *p) { *p = 1; }             // error:
kernel void size(global int *out, size_t n) { *out = n; }   // error: size_t
kernel void truth(global int *out, bool b) { *out = b; }    // error: bool
