// Written for wgcl and dedicated to the public domain (CC0 1.0).

// Counts the iterations until a point leaves the circle of radius 2.
kernel void mandelbrot(global uint *counts, float2 corner, float step, uint limit)
{
    size_t x = get_global_id(0), y = get_global_id(1);
    float2 c = corner + step * (float2)(x, y), z = 0.0f;
    uint count = 0;
    while (count < limit && dot(z, z) <= 4.0f) {
        z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
        count++;
    }
    counts[y * get_global_size(0) + x] = count;
}
