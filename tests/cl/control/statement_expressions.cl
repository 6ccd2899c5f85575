// break, continue, goto and return out of statement expressions.

int helper(int x)
{
    return 1 + ({ if (x == 3) return 100; x * 2; });
}

kernel void jumps(global const int *a, global int *out)
{
    int i = get_global_id(0), s = 0;
    for (int k = 0; k < 8; k++) {
        s += 10 + ({
            if (k == a[i]) break;
            if (k == a[i] - 2) continue;
            k;
        });
        int y = ({ if (s > 60) goto done; 1; });
        s += y;
    }
    s += 1000;
done:
    switch (i) {
    case 0: s += 5 * ({ if (s > 0) break; 1; });
    case 1: s += 100000;
    }
    do {
        if (({ if (i == 2) break; i; }) == 3) s += 2000000;
    } while (0);
    out[i] = s + helper(i);
}
// run: jumps global=4
// arg a: int[4] = {3, 9, 0, 2}
// arg out: int[4]
// expect out: {1025, 100067, 1005, 2001112}
