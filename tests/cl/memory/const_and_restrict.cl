// const, restrict, volatile and the spellings with and without underscores.

__kernel void spelled(__global const int * restrict a, const __global int *b, global int volatile *out, const int n, __private float f)
{
    __private int i = get_global_id(0);
    const int k = n + 1;
    const int *p = &k;
    volatile int v = i;
    v += *p;
    out[i] = a[i] + b[i] * v + (int)f;
}
// run: spelled global=8
// arg a: int[8] = i
// arg b: int[8] = i + 1
// arg out: int[8]
// arg n: int = 3
// arg f: float = 2.75
// expect out: a + b * (i + 4) + 2

// The same buffer may be passed twice without `restrict`.
kernel void shift(global int *a, global int *b)
{
    int i = get_global_id(0);
    b[i + 8] = a[i];
}
// run: shift global=8
// arg a: int[8] = i
// arg b: int[16]
// expect b if i >= 8: i - 8
