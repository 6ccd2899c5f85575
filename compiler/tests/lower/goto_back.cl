// A loop over the number of the next block.
kernel void k(global int *out, int n)
{
    int i = 0;
again:
    out[i] = i;
    if (++i < n)
        goto again;
    out[i] = -1;
}
