// Doubles as arguments, vectors of three, constants, arrays, structures, in loops, selections, `switch`, conversions.
// requires: fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

constant double table[4] = {-1.0, -0.5, 0.0, 0.5};

typedef struct { char tag; double number; double2 pair; } record;

double helper(double x, int times)
{
    for (int k = 0; k < times; k++)
        x = x * 2 + 1;
    return x;
}

kernel void places(global const double *a, constant double *c, local double *shared, double s, double3 v, global double *out)
{
    size_t i = get_global_id(0), j = get_local_id(0);
    double own[4];
    for (int k = 0; k < 4; k++)
        own[k] = a[i] * (k + 1);
    shared[j] = own[i & 3] + table[i & 3];
    barrier(CLK_LOCAL_MEM_FENCE);
    record r = {1, shared[7 - j], (double2)(s, v.z)};
    switch (i & 1) {
    case 0: r.pair.x += c[0]; break;
    default: r.pair.y = i > 4 ? r.pair.y : -r.pair.y; break;
    }
    out[i] = r.number + r.pair.x * r.tag + helper(r.pair.y, i & 3);
}
// run: places global=16 local=8
// arg a: double[16] = i * 0.25
// arg c: double[2] = 64
// arg shared: local 64
// arg s: double = 1.5
// arg v: double3 = {0, 0, 0.75}
// arg out: double[16]
// expect out if i % 2 == 0: a[i / 8 * 8 + 7 - i % 8] * (3 - i % 4 + 1) + (3 - i % 4) * 0.5 - 1 + 65.5 + 0.75 * (1 + i % 4 / 2 * 3) + (i % 4 / 2 * 3)
// expect out if i % 2 == 1: a[i / 8 * 8 + 7 - i % 8] * (3 - i % 4 + 1) + (3 - i % 4) * 0.5 - 1 + 1.5 + (i > 4 ? 0.75 : 0 - 0.75) * (i % 4 == 1 ? 2 : 8) + (i % 4 == 1 ? 1 : 7)

kernel void numbers(global const double *a, global long *whole, global float *single, global int *relations)
{
    size_t i = get_global_id(0);
    double x = a[i];
    whole[4 * i] = convert_long_sat(x);
    whole[4 * i + 1] = convert_long_rte(clamp(x, -1e9, 1e9));
    whole[4 * i + 2] = convert_uchar_sat_rtp(x);
    whole[4 * i + 3] = convert_int_sat_rtn(x);
    single[i] = convert_float_rtz(x);
    relations[i] = (x < 0) + 2 * (x == floor(x)) + 4 * (x != x) + 8 * any((double2)(x, 1) > (double2)(2, 3)) + 16 * (signbit(x) != 0);
}
// run: numbers global=8
// arg a: double[8] = {0, -0.5, 2.5, -3.75, 1e19, -1e300, 255.5, 0.1}
// arg whole: long[32]
// arg single: float[8]
// arg relations: int[8]
// expect whole: {0, 0, 0, 0, 0, 0, 0, -1, 2, 2, 3, 2, -3, -4, 0, -4, 9223372036854775807, 1000000000, 255, 2147483647, -9223372036854775808, -1000000000, 0, -2147483648,
//                255, 256, 255, 255, 0, 0, 1, 0}
// expect single: {0, -0.5, 2.5, -3.75, 9999999980506447872.0, -340282346638528859811704183484516925440.0, 255.5, 0.09999999403953552}
// expect relations: {2, 17, 8, 17, 10, 19, 8, 0}
