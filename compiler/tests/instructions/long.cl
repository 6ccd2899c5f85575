kernel void lcg(global ulong *out, ulong factor, ulong step, int n)
{
    ulong state = get_global_id(0);
    for (int i = 0; i < n; i++) state = (state ^ state >> 29) * factor + step;
    out[get_global_id(0)] = state;
}
