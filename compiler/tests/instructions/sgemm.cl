#define T 64
#define D 16
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void sgemm(global const float *a, global const float *b, global float *c, int n)
{
    local float ta[D][T], tb[D][T];
    int lx = get_local_id(0), ly = get_local_id(1), lane = ly * 16 + lx;
    int left = get_group_id(0) * T, top = get_group_id(1) * T;
    float sum[4][4] = {{0}};
    for (int t = 0; t < n; t += D) {
        for (int i = 0; i < 4; i++) {
            int at = lane + i * 256;
            ta[at % D][at / D] = a[(top + at / D) * n + t + at % D];
            tb[at / T][at % T] = b[(t + at / T) * n + left + at % T];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < D; k++) {
            float p[4], q[4];
            for (int i = 0; i < 4; i++) {
                p[i] = ta[k][ly * 4 + i];
                q[i] = tb[k][lx + i * 16];
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sum[i][j] += p[i] * q[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(top + ly * 4 + i) * n + left + lx + j * 16] = sum[i][j];
}
