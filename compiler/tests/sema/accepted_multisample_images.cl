// Multisample images (cl_khr_gl_msaa_sharing). Queries accept every access qualifier.
#ifndef cl_khr_gl_msaa_sharing
#error "extension"
#endif
#pragma OPENCL EXTENSION cl_khr_gl_msaa_sharing : enable

float4 helper(read_only image2d_msaa_t image, int x, int sample) { return read_imagef(image, (int2)(x, 0), sample); }

kernel void colours(read_only image2d_msaa_t a, read_only image2d_array_msaa_t b, write_only image2d_msaa_t c, global float4 *out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    int4 layer = (int4)(at, 1, 0);
    int4 i = read_imagei(a, at, 3) + read_imagei(b, layer, 2);
    uint4 u = read_imageui(a, at, 3) + read_imageui(b, layer, 2);
    out[0] = read_imagef(a, at, 0) + read_imagef(b, layer, 1) + convert_float4(i) + convert_float4(u) + helper(a, 1, 2);
    int2 size = get_image_dim(a) + get_image_dim(b) + get_image_dim(c);
    size_t layers = get_image_array_size(b);
    int samples = get_image_num_samples(a) + get_image_num_samples(b) + get_image_num_samples(c);
    int format = get_image_channel_order(a) + get_image_channel_data_type(b);
    out[1].x = size.x + layers + samples + format + get_image_width(a) + get_image_height(b);
}

kernel void depths(read_only image2d_msaa_depth_t a, read_only image2d_array_msaa_depth_t b, global float *out)
{
    out[0] = read_imagef(a, (int2)(1, 2), 3) + read_imagef(b, (int4)(1, 2, 3, 0), 3);
    out[1] = get_image_num_samples(a) + get_image_num_samples(b) + get_image_array_size(b) + get_image_width(a) + get_image_height(b);
}
