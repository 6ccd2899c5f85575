// A `goto` to an earlier label becomes a loop.
kernel void k(global int *out, int n)
{
    int i = 0;
again:
    out[i] = i;
    if (++i < n)
        goto again;
    out[i] = -1;
}
