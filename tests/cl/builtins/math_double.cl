// Math functions in double.
// requires: fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void some(global const double *a, global double *out)
{
    size_t i = get_global_id(0);
    double x = a[i];
    global double *o = out + 6 * i;
    o[0] = sin(x); o[1] = exp(x); o[2] = log(fabs(x)); o[3] = fma(x, x, 1.0); o[4] = floor(x); o[5] = pow(fabs(x), 1.5);
}
// run: some global=32
// arg a: double[32] = rand(-10.0, 10.0)
// arg out: double[192]
// expect out within 1e-14 if i % 6 == 0: sin(a[i / 6])
// expect out within 1e-14 if i % 6 == 1: exp(a[i / 6])
// expect out within 1e-14 if i % 6 == 2: log(abs(a[i / 6]))
// expect out if i % 6 == 3: fma(a[i / 6], a[i / 6], 1.0)
// expect out if i % 6 == 4: floor(a[i / 6])
// expect out within 1e-13 if i % 6 == 5: pow(abs(a[i / 6]), 1.5)
