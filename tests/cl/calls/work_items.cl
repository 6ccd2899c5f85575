// Functions that query the work-item, call atomic functions and print, along a tree of 65,536 calls.
// requires: !shaders

#define LEVEL(F, NEXT) static void F(P, uint k) { k *= 4; NEXT(A, k); NEXT(A, k + 1); NEXT(A, k + 2); NEXT(A, k + 3); }
#define TREE(ROOT) \
    LEVEL(ROOT##7, ROOT##8) LEVEL(ROOT##6, ROOT##7) LEVEL(ROOT##5, ROOT##6) LEVEL(ROOT##4, ROOT##5) \
    LEVEL(ROOT##3, ROOT##4) LEVEL(ROOT##2, ROOT##3) LEVEL(ROOT##1, ROOT##2) LEVEL(ROOT##0, ROOT##1)

#define P global uint *out
#define A out
static void query8(P, uint k)
{
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    switch (k & 3) {
    case 0: out[4 * i] += get_global_id(0) + get_global_offset(1); break;
    case 1: out[4 * i + 1] += get_local_id(0) + 10 * get_local_id(1); break;
    case 2: out[4 * i + 2] += get_group_id(0) * get_num_groups(1); break;
    default: out[4 * i + 3] += get_local_size(0) + get_work_dim(); break;
    }
}
TREE(query)
#undef P
#undef A

kernel void queries(global uint *out) { query0(out, 0); }
// run: queries global=12x4 local=3x2
// arg out: uint[192]
// expect out: 16384 * (i % 4 == 0 ? i / 4 % 12 : i % 4 == 1 ? i / 4 % 3 + 10 * (i / 48 % 2) : i % 4 == 2 ? i / 4 % 12 / 3 * 2 : 5)

#define P global uint *bins, local uint *most, global uint *sum
#define A bins, most, sum
static void count8(P, uint k)
{
    atomic_add(&bins[k & 15], 1);
    atomic_max(most, k);
    // A loop that retries.
    uint old = *sum, seen;
    while ((seen = atomic_cmpxchg(sum, old, old + (k & 3))) != old)
        old = seen;
}
TREE(count)
#undef P
#undef A

kernel void atomics(global uint *bins, global uint *sum, global uint *out)
{
    local uint most;
    if (get_local_id(0) == 0) most = 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    count0(bins, &most, sum, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = most;
}
// run: atomics global=12 local=6
// arg bins: uint[16]
// arg sum: uint[1]
// arg out: uint[12]
// expect bins: 12 * 4096
// expect sum: 12 * 98304
// expect out: 65535

#define P private uint *a, uint id
#define A a, id
static void print8(P, uint k)
{
    *a += k;
    if (k % 20000 == 7 && (id & 1)) printf("%u: %u\n", k, *a + id);
}
TREE(print)
#undef P
#undef A

kernel void prints(global uint *out)
{
    uint a = 0;
    print0(&a, get_global_id(0), 0);
    out[get_global_id(0)] = a;
}
// run: prints global=3 local=3
// arg out: uint[3]
// expect out: 2147450880
// prints: 7: 29
// prints: 20007: 200150029
// prints: 40007: 800300029
// prints: 60007: 1800450029

// Each work-item processes a different part of the tree, and leaves loops and functions at different places.
#define P private uint *a, uint without
#define A a, without
static void part8(P, uint k)
{
    for (uint i = 0;; i++) {
        if (i == (k & 3)) {
            a[1] += i;
            if (without == 3) return;
            a[3] += k;
            return;
        }
        if (i > 3) break;
        a[2]++;
    }
    a[0] = 99;
}
#undef LEVEL
#define LEVEL(F, NEXT) \
    static void F(P, uint k) \
    { \
        k *= 4; \
        if (without != 0) NEXT(A, k); \
        if (without != 1) NEXT(A, k + 1); \
        if (without != 2) NEXT(A, k + 2); \
        a[0]++; \
        if (without == 3) return; \
        NEXT(A, k + 3); \
    }
TREE(part)

kernel void parts(global uint *out)
{
    uint a[4] = {0}, i = get_global_id(0);
    if (i != 10) part0(a, i & 3, 0);
    for (int j = 0; j < 4; j++) out[4 * i + j] = a[j];
}
// run: parts global=21 local=7
// arg out: uint[84] = 1
// expect out: (
//     i / 4 == 10 ? 0 : i % 4 == 0 ? 3280 : i % 4 < 3 ? 2187 * (6 - i / 4 % 4)
//     : i / 4 % 4 == 3 ? 0 : 2187 * (6 - i / 4 % 4) * 21845)
