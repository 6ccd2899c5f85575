// A float that is converted to a half and back is rounded, also if the compiler sees both conversions.
// requires: fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void through_half(global const float *a, global float *out, global float2 *pairs)
{
    size_t i = get_global_id(0);
    out[i] = (float)(half)a[i];
    pairs[i] = convert_float2(convert_half2((float2)(a[i], -a[i])));
}
// run: through_half global=8
// arg a: float[8] = {0.1, 1000000, -1000000, 2049, 1e-30, 3.5, inf, 1.0001}
// arg out: float[8]
// arg pairs: float2[8]
// expect out: {0.0999755859375, inf, 0 - inf, 2048, 0, 3.5, inf, 1}
// expect pairs: {0.0999755859375, -0.0999755859375, inf, 0 - inf, 0 - inf, inf, 2048, -2048, 0, -0.0, 3.5, -3.5, inf, 0 - inf, 1, -1}
