// A full buffer: calls without space return -1. Records here are nine words; 16 MiB holds 466,033 of them.

kernel void fill(global int *count)
{
    for (int k = 0; k < 100; ++k)
        if (printf("%.0s%.0s%.0s%.0s", "", "", "", "") == 0)
            atomic_inc(count);
}
// run: fill global=5000 local=50
// arg count: int[1]
// requires: wgcl int64
// expect count: 466033

kernel void after(void)
{
    printf("the next launch prints again\n");
}
// run: after global=1
// prints: the next launch prints again
