kernel void horner(global const double *x, global double *y, double c, int n)
{
    size_t i = get_global_id(0);
    double t = x[i], sum = 1;
    for (int j = 0; j < n; j++) sum = fma(sum, t, c);
    y[i] = sum;
}
