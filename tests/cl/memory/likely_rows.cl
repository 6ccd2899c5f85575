// Speculatively contiguous accesses, by quotients and remainders: contiguous if the divisor is at least the lane count.
// for: T = uchar, short, int, long

// Images of `width` with a row pitch of `pitch`.
kernel void padded(global const T *a, global T *out, uint width, uint pitch)
{
    uint i = get_global_id(0), at = i / width * pitch + i % width;
    out[at] = a[at] + 1;
}
// run: padded global=256 local=64
// arg a: $T[256] = rand(0, 100)
// arg out: $T[256] = 7
// arg width: uint = 64
// arg pitch: uint = 64
// expect out: a[i] + 1

// run: padded global=192 local=64
// arg a: $T[512] = rand(0, 100)
// arg out: $T[512] = 7
// arg width: uint = 24
// arg pitch: uint = 40
// expect out: i % 40 < 24 && i < 320 ? a[i] + 1 : 7

// run: padded global=100 local=50
// arg a: $T[256] = rand(0, 100)
// arg out: $T[256] = 7
// arg width: uint = 5
// arg pitch: uint = 8
// expect out: i % 8 < 5 && i < 160 ? a[i] + 1 : 7

// One buffer, read and written: elements at a distance are swapped.
kernel void change(global T *a, uint distance)
{
    uint i = get_global_id(0), low = i / distance * distance * 2 + i % distance, high = low + distance;
    T x = a[low], y = a[high];
    a[low] = y;
    a[high] = x;
}
// run: change global=64 local=64
// arg a: $T[128] = i
// arg distance: uint = 1
// expect a: i % 2 < 1 ? i + 1 : i - 1

// run: change global=64 local=64
// arg a: $T[128] = i
// arg distance: uint = 8
// expect a: i % 16 < 8 ? i + 8 : i - 8

// run: change global=64 local=64
// arg a: $T[128] = i
// arg distance: uint = 32
// expect a: i % 64 < 32 ? i + 32 : i - 32

// Bits of the index: some moved, some inverted.
kernel void bits(global const T *a, global T *out, global T *reversed, int mask, int other)
{
    int i = get_global_id(0);
    out[(i & ~mask) << 1 | (i & mask)] = a[i & 63];
    reversed[i ^ other] = a[(i & ~mask) << 1 | (i & mask)];
}
// run: bits global=64 local=32
// arg a: $T[128] = i
// arg out: $T[128] = 5
// arg reversed: $T[64] = 5
// arg mask: int = 31
// arg other: int = 16
// expect out: i % 64 < 32 ? i / 64 * 32 + i % 32 : 5
// expect reversed: i < 16 ? i + 16 : i < 32 ? i - 16 : i < 48 ? i + 48 : i + 16

// run: bits global=64 local=32
// arg a: $T[128] = i
// arg out: $T[128] = 5
// arg reversed: $T[64] = 5
// arg mask: int = 3
// arg other: int = 0
// expect out: i % 8 < 4 ? i / 8 * 4 + i % 4 : 5
// expect reversed: i / 4 * 8 + i % 4

// Only some work-items access memory.
kernel void some(global const T *a, global T *out, uint width, uint n)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    out[i / width * 48 + i % width] = a[i % width];
}
// run: some global=96 local=96
// arg a: $T[32] = i + 1
// arg out: $T[192] = 0
// arg width: uint = 32
// arg n: uint = 75
// expect out: i % 48 < 32 && i / 48 * 32 + i % 48 < 75 ? i % 48 + 1 : 0
