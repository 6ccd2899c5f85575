// for, while and do loops, break and continue, nesting, empty parts.

kernel void kinds(global int *out, int n)
{
    int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++) {
        if (k == i) continue;
        if (k > 6) break;
        s += k;
    }
    int k = i;
    while (k) {
        s += 100;
        k >>= 1;
    }
    do s += 1000; while (s < 3000);
    for (;;) {
        if (s++ & 1) break;
    }
    for (k = 0; k < 3; ) k++;
    out[i] = s + k * 100000;
}
// run: kinds global=8
// arg out: int[8]
// arg n: int = 20
// expect out: {303022, 303122, 303220, 303220, 303318, 303318, 303316, 303322}

kernel void nested(global int *out)
{
    int i = get_global_id(0);
    int s = 0;
    for (int y = 0; y < 10; y++) {
        for (int x = 0; x < 10; x++) {
            if (x == y) continue;
            if (x * y > 5 * i) break;
            int t = x;
            while (t > 0) {
                t -= 2;
                if (t == 1) goto next;
                s += t;
            }
            do {
                if (s % 3 == 0) break;
                s++;
            } while (1);
        next:;
        }
        if (s > 60) return;
        out[i] = s;
    }
}
// run: nested global=4
// arg out: int[4] = -1
// expect out: {48, 54, 48, 48}

kernel void long_loop(global uint *out, uint n)
{
    uint i = get_global_id(0);
    uint x = i + 1;
    for (uint k = 0; k < n; k++)
        x = x * 1664525u + 1013904223u;
    out[i] = x;
}
// run: long_loop global=4
// arg out: uint[4]
// arg n: uint = 60000
// expect out: {2705140065, 3700251362, 400395363, 1395506660}
