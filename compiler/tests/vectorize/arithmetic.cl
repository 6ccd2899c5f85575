// Operations that are not one instruction everywhere.

kernel void divide_by_constant(global const int *x, global int *z) {
    int i = get_global_id(0);
    z[i] = x[i] / 7;
}

kernel void divide_by_uniform(global const uint *x, global uint *z, uint d) {
    int i = get_global_id(0);
    z[i] = x[i] / d;
}

kernel void divide_varying(global const int *x, global const int *y, global int *z) {
    int i = get_global_id(0);
    z[i] = x[i] / y[i];
}

kernel void fused(global const float *x, global const float *y, global float *z) {
    int i = get_global_id(0);
    z[i] = fma(x[i], y[i], z[i]);
}

kernel void long_products(global const long *x, global const long *y, global long *z) {
    int i = get_global_id(0);
    z[i] = x[i] * y[i];
}

kernel void long_to_float(global const long *x, global float *z) {
    int i = get_global_id(0);
    z[i] = x[i];
}

kernel void bits(global const uint *x, global uint *z) {
    int i = get_global_id(0);
    z[i] = popcount(x[i]) + clz(x[i]) + rotate(x[i], 5u);
}

kernel void roots(global const float *x, global float *z) {
    int i = get_global_id(0);
    z[i] = sqrt(x[i]) + native_rsqrt(x[i]);
}
