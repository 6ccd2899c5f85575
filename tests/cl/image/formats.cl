// Formats convert reads, and writes with rounding and saturation: one format of each channel type and order.
// requires: images

const sampler_t SAMPLER = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

kernel void floats(read_only image1d_t in, global float4 *out) { out[get_global_id(0)] = read_imagef(in, SAMPLER, (int)get_global_id(0)); }

// run: floats global=64
// arg in: image1d 64 RGBA UNORM_INT8 = i
// arg out: float4[64]
// expect out within 2 ulp: in / 255.0
// run: floats global=64
// arg in: image1d 64 RGBA SNORM_INT8 = i
// arg out: float4[64]
// expect out within 2 ulp: max(in / 127.0, -1.0)
// run: floats global=64
// arg in: image1d 64 RGBA UNORM_INT16 = i * 257
// arg out: float4[64]
// expect out within 2 ulp: in / 65535.0
// run: floats global=64
// arg in: image1d 64 RGBA SNORM_INT16 = i * 257 - 32768
// arg out: float4[64]
// expect out within 2 ulp: max(in / 32767.0, -1.0)
// run: floats global=64
// arg in: image1d 64 RGBA HALF_FLOAT = (i - 100) * 0.3
// arg out: float4[64]
// expect out: in

// Orders: missing colours are 0, missing alpha is 1.
// run: floats global=5
// arg in: image1d 5 R FLOAT = i + 0.5
// arg out: float4[5]
// expect out: i % 4 == 0 ? in[i / 4] : i % 4 == 3 ? 1 : 0
// run: floats global=5
// arg in: image1d 5 A FLOAT = i + 0.5
// arg out: float4[5]
// expect out: i % 4 == 3 ? in[i / 4] : 0
// run: floats global=5
// arg in: image1d 5 RG FLOAT = i + 0.5
// arg out: float4[5]
// expect out: i % 4 < 2 ? in[i / 4 * 2 + i % 4] : i % 4 == 3 ? 1 : 0
// run: floats global=5
// arg in: image1d 5 RA FLOAT = i + 0.5
// arg out: float4[5]
// expect out: i % 4 == 0 ? in[i / 4 * 2] : i % 4 == 3 ? in[i / 4 * 2 + 1] : 0
// run: floats global=5
// arg in: image1d 5 INTENSITY FLOAT = i + 0.5
// arg out: float4[5]
// expect out: in[i / 4]
// run: floats global=5
// arg in: image1d 5 LUMINANCE FLOAT = i + 0.5
// arg out: float4[5]
// expect out: i % 4 == 3 ? 1 : in[i / 4]
// run: floats global=5
// arg in: image1d 5 BGRA UNORM_INT8 = i * 255
// arg out: float4[5]
// expect out within 2 ulp: (i % 2 == 1 ? in : in[i ^ 2]) / 255.0
// run: floats global=5
// arg in: image1d 5 ARGB UNORM_INT8 = (i ^ 1) % 3 * 127.5
// arg out: float4[5]
// expect out within 2 ulp: in[i / 4 * 4 + (i + 1) % 4] / 255.0
// run: floats global=5
// arg in: image1d 5 ABGR UNORM_INT8 = i * 13
// arg out: float4[5]
// expect out within 2 ulp: in[i ^ 3] / 255.0

// Packed: red in the highest bits.
// run: floats global=5
// arg in: image1d 5 RGB UNORM_SHORT_565 = i * 5000 + 77
// arg out: float4[5]
// expect out within 2 ulp: i % 4 == 0 ? (in[i / 4] >> 11) / 31.0 : i % 4 == 1 ? (in[i / 4] >> 5 & 63) / 63.0 : i % 4 == 2 ? (in[i / 4] & 31) / 31.0 : 1
// run: floats global=5
// arg in: image1d 5 RGB UNORM_SHORT_555 = i * 5000 + 77
// arg out: float4[5]
// expect out within 2 ulp: i % 4 == 3 ? 1 : (in[i / 4] >> 10 - i % 4 * 5 & 31) / 31.0
// run: floats global=5
// arg in: image1d 5 RGB UNORM_INT_101010 = i * 500000007 + 77
// arg out: float4[5]
// expect out within 2 ulp: i % 4 == 3 ? 1 : (in[i / 4] >> 20 - i % 4 * 10 & 1023) / 1023.0
// run: floats global=5
// arg in: image1d 5 RGBA UNORM_INT_101010_2 = i * 500000007 + 77
// arg out: float4[5]
// expect out within 2 ulp: i % 4 == 3 ? (in[i / 4] & 3) / 3.0 : (in[i / 4] >> 22 - i % 4 * 10 & 1023) / 1023.0
// run: floats global=64
// arg in: image1d 64 sRGBA UNORM_INT8 = i
// arg out: float4[64]
// expect out within 1e-4: i % 4 == 3 ? in / 255.0 : in <= 10 ? in / 255.0 / 12.92 : pow((in / 255.0 + 0.055) / 1.055, 2.4)

kernel void store(global const float *in, write_only image2d_t out)
{
    int x = get_global_id(0);
    write_imagef(out, (int2)(x, 0), (float4)(in[x], in[x] * 0.5f, -in[x], 1.0f - in[x]));
}
// run: store global=8
// arg in: float[8] = {0, 1, 0.5, 0.2, 2, -1, inf, 0.999}
// arg out: image2d 8x1 RGBA UNORM_INT8
// expect out: rint(255 * clamp(i % 4 == 0 ? in[i / 4] : i % 4 == 1 ? in[i / 4] * 0.5 : i % 4 == 2 ? -in[i / 4] : 1 - in[i / 4], 0.0, 1.0))
// run: store global=8
// arg in: float[8] = {0, 1, 0.5, 0.2, 2, -1, inf, 0.999}
// arg out: image2d 8x1 RG SNORM_INT16
// expect out: rint(32767 * clamp(i % 2 == 0 ? in[i / 2] : in[i / 2] * 0.5, -1.0, 1.0))
// run: store global=8
// arg in: float[8] = {0, 1, 0.5, 0.2, 2, -1, inf, 0.999}
// arg out: image2d 8x1 A HALF_FLOAT
// expect out: 1 - in
// run: store global=8
// arg in: float[8] = {0, 1, 0.25, 0.2, 2, -1, inf, 0.999}
// arg out: image2d 8x1 RGB UNORM_SHORT_565
// expect out: rint(31 * clamp(in, 0.0, 1.0)) * 2048 + rint(63 * clamp(in * 0.5, 0.0, 1.0)) * 32 + rint(31 * clamp(-in, 0.0, 1.0))

kernel void integers(global const int *in, write_only image1d_t out)
{
    int x = get_global_id(0);
    write_imagei(out, x, (int4)(in[x], ~in[x], 5, in[x] << 4));
}
// run: integers global=4
// arg in: int[4] = {0, 127, -129, 40000}
// arg out: image1d 4 RGBA SIGNED_INT8
// expect out: sat(char, i % 4 == 0 ? in[i / 4] : i % 4 == 1 ? ~in[i / 4] : i % 4 == 2 ? 5 : int(in[i / 4] << 4))
// run: integers global=4
// arg in: int[4] = {0, 127, -129, 40000}
// arg out: image1d 4 RA SIGNED_INT16
// expect out: sat(short, i % 2 == 0 ? in[i / 2] : int(in[i / 2] << 4))
