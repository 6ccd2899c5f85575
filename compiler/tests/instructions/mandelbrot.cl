kernel void mandelbrot(global int *out, float pixel, int limit)
{
    int x = get_global_id(0), y = get_global_id(1);
    float cx = -2.0f + x * pixel, cy = -1.25f + y * pixel, zx = 0, zy = 0;
    int n = 0;
    while (n < limit && zx * zx + zy * zy <= 4) {
        float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
        n++;
    }
    out[y * get_global_size(0) + x] = n;
}
