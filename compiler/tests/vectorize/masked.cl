// text: avx2
// Control flow in which the lanes of a vector diverge.

kernel void store_if(global const float *x, global float *z) {
    int i = get_global_id(0);
    if (x[i] > 0) z[i] = x[i];
}

kernel void either(global const int *x, global int *z) {
    int i = get_global_id(0);
    if (x[i] & 1) z[i] = x[i] * 3 + 1;
    else z[i] = x[i] / 2;
}

kernel void return_early(global const float *x, global float *z, int n) {
    int i = get_global_id(0);
    if (i >= n) return;
    z[i] = x[i];
}

kernel void loop_until(global const int *x, global int *z) {
    int i = get_global_id(0);
    int v = x[i], n = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        n++;
    }
    z[i] = n;
}

kernel void gather_if(global const float *x, global const int *at, global float *z) {
    int i = get_global_id(0);
    int k = at[i];
    z[i] = k >= 0 ? x[k] : 0.0f;
}

kernel void stencil(global const float *x, global float *z, int width, int height) {
    int column = get_global_id(0), row = get_global_id(1), i = row * width + column;
    if (column == 0 || row == 0 || column == width - 1 || row == height - 1) z[i] = x[i];
    else z[i] = x[i] + x[i - 1] + x[i + 1] + x[i - width] + x[i + width];
}
