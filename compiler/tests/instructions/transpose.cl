kernel __attribute__((reqd_work_group_size(16, 16, 1))) void transpose(global const float *a, global float *b, int n)
{
    local float tile[16][17];
    int lx = get_local_id(0), ly = get_local_id(1), gx = get_group_id(0) * 16, gy = get_group_id(1) * 16;
    tile[ly][lx] = a[(gy + ly) * n + gx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[(gx + ly) * n + gy + lx] = tile[lx][ly];
}
