// Barriers in helpers, loops, switches and after non-uniform control flow, and uniform returns before them.

int exchange(local int *m, int value)
{
    int l = get_local_id(0), n = get_local_size(0);
    m[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = m[(l + 1) % n];
    barrier(CLK_LOCAL_MEM_FENCE);
    return other;
}

kernel void after_divergence(global const int *a, global int *out, local int *m)
{
    int i = get_global_id(0), x = a[i];
    if (x > 5) {
        for (int k = 0; k < x; k++) {
            if (k == 7) continue;
            if (k == 12) break;
            x += k & 1;
        }
    } else if (x < 2) {
        x = -x;
    }
    x = exchange(m, x);
    switch (x & 3) {
    case 0: x += 100;
    case 1: x += 1000; break;
    case 2: while (x < 50) x *= 2;
    }
    out[i] = exchange(m, x);
}
// run: after_divergence global=8 local=8
// arg a: int[8] = {0, 1, 2, 3, 6, 9, 20, 4}
// arg out: int[8]
// arg m: local 32
// expect out: {64, 3, 1009, 56, 1025, 1104, 1100, -1}

kernel void uniform(global int *out, local int *m, int mode, int iterations)
{
    int i = get_global_id(0), l = get_local_id(0), x = l;
    if (mode == 0) { out[i] = -1; return; }
    if (get_group_id(0) == 1) return;
    for (int k = 0; k < iterations; k++) {
        if (k == 3) continue;
        switch (mode) {
        case 1: x = exchange(m, x) + 1; break;
        case 2:
            m[l] = x;
            barrier(CLK_LOCAL_MEM_FENCE);
            x = m[7 - l];
            barrier(CLK_LOCAL_MEM_FENCE);
        default:
            if (k == 4) goto done;
        }
    }
done:
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = x;
}
// run: uniform global=16 local=8
// arg out: int[16]
// arg m: local 32
// arg mode: int = 0
// arg iterations: int = 5
// expect out: -1
// run: uniform global=16 local=8
// arg out: int[16]
// arg m: local 32
// arg mode: int = 1
// arg iterations: int = 5
// expect out if i < 8: (i + 4) % 8 + 4
// run: uniform global=16 local=8
// arg out: int[16]
// arg m: local 32
// arg mode: int = 2
// arg iterations: int = 9
// expect out if i < 8: i
