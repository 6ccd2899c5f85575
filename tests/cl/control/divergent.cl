// Work-items of one group take different branches and numbers of iterations, then meet at a barrier.

kernel void diverge(global const int *a, global int *out, local int *tmp)
{
    int l = get_local_id(0), i = get_global_id(0);
    int s = 0;
    if (l % 3 == 0) {
        for (int k = 0; k < a[i]; k++) s += k;
    } else if (l % 3 == 1) {
        int k = a[i];
        while (k > 0) { s += 2; k -= 3; }
    } else {
        s = -a[i];
    }
    tmp[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tmp[(l + 1) % get_local_size(0)];
}
// run: diverge global=12 local=6
// arg a: int[12] = {4, 7, 2, 5, 9, 1}
// arg out: int[12]
// arg tmp: local 24
// expect out: {6, -2, 10, 6, -1, 6}
