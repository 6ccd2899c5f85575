// Rotates a picture. The sampler interpolates between pixels.
kernel void rotate_picture(read_only image2d_t from, write_only image2d_t to, sampler_t sampler, float angle)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 size = convert_float2(get_image_dim(from));
    float2 p = convert_float2(at) + 0.5f - size / 2;
    float s = sin(angle), c = cos(angle);
    float2 source = (float2)(c * p.x + s * p.y, c * p.y - s * p.x) + size / 2;
    write_imagef(to, at, read_imagef(from, sampler, source));
}
