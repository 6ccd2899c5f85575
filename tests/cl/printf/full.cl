// A full buffer: calls without space return -1. Records here are three words; 1 MiB holds 87,381 of them.

kernel void fill(global int *count)
{
    for (int k = 0; k < 100; ++k)
        if (printf("%.0s", "nothing") == 0)
            atomic_inc(count);
}
// run: fill global=2000 local=50
// arg count: int[1]
// requires: wgcl int64
// expect count: 87381

kernel void after(void)
{
    printf("the next launch prints again\n");
}
// run: after global=1
// prints: the next launch prints again
