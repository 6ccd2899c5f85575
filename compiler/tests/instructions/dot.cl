kernel void dot_product(global const float *a, global const float *b, uint size, global float *sums)
{
    float total = 0;
    for (uint i = get_global_id(0); i < size; i += get_global_size(0)) total += a[i] * b[i];
    sums[get_global_id(0)] = total;
}
