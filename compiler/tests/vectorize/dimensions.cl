// Groups of 16 by 16: the vector dimension is the one with cheaper accesses.
// group: 16 16 1

kernel void rows(global const float *x, global float *z, int n) {
    z[get_global_id(1) * n + get_global_id(0)] = x[get_global_id(1) * n + get_global_id(0)];
}

kernel void columns(global const float *x, global float *z, int n) {
    z[get_global_id(0) * n + get_global_id(1)] = x[get_global_id(0) * n + get_global_id(1)];
}

kernel void transpose(global const float *x, global float *z, int n) {
    z[get_global_id(0) * n + get_global_id(1)] = x[get_global_id(1) * n + get_global_id(0)];
}

kernel void product(global const float *x, global const float *y, global float *z, int n) {
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++) sum += x[row * n + k] * y[k * n + column];
    z[row * n + column] = sum;
}
