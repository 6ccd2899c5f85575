// Cheap operands are always evaluated, loads are not. An `if` with `&&` and without `else` becomes two nested `if`s.
kernel void k(global const int *in, global int *out, int n)
{
    int i = (int)get_global_id(0);
    if (i >= 0 && i < n)
        out[i] = 1;
    if (i < n && in[i])
        out[i] = 2;
    while (i < n && in[i] > 3)
        i++;
    out[0] = i;
}
