kernel void convolve(global const uchar *from, global uchar *to, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), sum = 4;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += from[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
    to[y * width + x] = sum / 9;
}
