// Functions that take and return generic pointers, along a tree of 65,536 calls.
// build: -cl-std=CL2.0
// build: -cl-std=CL3.0
// requires: !shaders __opencl_c_generic_address_space

#define LEVEL(F, NEXT) static uint *F(uint *p, global uint *found, uint k) \
{ \
    k *= 4; \
    p = NEXT(p, found, k) - 1; \
    NEXT(p, found, k + 1); \
    NEXT(p, found, k + 2); \
    return NEXT(p, found, k + 3); \
}

static uint *add8(uint *p, global uint *found, uint k)
{
    p[k & 3] += k;
    if (k % 1024 == 0) {
        if (to_private(p)) found[0]++;
        if (to_local(p)) found[1]++;
        if (to_global(p)) found[2]++;
        if (!to_global(p + 1) && get_fence(p) != CLK_GLOBAL_MEM_FENCE) found[3]++;
    }
    return p + 1;
}
LEVEL(add7, add8) LEVEL(add6, add7) LEVEL(add5, add6) LEVEL(add4, add5)
LEVEL(add3, add4) LEVEL(add2, add3) LEVEL(add1, add2) LEVEL(add0, add1)

kernel void spaces(global uint *sums, global uint *found, global uint *out)
{
    local uint shared[12 * 4];
    uint own[4] = {0}, l = get_local_id(0), i = get_global_id(0);
    for (int j = 0; j < 4; j++) shared[4 * l + j] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    found += 4 * i;
    sums += 4 * i;
    uint *p = own;
    if (i % 3 == 1) p = shared + 4 * l;
    if (i % 3 == 2) p = sums;
    uint *end = add0(p, found, 0);
    add0(own, found, 0);
    out[5 * i + 4] = end - p;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 4; j++) out[5 * i + j] = own[j] + shared[4 * l + j] + sums[j];
}
// run: spaces global=24 local=12
// arg sums: uint[96]
// arg found: uint[96]
// arg out: uint[120]
// expect sums: i / 4 % 3 == 2 ? 16384 * (i % 4) + 536838144 : 0
// expect found: {128, 0, 0, 128, 64, 64, 0, 128, 64, 0, 64, 64}
// expect out: i % 5 == 4 ? 1 : 2 * (16384 * (i % 5) + 536838144)
