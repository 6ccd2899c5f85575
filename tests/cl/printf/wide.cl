// Doubles, longs and halves, as vectors too.
// requires: fp16 fp64 int64

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void k(double x, long n, half h)
{
    printf("%.17g %a %v2lf\n", x, x, (double2)(x, -x));
    printf("%ld %v2lx\n", n, (ulong2)(n, 1));
    printf("%g %.1v2hf\n", h, (half2)(h, 2));
}
// run: k global=1
// arg x: double = 0.1
// arg n: long = -1234567890123
// arg h: half = 0.5
// prints: 0.10000000000000001 0x1.999999999999ap-4 0.100000,-0.100000
// prints: -1234567890123 fffffee08e04fb35,1
// prints: 0.5 0.5,2.0
