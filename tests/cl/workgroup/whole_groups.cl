// Barriers in control flow that is uniform because it compares work-item ids only with multiples of the group size.

#define EXCHANGE(value) m[l] = value; barrier(CLK_LOCAL_MEM_FENCE); r = m[l ^ 63]; barrier(CLK_LOCAL_MEM_FENCE)

kernel void by_sign(global int *out, int n)
{
    local int m[64];
    int i = get_global_id(0), l = get_local_id(0), r = -1;
    if (i / 64) { EXCHANGE(i); }
    out[4 * i] = r;
    r = -1;
    if ((i >> 7) == n) { EXCHANGE(i + 1); }
    out[4 * i + 1] = r;
    r = -1;
    if (i % 192 < 128) { EXCHANGE(i + 2); }
    out[4 * i + 2] = r;
    r = -1;
    for (int k = 0; k < i / 128 + 1; k++) { EXCHANGE(i + k); }
    out[4 * i + 3] = r;
}
// run: by_sign global=384 local=64
// arg out: int[1536]
// arg n: int = 1
// expect out if i % 4 == 0: i / 256 ? i / 256 * 64 + (i / 4 % 64 ^ 63) : -1
// expect out if i % 4 == 1: i / 512 == 1 ? i / 256 * 64 + (i / 4 % 64 ^ 63) + 1 : -1
// expect out if i % 4 == 2: i / 4 % 192 < 128 ? i / 256 * 64 + (i / 4 % 64 ^ 63) + 2 : -1
// expect out if i % 4 == 3: i / 256 * 64 + (i / 4 % 64 ^ 63) + i / 512

kernel void by_comparison(global int *out)
{
    local int m[64];
    int i = get_global_id(0), l = get_local_id(0), r = -1;
    if (i < 128) { EXCHANGE(i); }
    out[4 * i] = r;
    r = -1;
    if (191 < get_global_id(0)) { EXCHANGE(i + 1); }
    out[4 * i + 1] = r;
    r = -1;
    if (i & 64) { EXCHANGE(i + 2); }
    out[4 * i + 2] = r;
    if (i >= 320) return;
    EXCHANGE(i + 3);
    out[4 * i + 3] = r;
}
// run: by_comparison global=384 local=64
// arg out: int[1536]
// expect out if i % 4 == 0: i < 512 ? i / 256 * 64 + (i / 4 % 64 ^ 63) : -1
// expect out if i % 4 == 1: i >= 768 ? i / 256 * 64 + (i / 4 % 64 ^ 63) + 1 : -1
// expect out if i % 4 == 2: i / 4 & 64 ? i / 256 * 64 + (i / 4 % 64 ^ 63) + 2 : -1
// expect out if i % 4 == 3: i < 1280 ? i / 256 * 64 + (i / 4 % 64 ^ 63) + 3 : 0
