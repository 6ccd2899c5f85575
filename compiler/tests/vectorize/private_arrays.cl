// Private arrays: element-major if every access has the size of an element, otherwise contiguous for each work-item.

kernel void uniform_index(global const float *x, global float *z, int n) {
    float ring[16];
    for (int k = 0; k < 16; k++) ring[k] = x[k * 64 + get_global_id(0)];
    z[get_global_id(0)] = ring[n & 15] + ring[n >> 4 & 15];
}

kernel void varying_index(global const int *x, global int *z) {
    int counts[8] = {0};
    int i = get_global_id(0);
    for (int k = 0; k < 8; k++) counts[x[i + k] & 7]++;
    z[i] = counts[x[i] & 7];
}

kernel void mixed_sizes(global const int *x, global int *z) {
    int words[4];
    int i = get_global_id(0);
    for (int k = 0; k < 4; k++) words[k] = x[i + k];
    z[i] = ((char *)words)[x[i] & 15];
}

// The lanes leave the inner loop in different iterations. The stores after the loop are vector stores in the loop.
kernel void insertion(global const int *x, global int *z) {
    int keys[8];
    int i = get_global_id(0);
    for (int k = 0; k < 8; k++) {
        int key = x[i + k], at = k;
        for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
    z[i] = keys[4];
}
