// && and || evaluate their right side only when needed; ! gives 0 or 1.

int touch(global int *counter, int value)
{
    *counter += 1;
    return value;
}

kernel void shortcut(global const int *a, global int *counts, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i];
    int r = 0;
    if (x > 2 && touch(&counts[i], x) > 4) r |= 1;
    if (x > 2 || touch(&counts[i], x) == 1) r |= 2;
    if (!(x & 1)) r |= 4;
    r |= (x && 7) << 3;
    r |= (!x) << 4;
    r |= (x ? 1 : touch(&counts[i], 1) * 0) << 5;
    out[i] = r;
}
// run: shortcut global=8
// arg a: int[8] = i
// arg counts: int[8]
// arg out: int[8]
// expect counts: 1 + (i == 0)
// expect out: (a > 4) | (a > 2 || a == 1) * 2 | (a % 2 == 0) * 4 | (a != 0) * 8 | (a == 0) * 16 | (a != 0) * 32

kernel void floats(global const float *a, global int *out)
{
    size_t i = get_global_id(0);
    out[i] = (a[i] && 1) + 2 * !a[i];
}
// run: floats global=4
// arg a: float[4] = {0, 0.25, -0.0, nan}
// arg out: int[4]
// expect out: {2, 1, 2, 1}
