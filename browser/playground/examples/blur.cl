constant int weights[5] = {1, 4, 6, 4, 1};

// A Gaussian filter along the rows or the columns, one work-item per byte. Beyond an edge, the last pixel is repeated.
kernel void blur(global const uchar *from, global uchar *to, int width, int height, int vertical)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    int sum = 8;
    for (int i = -2; i <= 2; i++) {
        int sx = vertical ? x : clamp(x + i, 0, width - 1);
        int sy = vertical ? clamp(y + i, 0, height - 1) : y;
        sum += weights[i + 2] * from[sy * width + sx];
    }
    to[y * width + x] = sum >> 4;
}
