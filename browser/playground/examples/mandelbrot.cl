// One work-item per pixel. Neighbouring work-items run loops of different lengths.
kernel void mandelbrot(global uchar4 *image, float x0, float y0, float pixel, int limit)
{
    int x = get_global_id(0), y = get_global_id(1);
    float2 c = (float2)(x0 + x * pixel, y0 + y * pixel);
    float2 z = 0.0f;
    int n = 0;
    while (n < limit && dot(z, z) <= 16.0f) {
        z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
        n++;
    }
    uchar4 color = (uchar4)(0, 0, 0, 255);
    if (n < limit) {
        // A continuous iteration count gives smooth colours.
        float smooth = n + 1 - log2(log2(dot(z, z)) * 0.5f);
        float3 phase = (float3)(0.0f, 0.6f, 1.2f) + 0.15f * smooth;
        color.xyz = convert_uchar3_sat(255.0f * (0.5f + 0.5f * cos(phase + 3.3f)));
    }
    image[y * get_global_size(0) + x] = color;
}
