kernel void gather(global const float *a, global const uint *index, global float *b)
{
    size_t i = get_global_id(0);
    b[i] = a[index[i]];
}
