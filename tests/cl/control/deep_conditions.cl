// Conditions nested deeper than drivers support: 200 levels, with code after each, in loops, and with jumps.

#define IF(n, inside) if (x > n) { s += n; inside s ^= n; }
#define IF4(n, inside) IF(n, IF(n + 1, IF(n + 2, IF(n + 3, inside))))
#define IF16(n, inside) IF4(n, IF4(n + 4, IF4(n + 8, IF4(n + 12, inside))))
#define IF64(n, inside) IF16(n, IF16(n + 16, IF16(n + 32, IF16(n + 48, inside))))

kernel void plain(global const int *a, global int *o)
{
    int i = get_global_id(0), x = a[i], s = 0;
    IF64(0, IF64(64, IF64(128, IF4(192, o[i + 16] = i;))))
    o[i] = s;
}
// run: plain global=16
// arg a: int[16] = {0, 1, 2, 3, 50, 77, 78, 79, 80, 100, 150, 194, 195, 196, 197, 500}
// arg o: int[32] = -1
// expect o: {0, 0, 0, 0, 1224, 2850, 3002, 3142, 3160, 4950, 11174, 18720, 18720, 19110, 19110, 19110, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 13, 14, 15}

kernel void jumps(global const int *a, global int *o)
{
    int i = get_global_id(0), x = a[i], s = 0;
    for (int k = 0; k < 3; k++) {
        IF64(0, if (x == 70) continue; IF16(64, if (x == 90) break; IF16(80, if (x == 99) { o[i] = -s; return; })))
        s += 1000;
    }
    o[i] = s;
}
// run: jumps global=16
// arg a: int[16] = {0, 5, 63, 64, 70, 71, 90, 91, 97, 99, 100, 120, 80, 81, 96, 95}
// arg o: int[16] = -1
// expect o: {3000, 3034, 8838, 9048, 6048, 10506, 3160, 15316, 16680, -4560, 16680, 16680, 12480, 12832, 16680, 16470}

int helper(int x)
{
    int s = 0;
    IF64(0, )
    return s;
}

kernel void calls(global const int *a, global int *o)
{
    int i = get_global_id(0), x = a[i], s = 0;
    IF16(0, IF16(16, s += helper(x);))
    o[i] = s;
}
// run: calls global=16
// arg a: int[16] = {0, 5, 63, 64, 70, 71, 90, 91, 97, 99, 100, 120, 80, 81, 96, 95}
// arg o: int[16] = -1
// expect o: {0, 14, 2446, 2512, 2512, 2512, 2512, 2512, 2512, 2512, 2512, 2512, 2512, 2512, 2512, 2512}
