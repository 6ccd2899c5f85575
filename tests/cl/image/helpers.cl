// Images and samplers passed to helpers, from helper to helper, and in several roles.
// requires: images

typedef read_only image2d_t picture_t;

float4 pixel(picture_t image, sampler_t s, int2 c) { return read_imagef(image, s, c); }

float4 around(read_only image2d_t image, sampler_t s, int2 c)
{
    float4 total = 0.0f;
    for (int y = -1; y <= 1; y++) {
        for (int x = -1; x <= 1; x++) {
            total += pixel(image, s, c + (int2)(x, y));
        }
    }
    return total;
}

void put(write_only image2d_t image, int2 c, float4 value)
{
    if (c.x < get_image_width(image)) {
        write_imagef(image, c, value);
    }
}

kernel void blur(read_only image2d_t in, sampler_t s, write_only image2d_t out)
{
    int2 c = (int2)(get_global_id(0), get_global_id(1));
    put(out, c, around(in, s, c));
}
// run: blur global=8x3
// arg in: image2d 5x3 R FLOAT = i * i
// arg s: sampler unnormalized clamp nearest
// arg out: image2d 5x3 R FLOAT
// expect out: sum(y, max(i / 5 - 1, 0), min(i / 5 + 2, 3), sum(x, max(i % 5 - 1, 0), min(i % 5 + 2, 5), in[y * 5 + x]))

// The same helper for two images of different formats.
kernel void difference(read_only image2d_t a, read_only image2d_t b, global float *out)
{
    const sampler_t s = CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    int i = get_global_id(0);
    out[i] = pixel(a, s, (int2)(i, 0)).x - pixel(b, s, (int2)(i, 0)).x;
}
// run: difference global=8
// arg a: image2d 8x1 R FLOAT = i * 3
// arg b: image2d 8x1 RGBA UNORM_INT8 = i / 4 % 2 * 255
// arg out: float[8]
// expect out: a[i] - b[i * 4] / 255

// One image as two arguments.
kernel void twice(read_only image2d_t a, read_only image2d_t b, global float *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(a, (int2)(i, 0)).x + read_imagef(b, (int2)(7 - i, 0)).x;
}
// run: twice global=8
// arg a: image2d 8x1 R FLOAT = i * 3
// arg b: same a
// arg out: float[8]
// expect out: 21
