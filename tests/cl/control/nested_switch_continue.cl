// A `continue` in a `switch` inside another `switch`, also three levels deep. With Mesa's GLSL compiler (22.3.6 and
// 25.0.7) it left only the inner `switch`, and the loop did not end.

kernel void k(global int *out)
{
    int i = get_global_id(0);
    int r = 0;
    for (int k = 0; k < 20; k++) {
        switch ((k + i) % 4) {
        case 0:
            switch (k % 3) {
            case 0:
                if (k & 4) continue;
                r += 1;
            case 1:
                r += 10;
                break;
            default:
                r += 100;
            }
            r += 1000;
            break;
        case 1:
            if ((k & 3) == (i & 3)) continue;
            switch (k & 3) {
            case 1:
                switch (k % 5) {
                case 0: continue;
                case 1: r += 5; break;
                default: r += 7;
                }
                r += 3;
            }
            r += 2;
            break;
        default:
            r += 10000;
        }
        if (r > 150000) break;
    }
    out[i] = r;
}
// run: k global=8
// arg out: int[8]
// expect out: {104177, 104141, 104231, 105241, 104177, 104141, 104231, 105241}
