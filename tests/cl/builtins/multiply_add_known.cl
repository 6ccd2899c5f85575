// Products with constant factors.

kernel void zeros(global const float4 *in, global float *out)
{
    size_t i = get_global_id(0);
    float4 a = in[i];
    a.w = 0;
    out[4 * i] = dot(a, a);
    out[4 * i + 1] = mad(0.0f, 0.0f, a.x);
    out[4 * i + 2] = mad(0.0f, -0.0f, a.x);
    out[4 * i + 3] = mad(a.x, -1.0f, mad(1.0f, a.y, a.z));
}
// run: zeros global=4
// arg in: float4[4] = {2, -0.0, -0.0, 7, 1, 2, 3, inf, inf, -1, 0, 0, 3, 5, -0.0, 0}
// arg out: float[16]
// expect out: {4, 2, 2, -2, 14, 1, 1, 4, inf, inf, inf, -inf, 34, 3, 3, 2}
