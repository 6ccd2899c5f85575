kernel void spmv(global const uint *start, global const uint *column, global const float *value, global const float *x, global float *y)
{
    uint row = get_global_id(0);
    float sum = 0;
    for (uint i = start[row]; i < start[row + 1]; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
}
