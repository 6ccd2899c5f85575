// return from the middle of kernels and of helper functions, out of loops and branches.

int find(global const int *a, int n, int wanted)
{
    for (int k = 0; k < n; k++) {
        if (a[k] == wanted)
            return k;
        if (a[k] < 0)
            return -2;
    }
    return -1;
}

int classify(int x)
{
    if (x < 0) return -1;
    if (x == 0) return 0;
    while (x > 1) {
        if (x & 1) return x;
        x >>= 1;
    }
    return 1000;
}

kernel void search(global const int *a, global int *out, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    out[2 * i] = find(a, n, i * 10);
    if (i == 3) return;
    out[2 * i + 1] = classify(i - 2);
}
// run: search global=16
// arg a: int[8] = {0, 30, 20, 10, 50, -1, 60, 70}
// arg out: int[32] = 99
// arg n: int = 8
// expect out if i < 16: {0, -1, 3, -1, 2, 0, 1, 99, -2, 1000, 4, 3, -2, 1000, -2, 5}

kernel void all_paths(global int *out, int n)
{
    int i = get_global_id(0);
    if (i < n) {
        out[i] = 1;
        return;
    } else {
        out[i] = 2;
        return;
    }
    out[i] = 3;
}
// run: all_paths global=4
// arg out: int[4]
// arg n: int = 2
// expect out: {1, 1, 2, 2}
