// A double that is converted to a float and back is rounded, also if the compiler sees both conversions.
// requires: fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void through_float(global const double *a, global double *out, global double2 *pairs)
{
    size_t i = get_global_id(0);
    out[i] = (double)(float)a[i];
    pairs[i] = convert_double2(convert_float2((double2)(a[i], -a[i])));
}
// run: through_float global=8
// arg a: double[8] = {0.1, 1e300, -1e300, 16777217, 1e-300, 3.5, inf, 1.0000000001}
// arg out: double[8]
// arg pairs: double2[8]
// expect out: {0.100000001490116119384765625, inf, 0 - inf, 16777216, 0, 3.5, inf, 1}
// expect pairs: {0.100000001490116119384765625, -0.100000001490116119384765625, inf, 0 - inf, 0 - inf, inf, 16777216, -16777216,
//                0, -0.0, 3.5, -3.5, inf, 0 - inf, 1, -1}
