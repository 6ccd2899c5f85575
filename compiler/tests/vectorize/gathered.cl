// Addresses without a known relation between work-items.

kernel void gather(global const float *x, global const int *at, global float *z) {
    int i = get_global_id(0);
    z[i] = x[at[i]];
}

kernel void scatter(global const float *x, global const int *at, global float *z) {
    int i = get_global_id(0);
    z[at[i]] = x[i];
}

kernel void gather_doubles(global const double *x, global const int *at, global double *z) {
    int i = get_global_id(0);
    z[i] = x[at[i]];
}

kernel void gather_bytes(global const uchar *x, global const int *at, global int *z) {
    int i = get_global_id(0);
    z[i] = x[at[i]];
}

kernel void gather_vectors(global const float4 *x, global const int *at, global float4 *z) {
    int i = get_global_id(0);
    z[i] = x[at[i]];
}

// Rows of 16 bytes, and inactive lanes.
kernel void gather_rows(global const float3 *x, global const int *at, global float *z) {
    int i = get_global_id(0);
    if (at[i] >= 0) z[i] = x[at[i]].x + x[at[i]].z;
}

// Speculatively contiguous.
kernel void clamped(global const float *x, global float *z, int n) {
    int i = get_global_id(0);
    z[i] = x[clamp(i + 1, 0, n - 1)];
}

// Speculatively contiguous.
kernel void wrapped(global const float *x, global float *z, int n, int pitch) {
    int i = get_global_id(0);
    z[i / n * pitch + i % n] = x[i];
}
