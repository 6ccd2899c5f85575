// Rotations written as two shifts, in the forms that programs use.
// for: T = uint, ulong

#define WIDTH (sizeof(T) * 8)
#define ROTATED(x, n) (((x) << (n)) | ((x) >> (WIDTH - (n))))

kernel void constants(global const T *a, global T *out)
{
    size_t i = get_global_id(0);
    T x = a[i];
    T failures = ROTATED(x, 7) ^ rotate(x, (T)7);
    failures |= ROTATED(x + 77, 9) ^ rotate(x + 77, (T)9);
    failures |= ROTATED(x * 5 + 77, 11) ^ rotate(x * 5 + 77, (T)11);
    failures |= ROTATED(x * 6, 13) ^ rotate(x * 6, (T)13);
    failures |= ((x >> 3) ^ (x << (WIDTH - 3))) ^ rotate(x, (T)(WIDTH - 3));
    out[i] = failures;
}
// run: constants global=128
// arg a: $T[128] = rand(min_of($T), max_of($T))
// arg out: $T[128]
// expect out: 0

// Expressions that are not quite rotations.
kernel void others(global const T *a, global T *out)
{
    size_t i = get_global_id(0);
    T x = a[i];
    out[i * 4] = (x << 7) | (x >> (WIDTH - 8));
    out[i * 4 + 1] = ((x + 1) << 7) | (x >> (WIDTH - 7));
    out[i * 4 + 2] = ((x * 3) << 7) | ((x * 5) >> (WIDTH - 7));
    out[i * 4 + 3] = ((x + 1) << 7) | ((x + 3) >> (WIDTH - 7));
}
// run: others global=32
// arg a: $T[32] = i
// arg out: $T[128]
// expect out if i % 4 == 0: i / 4 * 128
// expect out if i % 4 == 1: (i / 4 + 1) * 128
// expect out if i % 4 == 2: i / 4 * 384
// expect out if i % 4 == 3: (i / 4 + 1) * 128

// By a variable amount: both shifts are modulo the width, so the result is right for 0.
kernel void amounts(global const T *a, global T *out, global T *twice)
{
    size_t i = get_global_id(0);
    T x = a[i], n = i;
    out[i] = ROTATED(x, n) ^ rotate(x, n);
    twice[i] = (x << n) ^ (x >> (WIDTH - n));
}
// run: amounts global=32
// arg a: $T[32] = i + 5
// arg out: $T[32]
// arg twice: $T[32]
// expect out: 0
// expect twice if i > 0: (a << i) + (a >> (bits_of($T) - i))
// expect twice if i == 0: 0
