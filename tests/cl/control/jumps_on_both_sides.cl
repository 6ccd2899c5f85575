// A loop that ends with a branch whose both sides jump, in a loop that only some work-items run.

kernel void nested(global int *out, int outer, int inner)
{
    int i = get_global_id(0), sum = out[i];
    if (out[i] & 1) {
        for (int a = 0; a < outer; a++) {
            int j = a;
            for (;;) {
                sum += out[64 + (j & 63)];
                j++;
                if (j >= inner) break;
                else continue;
            }
            sum += 1000;
        }
    }
    out[i] = sum;
}
// run: nested global=64 local=32
// arg out: int[128] = i
// arg outer: int = 5
// arg inner: int = 9
// expect out if i < 64: i % 2 == 0 ? i : i + 5 * 1000 + sum(a, 0, 5, sum(j, a, 9, 64 + j))

// Work-items leave in different iterations, and some continue.
kernel void parted(global int *out, int outer)
{
    int i = get_global_id(0), sum = 0;
    for (int a = 0; a < outer; a++) {
        if ((i + a) % 3 == 0) continue;
        for (int j = 0;; j++) {
            sum += j + 1;
            if (j == (i & 3)) break;
            else continue;
        }
        if (sum > 40) break;
        else continue;
    }
    out[i] = sum;
}
// run: parted global=64 local=32
// arg out: int[64]
// arg outer: int = 3
// expect out: 2 * ((i % 4 + 1) * (i % 4 + 2) / 2)
