// Divisors that are uniform, but known only at run time.
// for: T = int, uint

kernel void argument(global const T *a, global T *quotients, global T *remainders, T divisor)
{
    size_t i = get_global_id(0);
    quotients[i] = a[i] / divisor;
    remainders[i] = a[i] % divisor;
}
// run: argument global=128
// arg a: $T[128] = rand(min_of($T), max_of($T))
// arg quotients: $T[128]
// arg remainders: $T[128]
// arg divisor: $T = 7
// expect quotients: a / 7
// expect remainders: a % 7
// run: argument global=128
// arg a: $T[128] = rand(min_of($T), max_of($T))
// arg quotients: $T[128]
// arg remainders: $T[128]
// arg divisor: $T = max_of($T)
// expect quotients: a / max_of($T)
// expect remainders: a % max_of($T)
// run: argument global=128
// arg a: $T[128] = rand(min_of($T), max_of($T))
// arg quotients: $T[128]
// arg remainders: $T[128]
// arg divisor: $T = 1
// expect quotients: a
// expect remainders: 0

// A different divisor in each iteration: quotient * divisor + remainder is the number; remainders have its sign.
kernel void loops(global const T *a, global const T *divisors, global T *out, int count)
{
    size_t i = get_global_id(0);
    T x = a[i], wrong = 0;
    for (int iteration = 0; iteration < count; iteration++) {
        T d = divisors[iteration], q = x / d, r = x % d;
        uint size = d < 0 ? 0u - (uint)d : (uint)d, rest = r < 0 ? 0u - (uint)r : (uint)r;
        if (q * d + r != x || rest >= size || (r != 0 && (r < 0) != (x < 0))) wrong++;
    }
    out[i] = wrong;
}
// run: loops global=256
// arg a: $T[256] = rand(min_of($T), max_of($T))
// arg divisors: $T[64] = i + 1
// arg out: $T[256]
// arg count: int = 64
// expect out: 0
// run: loops global=256
// arg a: $T[256] = rand(0, 99)
// arg divisors: $T[64] = max_of($T) - i
// arg out: $T[256]
// arg count: int = 64
// expect out: 0
// run: loops global=256
// arg a: $T[256] = min_of($T) + i
// arg divisors: $T[64] = max_of($T) / 2 + i - 31
// arg out: $T[256]
// arg count: int = 64
// expect out: 0

kernel void negative(global const int *a, global int *quotients, global int *remainders, int divisor)
{
    size_t i = get_global_id(0);
    quotients[i] = a[i] / divisor;
    remainders[i] = a[i] % divisor;
}
// run: negative global=64
// arg a: int[64] = (i - 32) * 60000000
// arg quotients: int[64]
// arg remainders: int[64]
// arg divisor: int = -7
// expect quotients: a / -7
// expect remainders: a % -7
// run: negative global=64
// arg a: int[64] = (i - 32) * 60000000
// arg quotients: int[64]
// arg remainders: int[64]
// arg divisor: int = -2147483648
// expect quotients: 0
// expect remainders: a
