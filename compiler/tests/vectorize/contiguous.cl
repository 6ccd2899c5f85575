// Neighbouring work-items access neighbouring elements: vector loads and stores, no gathers.

kernel void copy(global const float *x, global float *z) {
    int i = get_global_id(0);
    z[i] = x[i];
}

kernel void saxpy(global const float *x, global float *y, float a) {
    int i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

kernel void shifted(global const int *x, global int *z) {
    int i = get_global_id(0);
    z[i] = x[i + 1] - x[i + 3];
}

kernel void doubles(global const double *x, global double *z) {
    int i = get_global_id(0);
    z[i] = x[i] * 2;
}

kernel void longs(global const long *x, global long *z) {
    int i = get_global_id(0);
    z[i] = x[i] + i;
}

kernel void vectors(global const float4 *x, global float4 *z) {
    int i = get_global_id(0);
    z[i] = x[i] * x[i];
}

kernel void components(global const float2 *x, global float *z) {
    int i = get_global_id(0);
    z[i] = x[i].x * x[i].y;
}

kernel void uniform_address(global const float *x, global float *z) {
    z[get_global_id(0)] = x[5];
}

kernel void two_dimensional(global const float *x, global float *z, int pitch) {
    int at = get_global_id(1) * pitch + get_global_id(0);
    z[at] = x[at];
}
