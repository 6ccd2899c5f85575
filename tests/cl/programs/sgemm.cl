// Matrix product with tiles in local memory.
#define TILE 8

kernel void sgemm(global const float *a, global const float *b, global float *c, int n, int k)
{
    local float ta[TILE][TILE], tb[TILE][TILE];
    int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int t = 0; t < k; t += TILE) {
        ta[ly][lx] = a[y * k + t + lx];
        tb[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < TILE; j++)
            sum += ta[ly][j] * tb[j][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}
// run: sgemm global=24x16 local=8x8
// arg a: float[512] = rand(-4, 4)
// arg b: float[768] = rand(-4, 4)
// arg c: float[384]
// arg n: int = 24
// arg k: int = 32
// expect c: sum(j, 0, 32, a[i / 24 * 32 + j] * b[j * 24 + i % 24])
