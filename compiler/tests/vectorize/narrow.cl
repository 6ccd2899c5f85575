// text: avx2
// 8- and 16-bit types.

kernel void add_bytes(global const uchar *x, global const uchar *y, global uchar *z) {
    int i = get_global_id(0);
    z[i] = x[i] + y[i];
}

kernel void add_words(global const short *x, global const short *y, global short *z) {
    int i = get_global_id(0);
    z[i] = x[i] + y[i];
}

kernel void average(global const uchar *x, global uchar *z) {
    int i = get_global_id(0);
    z[i] = (x[i] + x[i + 1]) / 2;
}

kernel void invert_pixels(global const uchar4 *x, global uchar4 *z) {
    int i = get_global_id(0);
    z[i] = (uchar4)(255) - x[i];
}

kernel void load_halves(global const half *x, global float *z) {
    int i = get_global_id(0);
    z[i] = vload_half(i, x);
}

kernel void store_bytes_if(global const int *x, global uchar *z) {
    int i = get_global_id(0);
    if (x[i] > 3) z[i] = x[i];
}
