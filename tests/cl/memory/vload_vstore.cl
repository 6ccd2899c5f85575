// vload and vstore of every width, at addresses aligned to the element only.
// for: T = char, uchar, short, ushort, int, uint, float, long
// for: N = 2, 3, 4, 8, 16
// build: -DV=$T$N -DLOAD=vload$N -DSTORE=vstore$N

kernel void move(global const T *a, global T *b, local T *l, int shift)
{
    size_t i = get_global_id(0);
    V x = LOAD(i, a + shift);
    STORE(x, i, b + 3);
    STORE(x, i, l + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    V y = LOAD(get_global_size(0) - 1 - i, l + 1);
    STORE(y, i, b + 3 + N * 4);
    T p[N + 1];
    STORE(y, 0, p + 1);
    STORE(LOAD(0, p + 1) + x, 0, b + 3 + N * 8 + N * i);
}
// run: move global=4 local=4
// arg a: $T[$N * 4 + 1] = i + 1
// arg b: $T[$N * 12 + 3]
// arg l: local 1024
// arg shift: int = 1
// expect b if i >= 3 && i < 3 + $N * 4: i - 3 + 2
// expect b if i >= 3 + $N * 4 && i < 3 + $N * 8: (7 - (i - 3) / $N) * $N + (i - 3) % $N + 2
// expect b if i >= 3 + $N * 8: (11 - (i - 3) / $N) * $N + (i - 3) % $N + 2 + (i - 3 - $N * 8) + 2
