// Block accesses of images (cl_intel_subgroups): elements are words, whatever the format; writes outside are dropped.
// requires: images cl_intel_subgroups_char cl_intel_subgroups_short cl_intel_subgroups_long
// for: S = uc, us, ui, ul

#define T_uc uchar
#define T_us ushort
#define T_ui uint
#define T_ul ulong
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define T JOIN(T_, S)

kernel void copy(read_only image2d_t in, write_only image2d_t out, int bytes)
{
    int row = get_max_sub_group_size() * sizeof(T);
    for (int x = get_sub_group_id() * row; x < bytes; x += get_num_sub_groups() * row) {
        JOIN(JOIN(intel_sub_group_block_write_, S), 8)(out, (int2)(x, 0), JOIN(JOIN(intel_sub_group_block_read_, S), 8)(in, (int2)(x, 0)));
        JOIN(intel_sub_group_block_write_, S)(out, (int2)(x, 8), JOIN(intel_sub_group_block_read_, S)(in, (int2)(x, 8)));
    }
}
// run: copy global=64 local=64
// arg in: image2d 64x9 RGBA UNORM_INT8 = rand(0, 255)
// arg out: image2d 64x9 RGBA UNORM_INT8
// arg bytes: int = 256
// expect out: in
// run: copy global=64 local=64
// arg in: image2d 24x9 RG SIGNED_INT32 = rand(-2147483648, 2147483647)
// arg out: image2d 24x9 RG SIGNED_INT32
// arg bytes: int = 192
// expect out: in
