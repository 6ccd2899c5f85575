// Integers extended to long and compared with constants. The function hides the extension from the compiler.
// for: C = 0, 3, -3, 200, -2147483647, 2147483647, 2147483648, -2147483648, 4294967296, -2147483649

int __attribute__((noinline)) relations(long x, long y)
{
    return (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
}

kernel void compare(global const int *a, global int *left, global int *right)
{
    size_t i = get_global_id(0);
    left[i] = relations(a[i], C);
    right[i] = relations(C, a[i]);
}
// run: compare global=16
// arg a: int[16] = {0, 1, 2, 3, 4, -1, -2, -3, -4, 199, 200, 201, 2147483647, -2147483648, -2147483647, 2147483646}
// arg left: int[16]
// arg right: int[16]
// expect left: (a < $C) | (a <= $C) << 1 | (a > $C) << 2 | (a >= $C) << 3 | (a == $C) << 4 | (a != $C) << 5
// expect right: ($C < a) | ($C <= a) << 1 | ($C > a) << 2 | ($C >= a) << 3 | ($C == a) << 4 | ($C != a) << 5
