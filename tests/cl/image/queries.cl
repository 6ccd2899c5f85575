// Image queries of kernels.
// requires: images
// build: -cl-std=CL1.2
// build: -cl-std=CL3.0

kernel void lines(read_only image1d_t a, write_only image1d_buffer_t b, read_only image1d_array_t c, global int *out)
{
    out[0] = get_image_width(a);
    out[1] = get_image_width(b);
    out[2] = get_image_width(c);
    out[3] = get_image_array_size(c);
    out[4] = get_image_channel_data_type(a) == CLK_FLOAT;
    out[5] = get_image_channel_order(a) == CLK_RG;
    out[6] = get_image_channel_data_type(b) - CLK_SNORM_INT8;
    out[7] = get_image_channel_order(b) - CLK_R;
}
// run: lines global=1
// arg a: image1d 11 RG FLOAT
// arg b: image1d_buffer 12 A SIGNED_INT32
// arg c: image1d_array 13x14 R FLOAT
// arg out: int[8]
// expect out: {11, 12, 13, 14, 1, 1, 9, 1}

kernel void planes(read_only image2d_t a, write_only image2d_array_t b, read_only image3d_t c, global int *out)
{
    out[0] = get_image_width(a);
    out[1] = get_image_height(a);
    vstore2(get_image_dim(a), 1, out);
    out[4] = get_image_height(b);
    out[5] = get_image_array_size(b);
    vstore2(get_image_dim(b), 3, out);
    out[8] = get_image_depth(c);
    out[9] = get_image_channel_order(c) == CLK_BGRA;
    out[10] = get_image_channel_data_type(c) == CLK_UNORM_INT8;
    vstore4(get_image_dim(c), 3, out);
}
// run: planes global=1
// arg a: image2d 3x4 RGBA FLOAT
// arg b: image2d_array 5x6x7 R UNSIGNED_INT8
// arg c: image3d 8x9x10 BGRA UNORM_INT8
// arg out: int[16]
// expect out: {3, 4, 3, 4, 6, 7, 5, 6, 10, 1, 1, 0, 8, 9, 10, 0}
