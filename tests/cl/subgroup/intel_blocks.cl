// Block reads and writes of buffers (cl_intel_subgroups): N elements per work-item at once, with their bits inverted.
// requires: cl_intel_subgroups_char cl_intel_subgroups_short cl_intel_subgroups_long
// for: S = uc, us, ui, ul
// for: N = 2, 4, 8

#define T_uc uchar
#define T_us ushort
#define T_ui uint
#define T_ul ulong
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define T JOIN(T_, S)
#define READ JOIN(intel_sub_group_block_read_, S)
#define WRITE JOIN(intel_sub_group_block_write_, S)
#define WORDS 1024

kernel void blocks(global const uint *in, global uint *out)
{
    uint most = get_max_sub_group_size();
    if (most > get_local_size(0)) {
        // The only subgroup is not full: blocks have gaps.
        for (uint i = get_local_id(0); i < WORDS; i += get_local_size(0)) out[i] = ~in[i];
        return;
    }
    uint block = most * N, count = WORDS * 4 / sizeof(T) / block;
    for (uint i = get_sub_group_id(); i < count; i += get_num_sub_groups()) {
        JOIN(WRITE, N)((global T *)out + i * block, ~JOIN(READ, N)((global const T *)in + i * block));
    }
}
// run: blocks global=64 local=64
// arg in: uint[1024] = rand(0, 4294967295)
// arg out: uint[1024]
// expect out: ~in & 4294967295

kernel void single(global const uint *in, global uint *out)
{
    uint most = get_max_sub_group_size(), first = get_sub_group_id() * most;
    WRITE((global T *)out + first, READ((global T *)in + first));
}
// run: single global=64 local=64
// arg in: uint[128] = 7
// arg out: uint[128] = 7
// expect out: 7

#if N == 8
kernel void untyped(global const uint *in, global uint *out)
{
    uint most = get_max_sub_group_size(), first = get_sub_group_id() * most;
    intel_sub_group_block_write(out + first, intel_sub_group_block_read(in + first) + 1);
}
#else
kernel void untyped(global const uint *in, global uint *out) { out[get_global_id(0)] = in[get_global_id(0)] + 1; }
#endif
// run: untyped global=64 local=64
// arg in: uint[64] = i
// arg out: uint[64]
// expect out: i + 1
