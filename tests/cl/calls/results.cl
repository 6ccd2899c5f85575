// Functions that return pointers, vectors and structures, along a tree of 65,536 calls.
// requires: !shaders

#define LEVELS(F) F(7, 8) F(6, 7) F(5, 6) F(4, 5) F(3, 4) F(2, 3) F(1, 2) F(0, 1)

static global uint *walk8(global uint *p, uint k)
{
    *p += k;
    return k & 1 ? p - 1 : p + 1;
}
#define LEVEL(N, NEXT) \
    static global uint *walk##N(global uint *p, uint k) \
    { \
        k *= 4; \
        return walk##NEXT(walk##NEXT(walk##NEXT(walk##NEXT(p, k), k + 1), k + 2), k + 3); \
    }
LEVELS(LEVEL)
#undef LEVEL

kernel void global_results(global uint *sums, global int *moved)
{
    global uint *p = sums + 2 * get_global_id(0);
    moved[get_global_id(0)] = walk0(p, 0) - p;
}
// run: global_results global=9
// arg sums: uint[18]
// arg moved: int[9] = 7
// expect sums: i % 2 ? 1073741824 : 1073709056
// expect moved: 0

static uint *choose8(uint *a, uint *b, uint k)
{
    uint *p = k & 1 ? a : b;
    *p += k;
    return p;
}
#define LEVEL(N, NEXT) \
    static uint *choose##N(uint *a, uint *b, uint k) \
    { \
        k *= 4; \
        *choose##NEXT(a, b, k) += 1; \
        choose##NEXT(a, b, k + 1); \
        choose##NEXT(b, a, k + 2); \
        return choose##NEXT(a, b, k + 3); \
    }
LEVELS(LEVEL)
#undef LEVEL

kernel void private_results(global uint *out)
{
    uint a = get_global_id(0), b[2] = {0, 5};
    uint *p = choose0(&a, &b[1], 0);
    out[3 * get_global_id(0)] = a + b[1] + b[0];
    out[3 * get_global_id(0) + 1] = p == &a;
    out[3 * get_global_id(0) + 2] = *p - a;
}
// run: private_results global=9
// arg out: uint[27]
// expect out: i % 3 == 0 ? 2147450880 + 21845 + 5 + i / 3 : i % 3 == 1 ? 1 : 0

typedef struct { uint sum; float4 v; char c; } Record;

static Record pair8(Record r, bool odd, ushort2 h, long k)
{
    r.sum += odd ? (uint)k : 0;
    r.v += (float4)(1, h.x, odd, 0);
    r.c += h.y;
    return r;
}
#define LEVEL(N, NEXT) \
    static Record pair##N(Record r, bool odd, ushort2 h, long k) \
    { \
        k *= 4; \
        r = pair##NEXT(r, k % 2, h, k); \
        r = pair##NEXT(r, !odd, h.yx, k + 1); \
        r.sum++; \
        r = pair##NEXT(r, odd, h, k + 2); \
        return pair##NEXT(r, k % 2 == 0, h.yx, k + 3); \
    }
LEVELS(LEVEL)
#undef LEVEL

// The sums are those of a loop over the same leaves.
kernel void records(global uint *out, global float4 *v, global uint *expected, global float4 *w)
{
    uint i = get_global_id(0);
    Record r = {i, (float4)(0), 1};
    r = pair0(r, i & 1, (ushort2)(1, 2), 0);
    out[2 * i] = r.sum;
    out[2 * i + 1] = r.c;
    v[i] = r.v;
    uint sum = i + 21845;
    char c = 1;
    float4 total = 0;
    for (uint k = 0; k < 65536; k++) {
        uint odd = i & 1, swapped = 0;
        for (int level = 14; level >= 0; level -= 2) {
            uint digit = k >> level & 3;
            odd = digit == 0 ? 0 : digit == 1 ? !odd : digit == 2 ? odd : 1;
            swapped ^= digit & 1;
        }
        sum += odd ? k : 0;
        total += (float4)(1, 1 + swapped, odd, 0);
        c += 2 - swapped;
    }
    expected[2 * i] = sum - r.sum;
    expected[2 * i + 1] = (uint)c - r.c;
    w[i] = total - r.v;
}
// run: records global=5
// arg out: uint[10]
// arg v: float4[5]
// arg expected: uint[10] = 1
// arg w: float4[5] = 1
// expect out: _
// expect v: {65536, 98304, _, 0}
// expect expected: 0
// expect w: 0
