// switch: fallthrough, default in the middle, empty cases, ranges of signed values, break and continue, nesting.

kernel void fall(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int r = 0;
    switch (a[i]) {
    case 0:
        r += 1;
    case 1:
        r += 10;
        break;
    default:
        r += 100;
    case 2:
    case 3:
        r += 1000;
        break;
    case -5:
        r = 7;
    }
    out[i] = r;
}
// run: fall global=8
// arg a: int[8] = {0, 1, 2, 3, 4, -5, -1, 0}
// arg out: int[8]
// expect out: {11, 10, 1000, 1000, 1100, 7, 1100, 11}

kernel void in_loop(global int *out)
{
    int i = get_global_id(0);
    int r = 0;
    for (int k = 0; k < 10; k++) {
        switch ((k + i) % 5) {
        case 0: continue;
        case 1: r += 1; break;
        case 2:
            switch (k & 1) {
            case 0: r += 10; break;
            default: r += 20;
            }
            break;
        case 3:
            if (k > 6) return;
            r += 100;
        }
        r += 1000;
        out[i] = r;
    }
}
// run: in_loop global=5
// arg out: int[5]
// expect out: {6132, 6132, 8232, 8232, 7132}

kernel void no_default(global const uchar *a, global int *out)
{
    size_t i = get_global_id(0);
    int r = -1;
    switch (a[i]) {
    case 'a': { int t = 5; r = t; break; }
    case 'b' + 1: r = 6;
    }
    out[i] = r;
}
// run: no_default global=4
// arg a: uchar[4] = {97, 98, 99, 255}
// arg out: int[4]
// expect out: {5, -1, 6, -1}

kernel void wide(global const long *a, global int *out)
{
    size_t i = get_global_id(0);
    switch (a[i]) {
    case 0x100000000: out[i] = 1; break;
    case -1: out[i] = 2; break;
    case 0: out[i] = 3; break;
    default: out[i] = 4;
    }
}
// run: wide global=4
// arg a: long[4] = {4294967296, -1, 0, 1}
// arg out: int[4]
// expect out: {1, 2, 3, 4}
