// Accesses of 32 bytes or more. With `WGCL_EXCHANGE=1`, work-items load and store for each other, with equal results.
// for: E = float, double, int
// for: N = 8

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define T JOIN(E, N)

kernel void copy(global const T *a, global T *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i];
}
// run: copy global=96 local=32
// arg a: $E$N[96] = rand(-1000, 1000)
// arg out: $E$N[100]
// expect out if i < 96 * $N: a

kernel void in_place(global T *a)
{
    size_t i = get_global_id(0);
    a[i] += a[i] + (T)(3);
    a[i] *= (T)(2);
}
// run: in_place global=64 local=16
// arg a: $E$N[64] = rand(-100, 100)
// expect a: (a + a + 3) * 2

// One access differs from the others: one lane.
kernel void in_part(global T *a, global const T *b)
{
    size_t i = get_global_id(0);
    a[i] = b[i];
    ((global E *)(a + i))[1] += 5;
    a[i] += (T)(1);
}
// run: in_part global=64 local=64
// arg a: $E$N[64] = rand(-100, 100)
// arg b: $E$N[64] = rand(-100, 100)
// expect a: b + 1 + (i % $N == 1 ? 5 : 0)

// The accesses of adjacent work-items are shifted or reversed.
kernel void elsewhere(global const T *a, global T *out, int by)
{
    int i = get_global_id(0);
    out[i] = a[i + by] + a[get_global_size(0) - 1 - i] + a[by];
}
// run: elsewhere global=64 local=32
// arg a: $E$N[80] = rand(-1000, 1000)
// arg out: $E$N[64]
// arg by: int = 7
// expect out: a[i + 7 * $N] + a[(63 - i / $N) * $N + i % $N] + a[7 * $N + i % $N]

// Loops with uniform and varying numbers of iterations.
kernel void sums(global const T *a, global T *out, int count)
{
    int i = get_global_id(0);
    T sum = (T)(0);
    for (int k = 0; k < count; k++) sum += a[i + k * get_global_size(0)];
    for (int k = 0; k < i % 3; k++) sum += a[i + k * get_global_size(0)];
    out[i] = sum;
    if (i % 5 == 2) return;
    out[i] += a[i];
}
// run: sums global=64 local=32
// arg a: $E$N[256] = rand(-1000, 1000)
// arg out: $E$N[64]
// arg count: int = 4
// expect out: (a[i] + a[i + 64 * $N] + a[i + 128 * $N] + a[i + 192 * $N] + (i / $N % 3 > 0 ? a[i] : 0) +
//     (i / $N % 3 > 1 ? a[i + 64 * $N] : 0) + (i / $N % 5 == 2 ? 0 : a[i]))

// Guards, and groups of two dimensions.
kernel void guarded(global const T *a, global T *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    out[y * width + x] = a[y * width + x] + (T)(1);
}
// run: guarded global=24x8 local=8x4
// arg a: $E$N[133] = rand(-1000, 1000)
// arg out: $E$N[133]
// arg width: int = 19
// arg height: int = 7
// expect out: a + 1
// run: guarded global=16x8 local=8x8
// arg a: $E$N[128] = rand(-1000, 1000)
// arg out: $E$N[128]
// arg width: int = 16
// arg height: int = 8
// expect out: a + 1

// A group in which some work-items have taken another branch before.
kernel void after_a_loop(global const T *a, global T *out, global const int *iterations)
{
    int i = get_global_id(0), k = 0, n = iterations[i];
    while (k * k < n) k++;
    if (n % 2) k = -k;
    out[i] = a[i] + (T)(k);
}
// run: after_a_loop global=64 local=64
// arg a: $E$N[64] = rand(-1000, 1000)
// arg out: $E$N[64]
// arg iterations: int[64] = (i * 7) % 50
// expect out: a + ceil(sqrt(i / $N * 7 % 50)) * (i / $N * 7 % 50 % 2 ? -1 : 1)

// Complete and incomplete subgroups, with a result that is used later, and an in-place store.
kernel void after_a_guard(global const T *a, global T *out, global T *twice, int n)
{
    int i = get_global_id(0);
    T value = (T)(1);
    if (i < n) {
        for (int k = 0; k < 3; k++) value += a[i + k];
        twice[i] *= (T)(2);
    }
    out[i] = value;
}
// run: after_a_guard global=128 local=64
// arg a: $E$N[131] = rand(-1000, 1000)
// arg out: $E$N[128]
// arg twice: $E$N[128] = rand(-1000, 1000)
// arg n: int = 107
// expect out: 1 + (i / $N < 107 ? a[i] + a[i + $N] + a[i + 2 * $N] : 0)
// expect twice: twice * (i / $N < 107 ? 2 : 1)
// run: after_a_guard global=97
// arg a: $E$N[131] = rand(-1000, 1000)
// arg out: $E$N[97]
// arg twice: $E$N[97] = rand(-1000, 1000)
// arg n: int = 90
// expect out: 1 + (i / $N < 90 ? a[i] + a[i + $N] + a[i + 2 * $N] : 0)
// expect twice: twice * (i / $N < 90 ? 2 : 1)
