// build: -cl-std=CL3.0
#ifndef __IMAGE_SUPPORT__
#error "images"
#endif
#ifndef __opencl_c_images
#error "feature"
#endif

const sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t smooth = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;

float4 helper(read_only image2d_t image, sampler_t by, float x, float y)
{
    return read_imagef(image, by, (float2)(x, y));
}

kernel void flat(__read_only image1d_t a, image1d_buffer_t b, image1d_array_t c, write_only image1d_t d, write_only image1d_array_t e,
    write_only image1d_buffer_t f, global float4 *out)
{
    int i = get_global_id(0);
    out[0] = read_imagef(a, plain, i) + read_imagef(a, smooth, 0.5f) + read_imagef(a, i);
    out[1] = read_imagef(b, i) + convert_float4(read_imagei(b, get_global_id(0))) + convert_float4(read_imageui(b, 1u));
    out[2] = read_imagef(c, plain, (int2)(i, 1)) + read_imagef(c, plain, (float2)(i, 1)) + read_imagef(c, (int2)(i, 1));
    write_imagef(d, i, out[0]);
    write_imagei(e, (int2)(i, 0), (int4)(1));
    write_imageui(f, get_global_id(0), (uint4)(1, 2, 3, 4));
    size_t layers = get_image_array_size(c);
    out[3].x = get_image_width(a) + get_image_width(b) + layers;
}

kernel void plane(image2d_t a, image2d_array_t b, write_only image2d_t c, __write_only image2d_array_t d, sampler_t s, global float4 *out)
{
    const sampler_t own = CLK_ADDRESS_REPEAT | CLK_NORMALIZED_COORDS_TRUE | CLK_FILTER_LINEAR;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = helper(a, s, 1, 2) + read_imagef(a, plain, at) + read_imagef(a, own, (float2)(0.5f, 0.25f)) + read_imagef(a, at);
    sum += read_imagef(b, s, (int4)(at, 1, 0)) + read_imagef(b, s, (float4)(convert_float2(at), 1, 0)) + read_imagef(b, (int4)(at, 1, 0));
    sum += convert_float4(read_imageui(a, CLK_FILTER_NEAREST, at));
    write_imagef(c, at, sum);
    write_imagef(c, at, 0);
    write_imagei(d, (int4)(at, 0, 0), (int4)(get_image_dim(a), get_image_dim(b)));
    if (get_image_channel_data_type(a) == CLK_UNORM_INT8 && get_image_channel_order(c) == CLK_RGBA)
        out[0] = sum;
    out[1].x = get_image_height(a) + get_image_width(d) + get_image_array_size(b);
}

kernel void solid(read_only image3d_t a, write_only image3d_t b, sampler_t s)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    int4 size = get_image_dim(a);
    if (at.z < get_image_depth(a) && at.x < size.x)
        write_imageui(b, at, read_imageui(a, s, at) + read_imageui(a, s, convert_float4(at)) + read_imageui(a, at));
}

kernel void depth(read_only image2d_depth_t a, read_only image2d_array_depth_t b, write_only image2d_depth_t c, sampler_t s)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float sum = read_imagef(a, s, at) + read_imagef(a, s, convert_float2(at)) + read_imagef(a, at) + read_imagef(b, s, (int4)(at, 1, 0));
    write_imagef(c, at, sum);
}

kernel void both(read_write image2d_t a, read_write image3d_t b)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 old = read_imagef(a, at);
    atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item);
    write_imagef(a, at, old + convert_float4(read_imagei(b, (int4)(at, 0, 0))));
}

kernel void halves(read_only image2d_t a, write_only image2d_t b, sampler_t s)
{
    int2 at = (int2)(0, 1);
    half4 colour = read_imageh(a, s, at) + read_imageh(a, s, (float2)(1, 2)) + read_imageh(a, at);
    write_imageh(b, at, colour);
}
