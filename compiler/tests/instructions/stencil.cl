kernel void stencil(global const float *a, global float *b, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) b[i] = a[i];
    else b[i] = 0.5f * a[i] + 0.125f * (a[i - 1] + a[i + 1] + a[i - width] + a[i + width]);
}
