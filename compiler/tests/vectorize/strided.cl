// Work-items access elements that are a constant number of elements apart.

kernel void every_second(global const float *x, global float *z) {
    int i = get_global_id(0);
    z[i] = x[2 * i];
}

kernel void complex_square(global const float *x, global float *z) {
    int i = 2 * get_global_id(0);
    float re = x[i], im = x[i + 1];
    z[i] = re * re - im * im;
    z[i + 1] = 2 * re * im;
}

kernel void every_third(global const float *x, global float *z) {
    int i = get_global_id(0);
    z[i] = x[3 * i];
}

kernel void store_every_fifth(global const float *x, global float *z) {
    int i = get_global_id(0);
    z[5 * i] = x[i];
}

kernel void reversed(global const float *x, global float *z) {
    int i = get_global_id(0);
    z[i] = x[1000 - i];
}

kernel void pitch(global const float *x, global float *z, int pitch) {
    int i = get_global_id(0);
    z[i] = x[i * pitch];
}

// Rows of 16 bytes and more, whose distance is not a power of two.
kernel void rows_of_words(global const int4 *x, global int *z) {
    int i = get_global_id(0);
    int4 row = x[3 * i];
    z[i] = row.x + 2 * row.y + 3 * row.z + 4 * row.w;
}

kernel void rows_of_doubles(global const double *x, global double *z) {
    int i = get_global_id(0);
    double2 row = vload2(0, x + 5 * i);
    z[i] = row.x - row.y;
}

kernel void rows_of_bytes(global const char *x, global int *z) {
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 16; k++) sum += k * x[18 * i + 2 + k];
    z[i] = sum;
}
