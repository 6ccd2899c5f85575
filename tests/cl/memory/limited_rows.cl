// Accesses whose indices are clamped to the bounds: contiguous except at the borders.
// for: T = uchar, short, int, long

kernel void limited(global const T *a, global T *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    int left = clamp(x - 3, 0, width - 1), right = min(x + 2, width - 1), above = max(y - 1, 0);
    out[y * width + x] = a[y * width + left] * 3 + a[above * width + right];
}
// run: limited global=64x3 local=32x1
// arg a: $T[192] = rand(0, 60)
// arg out: $T[192]
// arg width: int = 64
// arg height: int = 3
// expect out: a[i / 64 * 64 + max(i % 64 - 3, 0)] * 3 + a[max(i / 64 - 1, 0) * 64 + min(i % 64 + 2, 63)]

// The limit is in the middle of a vector, and some work-items are inactive.
kernel void reversed(global const T *a, global T *out, int last, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    T here = a[i < last ? i : last];
    out[i] = here - a[min(i, 5) + 1];
}
// run: reversed global=96 local=48
// arg a: $T[96] = i
// arg out: $T[96]
// arg last: int = 37
// arg n: int = 83
// expect out if i < 83: min(i, 37) - (min(i, 5) + 1)

// Strided and backward accesses: not contiguous, clamped or not.
kernel void others(global const T *a, global T *out, int last)
{
    int i = get_global_id(0);
    out[i] = a[min(2 * i, last)] + a[max(last - i, 0)];
}
// run: others global=64 local=64
// arg a: $T[64] = i
// arg out: $T[64]
// arg last: int = 50
// expect out: min(2 * i, 50) + max(50 - i, 0)
