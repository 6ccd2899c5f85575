// Writes to an sRGB image are encoded, except for alpha.
// requires: images cl_khr_srgb_image_writes

kernel void store(global const float *in, write_only image2d_t out)
{
    int x = get_global_id(0);
    write_imagef(out, (int2)(x, 0), (float4)(in[x], in[x] * 0.001f, -in[x], in[x]));
}
// run: store global=64
// arg in: float[64] = i / 61.0
// arg out: image2d 64x1 sRGBA UNORM_INT8
// expect out if i % 4 == 0: rint(255 * min(in[i / 4] < 0.0031308 ? 12.92 * in[i / 4] : 1.055 * pow(in[i / 4], 1 / 2.4) - 0.055, 1.0))
// expect out if i % 4 == 1: rint(255 * 12.92 * 0.001 * in[i / 4])
// expect out if i % 4 == 2: 0
// expect out if i % 4 == 3: rint(255 * min(in[i / 4], 1.0))
// run: store global=64
// arg in: float[64] = i / 61.0
// arg out: image2d 64x1 sBGRA UNORM_INT8
// expect out if i % 4 == 2: rint(255 * min(in[i / 4] < 0.0031308 ? 12.92 * in[i / 4] : 1.055 * pow(in[i / 4], 1 / 2.4) - 0.055, 1.0))
// expect out if i % 4 == 1: rint(255 * 12.92 * 0.001 * in[i / 4])
// expect out if i % 4 == 0: 0
// expect out if i % 4 == 3: rint(255 * min(in[i / 4], 1.0))
