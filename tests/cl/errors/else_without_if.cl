// #else and #endif without #if.
#else           // error: #else without #if
#endif          // error: #endif without #if
kernel void f(global int *out) { out[0] = 1; }
