kernel void quantise(global const float *a, global const int *b, global int *c, global float *d, float scale)
{
    size_t i = get_global_id(0);
    c[i] = (int)(a[i] * scale);
    d[i] = (float)b[i] * scale + (float)(uint)a[i];
}
