// y = a * x + y. Hover over a line to see its code in the other panes.
kernel void saxpy(float a, global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}
