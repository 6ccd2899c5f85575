#define TILE 8

// C = A * B for matrices of n by n floats. Tiles of both matrices are in local memory.
__attribute__((reqd_work_group_size(TILE, TILE, 1)))
kernel void sgemm(global const float *a, global const float *b, global float *c, int n)
{
    local float ta[TILE][TILE], tb[TILE][TILE];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        ta[ly][lx] = a[y * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}
