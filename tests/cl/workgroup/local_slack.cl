// Local arguments have extra memory, as on other drivers: some applications need it. The interpreter has none.
// requires: shaders
// for: T = uchar, int, long

kernel void swap(global T *a, local T *l, local T *m)
{
    int i = get_local_id(0);
    l[i] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    m[i] = 10 * l[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = l[1 - i] + m[1 - i];
}
// run: swap global=4 local=2
// arg a: $T[4] = i + 1
// arg l: local 1
// arg m: local 1
// expect a: 11 * a[i ^ 1]
