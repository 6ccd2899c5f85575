// Depth images: one channel, read and written as scalars.
// requires: images cl_khr_depth_images
// build: -cl-std=CL1.2
// build: -cl-std=CL3.0

kernel void look(read_only image2d_depth_t in, sampler_t s, global float *out)
{
    int x = get_global_id(0);
    out[x] = read_imagef(in, s, (float2)(x * 0.5f, 0.5f));
}
// run: look global=8
// arg in: image2d 4x1 DEPTH FLOAT = {1, 2, 4, 8}
// arg s: sampler unnormalized clamp_to_edge nearest
// arg out: float[8]
// expect out: {1, 1, 2, 2, 4, 4, 8, 8}
// run: look global=8
// arg in: image2d 4x1 DEPTH UNORM_INT16 = 65535
// arg s: sampler unnormalized clamp linear
// arg out: float[8]
// expect out within 1e-6: i == 0 ? 0.5 : 1

kernel void copy(read_only image2d_array_depth_t in, write_only image2d_array_depth_t out, global int *sizes)
{
    int4 c = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    const sampler_t s = CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    write_imagef(out, c, 1.0f - read_imagef(in, s, c));
    if (all(c == 0)) {
        sizes[0] = get_image_width(in);
        sizes[1] = get_image_height(in);
        sizes[2] = get_image_array_size(in);
        sizes[3] = get_image_channel_order(in) == CLK_DEPTH;
        sizes[4] = get_image_channel_data_type(in) == CLK_UNORM_INT16;
        vstore2(get_image_dim(in), 3, sizes);
    }
}
// run: copy global=4x3x2
// arg in: image2d_array 3x2x2 DEPTH UNORM_INT16 = i * 5000
// arg out: image2d_array 3x2x2 DEPTH UNORM_INT16
// arg sizes: int[8] = -1
// expect out: 65535 - in
// expect sizes: {3, 2, 2, 1, 1, -1, 3, 2}
