// A null buffer argument compares equal to NULL.

kernel void maybe(global const int *a, global int *out)
{
    int i = get_global_id(0);
    out[i] = a ? a[i] : -1;
}
// run: maybe global=4
// arg a: null
// arg out: int[4]
// expect out: -1
// run: maybe global=4
// arg a: int[4] = i
// arg out: int[4]
// expect out: i
