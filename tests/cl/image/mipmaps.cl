// Levels of mipmapped images (cl_khr_mipmap_image): read by level and by gradients, with filters, and written.
// requires: images cl_khr_mipmap_image cl_khr_mipmap_image_writes
// build: -cl-std=CL3.0

#ifndef cl_khr_mipmap_image
#error the macro is missing
#endif
#pragma OPENCL EXTENSION cl_khr_mipmap_image : enable

// Levels of 8, 4, 2 and 1 elements, which begin at 0, 8, 12 and 14.
kernel void line(read_only image1d_t image, sampler_t s, global const float *lod, global float *out, global int *levels)
{
    int i = get_global_id(0);
    out[i] = read_imagef(image, s, 0.4f, lod[i]).x;
    levels[i] = get_image_num_mip_levels(image);
}
// Half-way between two levels the larger one is used.
// run: line global=11
// arg image: image1d 8 R FLOAT levels 4 = i
// arg s: sampler normalized clamp_to_edge nearest
// arg lod: float[11] = {-1, 0, 0.5, 0.51, 1, 1.5, 1.6, 2, 2.5, 3, 9}
// arg out: float[11]
// arg levels: int[11]
// expect out: {3, 3, 3, 9, 9, 9, 12, 12, 12, 14, 14}
// expect levels: 4
// run: line global=7
// arg image: image1d 8 R FLOAT levels 4 = i
// arg s: sampler normalized clamp_to_edge nearest mip_linear
// arg lod: float[7] = {0, 0.25, 1, 1.5, 2.75, 3, 7}
// arg out: float[7]
// arg levels: int[7]
// expect out within 1e-6: {3, 4.5, 9, 10.5, 13.5, 14, 14}
// expect levels: 4
// run: line global=4
// arg image: image1d 8 R FLOAT levels 4 = i
// arg s: sampler normalized clamp_to_edge nearest mip_nearest 1..2.75
// arg lod: float[4] = {-3, 0.25, 2, 9}
// arg out: float[4]
// arg levels: int[4]
// expect out: {9, 9, 12, 14}
// expect levels: 4
// run: line global=4
// arg image: image1d 8 R FLOAT levels 4 = i
// arg s: sampler normalized clamp_to_edge nearest mip_linear 0.5..2
// arg lod: float[4] = {-3, 0.75, 1, 9}
// arg out: float[4]
// arg levels: int[4]
// expect out within 1e-6: {6, 7.5, 9, 12}
// expect levels: 4
// An image without mipmaps has one level.
// run: line global=3
// arg image: image1d 8 R FLOAT = i
// arg s: sampler normalized clamp_to_edge nearest mip_linear
// arg lod: float[3] = {-3, 1, 2.5}
// arg out: float[3]
// arg levels: int[3]
// expect out: 3
// expect levels: 1

// A sampler in the source selects the nearest level, and without a level of detail the first one is read.
constant sampler_t EDGE = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void plain(read_only image2d_t image, global float *out)
{
    out[0] = read_imagef(image, EDGE, (float2)(0.9f, 0.9f)).x;
    out[1] = read_imagef(image, (int2)(3, 2)).x;
    out[2] = read_imagef(image, EDGE, (float2)(0.9f, 0.9f), 1.4f).x;
    out[3] = read_imagef(image, EDGE, (float2)(0.9f, 0.9f), 77.0f).x;
}
// Levels of 5 x 3, 2 x 1 and 1 x 1 elements.
// run: plain global=1
// arg image: image2d 5x3 R UNORM_INT8 levels 3 = i * 10
// arg out: float[4]
// expect out within 1e-6: {140 / 255.0, 130 / 255.0, 160 / 255.0, 170 / 255.0}

kernel void plane(read_only image2d_t image, sampler_t s, global const float *x, global const float *lod, global float *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(image, s, (float2)(x[i], 0.5f), lod[i]).x;
}
// Levels of 4 x 2 (from 0), 2 x 1 (80, 90) and 1 x 1 (100) elements. The middle uses four elements, then two, then one.
// run: plane global=6
// arg image: image2d 4x2 R FLOAT levels 3 = i * 10
// arg s: sampler normalized clamp_to_edge linear mip_linear
// arg x: float[6] = {0.5, 0.5, 0.5, 0.5, 0.25, 0.375}
// arg lod: float[6] = {0, 1, 2, 0.5, 1, 0}
// arg out: float[6]
// expect out within 1e-5: {35, 85, 100, 60, 80, 30}

kernel void by_gradients(read_only image2d_t image, sampler_t s, global const float2 *dx, global const float2 *dy, global float *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(image, s, (float2)(0.1f, 0.1f), dx[i], dy[i]).x;
}
// Levels begin at 0, 32, 40 and 42. The longer gradient decides: 0, 1, 2, 4 (either direction), 5 and 1000 elements.
// run: by_gradients global=7
// arg image: image2d 8x4 R FLOAT levels 4 = i
// arg s: sampler normalized clamp_to_edge nearest
// arg dx: float2[7] = {0, 0, 0.125, 0, 0, 0.5, 0, 1, 0, 0, 0.375, 1, 1000, 0}
// arg dy: float2[7] = {0, 0, 0, 0.25, 0.125, 0, 0.25, 0, 0, 1, 0, 0, 0, 0}
// arg out: float[7]
// expect out: {0, 0, 32, 40, 40, 40, 42}
// run: by_gradients global=2
// arg image: image2d 8x4 R FLOAT levels 4 = i
// arg s: sampler normalized clamp_to_edge nearest mip_linear 0.5..1.5
// arg dx: float2[2] = {0.125, 0, 8, 0}
// arg dy: float2[2] = 0
// arg out: float[2]
// expect out within 1e-5: {16, 36}

// All kinds of images, by level and by gradients.
kernel void kinds(read_only image1d_t a, read_only image1d_array_t b, read_only image2d_array_t c, read_only image3d_t d, sampler_t s, global uint *out)
{
    out[0] = read_imageui(a, s, 0.9f, 1.0f).x;
    out[1] = read_imageui(a, s, 0.9f, 1.0f, 0.0f).x;
    out[2] = read_imageui(b, s, (float2)(0.9f, 1.0f), 1.0f).x;
    out[3] = read_imageui(b, s, (float2)(0.9f, 1.0f), 0.0f, 1.0f).x;
    out[4] = read_imageui(c, s, (float4)(0.9f, 0.9f, 1.0f, 0.0f), 1.0f).x;
    out[5] = read_imageui(c, s, (float4)(0.9f, 0.9f, 1.0f, 0.0f), (float2)(0.0f), (float2)(1.0f, 0.0f)).x;
    out[6] = read_imageui(d, s, (float4)(0.9f, 0.9f, 0.9f, 0.0f), 1.0f).x;
    out[7] = read_imageui(d, s, (float4)(0.9f, 0.9f, 0.9f, 0.0f), (float4)(0.0f, 0.0f, 0.5f, NAN), (float4)(0.0f)).x;
    out[8] = get_image_num_mip_levels(a);
    out[9] = get_image_num_mip_levels(b);
    out[10] = get_image_num_mip_levels(c);
    out[11] = get_image_num_mip_levels(d);
}
// Last elements: second level of 4 + 2 + 1; third one; layer 1 of the second of (4 + 2 + 1) x 3, and of the third;
// layer 1 of the second of (2 x 2 + 1) x 2; second level of 4 x 4 x 4.
// run: kinds global=1
// arg a: image1d 4 R UNSIGNED_INT8 levels 3 = i
// arg b: image1d_array 4x3 R UNSIGNED_INT16 levels 3 = i
// arg c: image2d_array 2x2x2 R UNSIGNED_INT32 levels 2 = i
// arg d: image3d 4x4x4 R UNSIGNED_INT8 levels 3 = i
// arg s: sampler normalized clamp_to_edge nearest
// arg out: uint[12]
// expect out: {5, 6, 15, 19, 9, 9, 71, 71, 3, 3, 2, 3}

// Layers keep their index in every level; writes outside have no effect.
kernel void fill(write_only image2d_t a, write_only image2d_array_t b, write_only image3d_t c)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    for (int lod = -1; lod < 4; lod++) {
        float value = 100 * lod + 10 * y + x;
        if (z == 0) {
            write_imagef(a, (int2)(x, y), lod, (float4)(value));
        }
        write_imagei(b, (int4)(x, y, z, 0), lod, (int4)(value + 1000 * z));
        write_imageui(c, (int4)(x, y, z, 0), lod, (uint4)((int)value + 1000 * z, 0, 0, 7));
    }
}
// run: fill global=6x4x4
// arg a: image2d 4x2 R FLOAT levels 3
// arg b: image2d_array 2x2x3 R SIGNED_INT32 levels 2
// arg c: image3d 3x2x2 RGBA UNSIGNED_INT16 levels 2
// expect a: {0, 1, 2, 3, 10, 11, 12, 13, 100, 101, 200}
// expect b: {0, 1, 10, 11, 1000, 1001, 1010, 1011, 2000, 2001, 2010, 2011, 100, 1100, 2100}
// expect c: {0, 0, 0, 7, 1, 0, 0, 7, 2, 0, 0, 7, 10, 0, 0, 7, 11, 0, 0, 7, 12, 0, 0, 7, 1000, 0, 0, 7, 1001, 0, 0, 7, 1002, 0, 0, 7, 1010, 0, 0, 7, 1011, 0, 0, 7, 1012, 0, 0, 7, 100, 0, 0, 7}

kernel void lines(write_only image1d_t a, write_only image1d_array_t b)
{
    int x = get_global_id(0), y = get_global_id(1);
    for (int lod = 0; lod < 3; lod++) {
        if (y == 0) {
            write_imagef(a, x, lod, (float4)(lod + x * 0.25f));
        }
        write_imagef(b, (int2)(x, y), lod, (float4)(lod + x * 0.25f + y * 8));
    }
}
// run: lines global=4x2
// arg a: image1d 3 RG HALF_FLOAT levels 2
// arg b: image1d_array 3x2 R FLOAT levels 2
// expect a: {0, 0, 0.25, 0.25, 0.5, 0.5, 1, 1}
// expect b: {0, 0.25, 0.5, 8, 8.25, 8.5, 1, 9}
