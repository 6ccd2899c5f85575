// Addressing modes and filters, with samplers as arguments, program-scope constants and literals.
// requires: images

const sampler_t CLAMPED = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

kernel void nearest(read_only image1d_t image, sampler_t s, global const float *at, global float *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(image, s, at[i]).x;
}
// run: nearest global=16
// arg image: image1d 4 R FLOAT = 10 + i
// arg s: sampler unnormalized clamp_to_edge nearest
// arg at: float[16] = i * 0.75 - 4
// arg out: float[16]
// expect out: 10 + clamp(to_int(floor(at)), 0, 3)
// run: nearest global=16
// arg image: image1d 4 R FLOAT = 10 + i
// arg s: sampler unnormalized clamp nearest
// arg at: float[16] = i * 0.75 - 4
// arg out: float[16]
// expect out: at < 0 || at >= 4 ? 0 : 10 + to_int(floor(at))
// run: nearest global=16
// arg image: image1d 4 R FLOAT = 10 + i
// arg s: sampler normalized repeat nearest
// arg at: float[16] = i * 0.1875 - 1.5
// arg out: float[16]
// expect out: 10 + ((to_int(floor(at * 4)) + 16) & 3)
// run: nearest global=16
// arg image: image1d 4 R FLOAT = 10 + i
// arg s: sampler normalized mirrored_repeat nearest
// arg at: float[16] = i * 0.25 - 1.9
// arg out: float[16]
// expect out: 10 + (((to_int(floor(at * 4)) + 16) & 4) == 0 ? (to_int(floor(at * 4)) + 16) & 3 : 3 - ((to_int(floor(at * 4)) + 16) & 3))

// Half-way between elements; beyond the edge the border colour is used, if the mode has one.
// run: nearest global=9
// arg image: image1d 4 R FLOAT = {16, 32, 64, 128}
// arg s: sampler unnormalized clamp_to_edge linear
// arg at: float[9] = {-3, 0.5, 1, 1.25, 1.5, 3, 3.5, 4, 9}
// arg out: float[9]
// expect out within 1e-6: {16, 16, 24, 28, 32, 96, 128, 128, 128}
// run: nearest global=9
// arg image: image1d 4 R FLOAT = {16, 32, 64, 128}
// arg s: sampler unnormalized clamp linear
// arg at: float[9] = {-3, 0, 0.5, 1, 1.25, 3, 3.5, 4, 9}
// arg out: float[9]
// expect out within 1e-6: {0, 8, 16, 24, 28, 96, 128, 64, 0}
// run: nearest global=9
// arg image: image1d 4 R FLOAT = {16, 32, 64, 128}
// arg s: sampler normalized repeat linear
// arg at: float[9] = {-0.125, 0, 0.125, 0.25, 0.3125, 0.75, 0.875, 1, 1.25}
// arg out: float[9]
// expect out within 1e-6: {128, 72, 16, 24, 28, 96, 128, 72, 24}
// run: nearest global=9
// arg image: image1d 4 R FLOAT = {16, 32, 64, 128}
// arg s: sampler normalized mirrored_repeat linear
// arg at: float[9] = {-0.125, 0, 0.125, 0.25, 0.3125, 0.75, 1.125, 1, 1.75}
// arg out: float[9]
// expect out within 1e-6: {16, 16, 16, 24, 28, 96, 128, 128, 24}

// The border is opaque for orders without alpha, and transparent for orders with alpha.
kernel void border(read_only image2d_t image, global float4 *out)
{
    out[0] = read_imagef(image, CLAMPED, (int2)(-1, 0));
    out[1] = read_imagef(image, CLAMPED, (int2)(0, 1));
    out[2] = read_imagef(image, CLAMPED, (float2)(2.0f, 0.5f));
}
// run: border global=1
// arg image: image2d 2x1 RGBA FLOAT = 7
// arg out: float4[3]
// expect out: 0
// run: border global=1
// arg image: image2d 2x1 R FLOAT = 7
// arg out: float4[3]
// expect out: i % 4 == 3 ? 1 : 0

// Between four elements, and eight.
kernel void middle(read_only image2d_t plane, read_only image3d_t volume, global float4 *out)
{
    const sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
    out[0] = read_imagef(plane, linear, (float2)(0.5f, 0.5f));
    out[1] = read_imagef(volume, linear, (float4)(0.5f, 0.5f, 0.5f, 0.0f));
    out[2] = read_imagef(volume, linear, (float4)(0.25f, 0.25f, 0.5f, 0.0f));
}
// run: middle global=1
// arg plane: image2d 2x2 RGBA FLOAT = i * i
// arg volume: image3d 2x2x2 RGBA FLOAT = i * i
// arg out: float4[3]
// expect out within 1e-5: i < 4 ? sum(n, 0, 4, plane[n * 4 + i]) / 4.0 : i < 8 ? sum(n, 0, 8, volume[n * 4 + i % 4]) / 8.0 : (volume[i % 4] + volume[16 + i % 4]) / 2.0

// Chosen at run time.
kernel void choice(read_only image1d_t image, sampler_t a, sampler_t b, global float *out)
{
    int i = get_global_id(0);
    out[i] = i & 1 ? read_imagef(image, a, (float)i).x : read_imagef(image, b, (float)i).x;
}
// run: choice global=8
// arg image: image1d 3 R UNORM_INT8 = 255
// arg a: sampler unnormalized clamp nearest
// arg b: sampler unnormalized clamp_to_edge nearest
// arg out: float[8]
// expect out: i < 3 || i % 2 == 0 ? 1 : 0
