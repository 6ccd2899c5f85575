// Macros that every program has, and the limits and constants of the specification.
// build: -cl-std=CL1.2
// build: -cl-std=CL3.0
#if __OPENCL_VERSION__ != 300 || CL_VERSION_1_0 != 100 || CL_VERSION_1_1 != 110 || CL_VERSION_1_2 != 120
#error "versions"
#endif
#if __OPENCL_C_VERSION__ != 120 && __OPENCL_C_VERSION__ != 300
#error "version of the language"
#endif
#ifndef __ENDIAN_LITTLE__
#error "byte order"
#endif
#ifdef __FAST_RELAXED_MATH__
#error "not requested"
#endif
#if CHAR_BIT != 8 || CHAR_MAX != SCHAR_MAX || CHAR_MIN != SCHAR_MIN || INT_MAX != 2147483647 || INT_MIN != -INT_MAX - 1
#error "limits"
#endif
#if SHRT_MAX != 32767 || SHRT_MIN != -32768 || UCHAR_MAX != 255 || USHRT_MAX != 65535 || UINT_MAX != 0xffffffff
#error "limits"
#endif
#if LONG_MAX != 0x7fffffffffffffff || LONG_MIN + 1 != -LONG_MAX || ULONG_MAX != 0xffffffffffffffff
#error "limits"
#endif
#if FLT_DIG != 6 || FLT_MANT_DIG != 24 || FLT_MAX_10_EXP != 38 || FLT_MAX_EXP != 128 || FLT_MIN_10_EXP != -37 || FLT_MIN_EXP != -125 || FLT_RADIX != 2
#error "float"
#endif

kernel_exec(16, float4) void with_hint(global float *out)
{
    out[0] = MAXFLOAT;
}

__kernel_exec(8, int2) void constants(global float *out, global int *truths)
{
    size_t i = get_global_id(0);
    float values[] = {M_E_F, M_LOG2E_F, M_LOG10E_F, M_LN2_F, M_LN10_F, M_PI_F, M_PI_2_F, M_PI_4_F, M_1_PI_F, M_2_PI_F, M_2_SQRTPI_F,
                      M_SQRT2_F, M_SQRT1_2_F, FLT_MAX, FLT_MIN, FLT_EPSILON};
    out[i] = values[i];
    if (i == 0) {
        truths[0] = MAXFLOAT == FLT_MAX;
        truths[1] = isinf(HUGE_VALF) && isinf(INFINITY) && INFINITY > 0;
        truths[2] = isnan(NAN);
        truths[3] = NULL == (void *)0;
        truths[4] = true && !false;
        truths[5] = sizeof(__FILE__) > 1 && sizeof(__func__) > 1;
        truths[6] = FP_ILOGB0 == INT_MIN && FP_ILOGBNAN == INT_MAX;
    }
}
// run: constants global=16
// arg out: float[16]
// arg truths: int[7]
// expect out: {
//   2.7182818284590452354, 1.4426950408889634074, 0.43429448190325182765, 0.69314718055994530942, 2.30258509299404568402, pi, pi / 2, pi / 4,
//   1 / pi, 2 / pi, 1.12837916709551257390, 1.41421356237309504880, 0.70710678118654752440, FLT_MAX, 1.17549435e-38, 1.1920929e-7}
// expect truths: 1
