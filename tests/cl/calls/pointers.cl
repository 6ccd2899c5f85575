// Functions with pointers to every address space, along a tree of 65,536 calls: inlined, the code would have a million
// instructions.
// build: -cl-std=CL1.2
// build: -cl-std=CL3.0
// requires: !shaders

#define LEVEL(F, NEXT) static void F(P, uint k) { k *= 4; NEXT(A, k); NEXT(A, k + 1); NEXT(A, k + 2); NEXT(A, k + 3); }
#define TREE(ROOT) \
    LEVEL(ROOT##7, ROOT##8) LEVEL(ROOT##6, ROOT##7) LEVEL(ROOT##5, ROOT##6) LEVEL(ROOT##4, ROOT##5) \
    LEVEL(ROOT##3, ROOT##4) LEVEL(ROOT##2, ROOT##3) LEVEL(ROOT##1, ROOT##2) LEVEL(ROOT##0, ROOT##1)

#define P private uint *a, global uint *g, constant uint *table
#define A a, g, table
static void own8(P, uint k)
{
    a[k & 15] += k;
    g[k & 7] += k + table[k & 3];
}
TREE(own)
#undef P
#undef A

constant uint steps[4] = {1, 2, 3, 4};

kernel void private_and_global(global uint *out, global uint *sums)
{
    size_t i = get_global_id(0);
    uint a[16] = {0};
    own0(a, sums + 8 * i, steps, 0);
    for (int j = 0; j < 16; j++)
        out[16 * i + j] = a[j] + i;
}
// run: private_and_global global=20 local=10
// arg out: uint[320]
// arg sums: uint[160]
// expect out: 4096 * (i % 16) + 134184960 + i / 16
// expect sums: 8192 * (i % 8 + i % 4 + 1) + 268402688

#define P local uint *mine, local const uint *other, uint add
#define A mine, other, add
static void shared8(P, uint k)
{
    mine[k & 3] += k + other[k & 3] * add;
}
TREE(shared)
#undef P
#undef A

kernel void between_barriers(global uint *out, local uint *given)
{
    local uint first[4 * 16];
    uint i = get_local_id(0), n = get_local_size(0);
    for (uint j = 0; j < 4; j++) {
        first[4 * i + j] = j + i;
        given[4 * i + j] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    shared0(given + 4 * i, first + 4 * ((i + 1) % n), 1, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    shared0(first + 4 * i, given + 4 * ((i + n - 1) % n), 0, 0);
    for (uint j = 0; j < 4; j++)
        out[4 * get_global_id(0) + j] = given[4 * ((i + 1) % n) + j] - first[4 * i + j];
}
// run: between_barriers global=32 local=16
// arg out: uint[128]
// arg given: local 256
// expect out: 16384 * (i % 4 + (i / 4 + 2) % 16) - i % 4 - i / 4 % 16

#define P global uint *one, global uint *other
#define A one, other
static void same8(P, uint k)
{
    *one += k & 1;
    *other += *one & 1;
}
TREE(same)

kernel void one_object(global uint *sums) { same0(sums + get_global_id(0), sums + get_global_id(0), 0); }
// run: one_object global=4
// arg sums: uint[4] = i
// expect sums: 65536 + i + i % 2
