// Chunks of 16 elements, and a loop for the rest. The condition around the loop limits its 64-bit bound.

static int2 extremes(global const uchar *pixels, size_t count)
{
    if (count < 16) {
        int2 found = pixels[0];
        for (size_t i = 1; i < count; i++)
            found = (int2)(min(found.x, (int)pixels[i]), max(found.y, (int)pixels[i]));
        return found;
    }
    uchar16 all = vload16(0, pixels);
    uchar8 low = min(all.lo, all.hi), high = max(all.lo, all.hi);
    uchar4 low4 = min(low.lo, low.hi), high4 = max(high.lo, high.hi);
    uchar2 low2 = min(low4.lo, low4.hi), high2 = max(high4.lo, high4.hi);
    return (int2)(min(low2.x, low2.y), max(high2.x, high2.y));
}

kernel void shortest(global const uchar *pixels, global int *out, uint n)
{
    size_t i = get_global_id(0), count = n - i;
    int low = 256, high = -1;
    for (size_t at = 0; at < count; at += 16) {
        int2 found = extremes(pixels + at, count - at);
        low = min(low, found.x);
        high = max(high, found.y);
    }
    out[2 * i] = low;
    out[2 * i + 1] = high;
}
// run: shortest global=40 local=1
// arg pixels: uchar[943] = 200 - (i * 61 + 4) % 149
// arg out: int[80]
// arg n: uint = 943
// expect out: i % 2 == 0 ? 52 : 200
