kernel void blend(global const uchar *a, global const uchar *b, global uchar *c)
{
    size_t i = get_global_id(0);
    c[i] = (a[i] * 3 + b[i] * 5) >> 3;
}
