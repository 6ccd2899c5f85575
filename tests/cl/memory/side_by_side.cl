// Accesses of a work-item to adjacent fields and words: they may be combined if no other access intervenes.
// for: T = int, float, ulong

typedef struct { T a, b, c, d, e, f, g, h; } Fields;

kernel void sums(global const Fields *from, global Fields *to)
{
    size_t i = get_global_id(0);
    Fields x;
    x.a = from[i].h; x.c = from[i].a; x.b = from[i].c; x.d = from[i].b;
    x.e = from[i].g + from[i].f; x.f = from[i].d; x.g = from[i].e; x.h = from[i].a;
    to[i].h = x.h; to[i].g = x.g; to[i].a = x.a; to[i].b = x.b; to[i].c = x.c; to[i].f = x.f; to[i].e = x.e; to[i].d = x.d;
}
// run: sums global=64 local=32
// arg from: $T[512] = rand(0, 1000)
// arg to: $T[520]
// expect to if i < 512: (i % 8 == 0 ? from[i + 7] : i % 8 == 1 ? from[i + 1] : i % 8 == 2 ? from[i - 2] : i % 8 == 3 ? from[i - 2] :
//     i % 8 == 4 ? from[i + 2] + from[i + 1] : i % 8 == 5 ? from[i - 2] : i % 8 == 6 ? from[i - 2] : from[i - 7])

// Stores between loads, to the same memory or possibly so; overwritten stores; loads of stored values.
kernel void between(global T *a, global T *b)
{
    size_t i = 4 * get_global_id(0);
    T x = a[i], y = a[i + 1];
    a[i + 2] = x + y;
    T z = a[i + 2], w = a[i + 3];
    b[i] = z;
    b[i + 1] = w;
    b[i] = b[i + 1] + z;
    b[i + 2] = a[i + 2];
    a[i + 3] = b[i];
    b[i + 3] = a[i + 3];
}
// run: between global=32 local=32
// arg a: $T[128] = rand(0, 1000)
// arg b: $T[128]
// expect a: (i % 4 == 2 ? a[i - 2] + a[i - 1] : i % 4 == 3 ? a[i] + a[i - 3] + a[i - 2] : a)
// expect b: (i % 4 == 0 ? a[i + 3] + a[i] + a[i + 1] : i % 4 == 1 ? a[i + 2] : i % 4 == 2 ? a[i - 2] + a[i - 1] : a[i] + a[i - 3] + a[i - 2])

// The same buffer twice.
kernel void overlapping(global T *a, global T *b)
{
    size_t i = 4 * get_global_id(0);
    T x = a[i];
    b[i + 1] = x + 1;
    T y = a[i + 1];
    b[i + 2] = y + 1;
    b[i + 3] = a[i + 2] + a[i + 1];
}
// run: overlapping global=16 local=16
// arg a: $T[64] = rand(0, 1000)
// arg b: same a
// expect a: (i % 4 == 0 ? a : i % 4 == 1 ? a[i - 1] + 1 : i % 4 == 2 ? a[i - 2] + 2 : 2 * a[i - 3] + 3)

// Accesses must not move past guards or barriers. Offsets are not multiples; contiguous ranges start at any address.
kernel void guarded(global const T *a, global T *out, int n, int first, local T *tile)
{
    int i = get_global_id(0), lane = get_local_id(0);
    T sum = a[first + 4 * i];
    if (2 * i + 1 < n) sum += a[first + 4 * i + 1];
    tile[lane] = sum;
    out[4 * i] = sum;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[4 * i + 1] = tile[15 - lane] + out[4 * (i + 15 - 2 * lane)];
    for (int k = 0; k < 3; k++) out[4 * i + 2] += a[first + 4 * i + k];
    out[4 * i + 3] = out[4 * i + 2];
}
// run: guarded global=32 local=16
// arg a: $T[134] = rand(0, 100)
// arg out: $T[128]
// arg n: int = 40
// arg first: int = 3
// arg tile: local 256
// expect out if i % 4 == 0: a[3 + i] + (i / 2 + 1 < 40 ? a[4 + i] : 0)
// expect out if i % 4 == 2: a[i + 1] + a[i + 2] + a[i + 3]
// expect out if i % 4 == 3: a[i] + a[i + 1] + a[i + 2]
// expect out if i % 4 == 1: 2 * (a[3 + (i / 64 * 64 + 60 - i % 64 / 4 * 4)] + (((i / 64 * 64 + 60 - i % 64 / 4 * 4)) / 2 + 1 < 40 ? a[4 + (i / 64 * 64 + 60 - i % 64 / 4 * 4)] : 0))
