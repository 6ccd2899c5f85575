// Products of matrices.

// C = A * B. A has M rows and K columns, B has K rows and N columns. Rows are contiguous. The work-item (column, row)
// computes one element of C. Tiles in local memory were slower for 512 x 512 x 512: they took 1.6 times as long on the
// CPU device (AVX-512), and 2.4 times on lavapipe 22.3.
kernel void pocl_sgemm_local_f32(global const float *restrict A, global const float *restrict B,
                                 global float *restrict C, uint M, uint N, uint K) {
    size_t column = get_global_id(0), row = get_global_id(1);
    if (column >= N || row >= M) return;
    float sum = 0;
    for (uint k = 0; k < K; k++) sum += A[row * K + k] * B[(size_t)k * N + column];
    C[row * N + column] = sum;
}
