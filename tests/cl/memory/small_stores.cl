// Stores of bytes and shorts by adjacent work-items: none may change the other bytes of its word.
// for: T = char, uchar, short, ushort

kernel void neighbours(global T *a, global const T *b)
{
    int i = get_global_id(0);
    a[i] = b[i] + 1;
}
// run: neighbours global=4096 local=64
// arg a: $T[4096]
// arg b: $T[4096] = rand(min_of($T), max_of($T))
// expect a: b + 1

kernel void odd_ones(global T *a, int first)
{
    int i = get_global_id(0);
    a[first + 2 * i] = i;
}
// run: odd_ones global=1000
// arg a: $T[2003] = -1
// arg first: int = 1
// expect a if i % 2 == 1 && i < 2000: i / 2

kernel void increments(global T *a)
{
    int i = get_global_id(0);
    for (int k = 0; k < 50; k++)
        a[i] += 3;
}
// run: increments global=512
// arg a: $T[512] = i
// expect a: i + 150

kernel void through_local(global T *a, local T *l)
{
    int i = get_global_id(0), k = get_local_id(0), n = get_local_size(0);
    l[n - 1 - k] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = l[k];
}
// run: through_local global=128 local=32
// arg a: $T[128] = i
// arg l: local 64
// expect a: i / 32 * 32 + 31 - i % 32
