kernel void triad(global const short *a, global const short *b, global short *c)
{
    size_t i = get_global_id(0);
    c[i] = a[i] + (short)3 * b[i];
}
