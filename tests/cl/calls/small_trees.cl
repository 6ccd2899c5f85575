// Trees of calls whose functions take pointers. `WGCL_INLINE=0` keeps the functions.

#define LEVEL(F, NEXT) static void F(P, uint k) { k *= 3; NEXT(A, k); NEXT(A, k + 1); NEXT(A, k + 2); }
#define TREE(ROOT) LEVEL(ROOT##2, ROOT##3) LEVEL(ROOT##1, ROOT##2) LEVEL(ROOT##0, ROOT##1)

#define P private uint *a, global uint *g, global const uchar *table
#define A a, g, table
static void own3(P, uint k)
{
    a[k & 7] += k;
    g[k & 3] += k + table[k & 7];
}
TREE(own)
#undef P
#undef A

kernel void private_and_global(global uint *out, global uint *sums, global const uchar *table)
{
    size_t i = get_global_id(0);
    uint a[8] = {0};
    own0(a, sums + 4 * i, table, 0);
    for (int j = 0; j < 8; j++)
        out[8 * i + j] = a[j] + i;
}
// run: private_and_global global=20 local=10
// arg out: uint[160]
// arg sums: uint[80] = i
// arg table: uchar[8] = 250 - i
// expect out: (i % 8 < 3 ? 4 * (i % 8) + 48 : 3 * (i % 8) + 24) + i / 8
// expect sums: (i % 4 == 3 ? 1548 : 1822) + i

// The pointers point to different elements of one or two buffers, before or after the accessed element.
#define P global int *one, global int *other
#define A other + 1, one - 1
static void moved3(P, uint k)
{
    one[0] += other[1] & 3;
    other[1] = k;
}
TREE(moved)
#undef P
#undef A

kernel void moved(global int *a, global int *b)
{
    uint i = get_global_id(0);
    moved0(a + 8 * i + 3, b + 8 * i + 3, 0);
    moved0(a + 8 * i + 3, a + 8 * i + 4, 0);
}
// run: moved global=7
// arg a: int[56] = i
// arg b: int[56] = 100 + i
// expect a: _
// expect b: _

// The same statements without functions.
kernel void expected(global int *x, global int *y, global int *a, global int *b, global int *differences)
{
    uint i = get_global_id(0);
    for (uint k = 0; k < 27; k++) {
        y[8 * i + 4] += x[8 * i + 3] & 3;
        x[8 * i + 3] = k;
    }
    for (uint k = 0; k < 27; k++) {
        x[8 * i + 5] += x[8 * i + 3] & 3;
        x[8 * i + 3] = k;
    }
    int found = 0;
    for (int j = 0; j < 8; j++) found |= (x[8 * i + j] ^ a[8 * i + j]) | (y[8 * i + j] ^ b[8 * i + j]);
    differences[i] = found;
}
// run: expected global=7
// arg x: int[56] = i
// arg y: int[56] = 100 + i
// arg a: same a
// arg b: same b
// arg differences: int[7] = 1
// expect x: _
// expect y: _
// expect differences: 0
#undef P
#undef A

#define P global int *place
#define A place
static void chosen3(P, uint k) { *place += k; }
TREE(chosen)
#undef P
#undef A

kernel void chosen(global int *a, global int *b)
{
    uint i = get_global_id(0);
    chosen0(i & 1 ? a + i : b + i, 0);
}
// run: chosen global=7
// arg a: int[7] = i
// arg b: int[7] = i
// expect a: i % 2 ? 351 + i : i
// expect b: i % 2 ? i : 351 + i

#define P global uint *out, global uint *bins
#define A out, bins
static void query3(P, uint k)
{
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[3 * i] += get_local_id(0) + 10 * get_group_id(1);
    out[3 * i + 1] += get_local_size(0) + get_num_groups(0) * k;
    out[3 * i + 2] += get_work_dim() + get_global_offset(1);
    atomic_add(bins + (k & 1), 1);
    if (k == 20 && i == 3) printf("%u\n", out[3 * i + 1]);
    uint old = bins[2], seen;
    while ((seen = atomic_cmpxchg(bins + 2, old, old + k)) != old)
        old = seen;
}
TREE(query)
#undef P
#undef A

kernel void queries(global uint *out, global uint *bins) { query0(out, bins, 0); }
// run: queries global=12x2 local=4x1
// arg out: uint[72]
// arg bins: uint[3]
// expect out: i % 3 == 0 ? 27 * (i / 3 % 4 + 10 * (i / 36)) : i % 3 == 1 ? 1161 : 54
// expect bins: {336, 312, 8424}
// prints: 714
