// bool holds 0 or 1 whatever value is assigned; size_t and ptrdiff_t have the device's address width.

bool is_odd(int x) { return x & 5; }

kernel void bools(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    bool b = a[i];
    bool c = 0.5f;
    b += 0;
    out[i] = b + 2 * c + 4 * is_odd(a[i]) + 8 * (bool)a[i] + 16 * (sizeof(bool) == 1) + 32 * (true && !false);
}
// run: bools global=4
// arg a: int[4] = {0, 256, 4, -1}
// arg out: int[4]
// expect out: {50, 59, 63, 63}

kernel void sizes(global int *out)
{
    size_t n = 5;
    ptrdiff_t d = -3;
    out[0] = n + d;
    out[1] = sizeof(size_t) == sizeof(ptrdiff_t) && sizeof(size_t) == sizeof(out) && sizeof(uintptr_t) == sizeof(void *);
    out[2] = d < 0;
    out[3] = (int)(n - 6);
}
// run: sizes global=1
// arg out: int[4]
// expect out: {2, 1, 1, -1}
