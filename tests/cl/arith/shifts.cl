// Shift counts are taken modulo the width of the promoted left operand; >> of signed values keeps the sign.
// for: T = int, uint, long, ulong

kernel void shift(global const T *a, global const int *n, global T *left, global T *right)
{
    size_t i = get_global_id(0);
    left[i] = a[i] << n[i];
    right[i] = a[i] >> n[i];
}
// run: shift global=64
// arg a: $T[64] = rand(min_of($T), max_of($T))
// arg n: int[64] = i % bits_of($T)
// arg left: $T[64]
// arg right: $T[64]
// expect left: a << n
// expect right: a >> n

kernel void over(global const T *a, global T *left, global T *right, int n)
{
    size_t i = get_global_id(0);
    left[i] = a[i] << n;
    right[i] = a[i] >> n;
}
// run: over global=8
// arg a: $T[8] = rand(min_of($T), max_of($T))
// arg left: $T[8]
// arg right: $T[8]
// arg n: int = bits_of($T) + 3
// expect left: a << 3
// expect right: a >> 3
