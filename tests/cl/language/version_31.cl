// OpenCL C 3.1: its macros, and the functions and printf lengths that it made mandatory, without extensions.
// requires: __opencl_c_subgroups
// build: -cl-std=CL3.1

#if !defined(CL_VERSION_3_1) || __OPENCL_C_VERSION__ != CL_VERSION_3_1 || !defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#error "not OpenCL C 3.1"
#endif

global int counter = 5;

int through(int *any) { return *any + 1; }

kernel void versions(global uint *out)
{
    uint lane = get_sub_group_local_id();
    int own = (int)get_global_id(0);
    out[0] = __OPENCL_C_VERSION__ + CL_VERSION_3_0;
    out[1] = bitfield_insert(0u, 5u, 4u, 3u) + bit_reverse(1u) / 0x80000000u;
    out[2] = dot_4x8packed_uu_uint(0x01020304u, 0x01010101u);
    out[3] = sub_group_shuffle(lane, 0) + sub_group_shuffle_xor(lane, 0) + sub_group_rotate(lane, 0) + sub_group_shuffle_up(lane, 0);
    out[4] = through(&own) + through(&counter);
    out[5] = (uint)sub_group_reduce_add((uchar)3);
}
// run: versions global=1 local=1
// arg out: uint[6]
// expect out: {610, 81, 10, 0, 7, 3}

kernel void lengths(ulong size, long difference)
{
    printf("%zu %zx %td %5tu|%-8zd|\n", (size_t)size, (size_t)size, (ptrdiff_t)difference, (ptrdiff_t)7, (size_t)9);
}
// run: lengths global=1
// arg size: ulong = 4096
// arg difference: long = -3
// prints: 4096 1000 -3     7|9       |
