// Every arithmetic and bitwise operator on every integer type, on values that overflow.
// for: T = char, uchar, short, ushort, int, uint, long, ulong

kernel void ops(global const T *a, global const T *b, global T *add, global T *sub, global T *mul, global T *div, global T *rem)
{
    size_t i = get_global_id(0);
    T x = a[i], y = b[i];
    add[i] = x + y;
    sub[i] = x - y;
    mul[i] = x * y;
    div[i] = x / y;
    rem[i] = x % y;
}
// run: ops global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg b: $T[64] = {1, 2, 3, 7, 10, 100, max_of($T), 64, $T(-3), $T(-7)}
// arg add: $T[64]
// arg sub: $T[64]
// arg mul: $T[64]
// arg div: $T[64]
// arg rem: $T[64]
// expect add: a + b
// expect sub: a - b
// expect mul: a * b
// expect div: a / b
// expect rem: a % b

kernel void bits(global const T *a, global const T *b, global T *and, global T *or, global T *xor, global T *not, global T *neg, global T *plus)
{
    size_t i = get_global_id(0);
    T x = a[i], y = b[i];
    and[i] = x & y;
    or[i] = x | y;
    xor[i] = x ^ y;
    not[i] = ~x;
    neg[i] = -x;
    plus[i] = +x;
}
// run: bits global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg b: $T[64] = rand(min_of($T), max_of($T))
// arg and: $T[64]
// arg or: $T[64]
// arg xor: $T[64]
// arg not: $T[64]
// arg neg: $T[64]
// arg plus: $T[64]
// expect and: a & b
// expect or: a | b
// expect xor: a ^ b
// expect not: ~a
// expect neg: -a
// expect plus: a
