// The integer operators on vectors of every width: lane by lane, without promotion.
// for: T = char, uchar, short, ushort, int, uint, long, ulong
// for: N = 2, 3, 4, 8, 16
// build: -DV=$T$N -DLOAD=vload$N -DSTORE=vstore$N

kernel void ops(global const T *a, global const T *b, global T *add, global T *sub, global T *mul, global T *div, global T *mix)
{
    size_t i = get_global_id(0);
    V x = LOAD(i, a), y = LOAD(i, b);
    STORE(x + y, i, add);
    STORE(x - y, i, sub);
    STORE(x * y, i, mul);
    STORE(x / y, i, div);
    STORE((x & y) ^ (~x | (T)5), i, mix);
}
// run: ops global=4
// arg a: $T[$N * 4] = rand(min_of($T), max_of($T))
// arg b: $T[$N * 4] = {1, 2, 3, 7, 10, 100, max_of($T), 64}
// arg add: $T[$N * 4]
// arg sub: $T[$N * 4]
// arg mul: $T[$N * 4]
// arg div: $T[$N * 4]
// arg mix: $T[$N * 4]
// expect add: a + b
// expect sub: a - b
// expect mul: a * b
// expect div: a / b
// expect mix: (a & b) ^ (~a | 5)
