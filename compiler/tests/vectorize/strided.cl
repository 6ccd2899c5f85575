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
