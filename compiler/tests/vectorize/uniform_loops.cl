// text: armv8
// Loops that all work-items leave together.

kernel void dot_columns(global const float *x, global const float *y, global float *z, int n) {
    int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; k++) sum += x[k] * y[k * 64 + i];
    z[i] = sum;
}

kernel void power(global const float *x, global float *z, int n) {
    int i = get_global_id(0);
    float v = x[i];
    for (int k = 0; k < n; k++) v = v * v + 1;
    z[i] = v;
}

kernel void row_sums(global const float *x, global float *z, int n) {
    int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; k++) sum += x[i * n + k];
    z[i] = sum;
}

kernel void grid_stride(global const float *x, global float *z, int n) {
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) z[i] = 2 * x[i];
}

kernel void nested(global const float *x, global float *z, int n) {
    int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; k++)
        for (int l = 0; l < k; l++) sum += x[l] * i;
    z[i] = sum;
}
