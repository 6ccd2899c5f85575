// A 3 x 3 box blur of a byte image with clamped edges.

kernel void blur(global const uchar *in, global uchar *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    int s = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            s += in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
    out[y * width + x] = (s + 4) / 9;
}
// run: blur global=40x24 local=8x8
// arg in: uchar[777] = rand(0, 255)
// arg out: uchar[777]
// arg width: int = 37
// arg height: int = 21
// expect out: (sum(k, 0, 9, in[clamp(i / 37 + k / 3 - 1, 0, 20) * 37 + clamp(i % 37 + k % 3 - 1, 0, 36)]) + 4) / 9
