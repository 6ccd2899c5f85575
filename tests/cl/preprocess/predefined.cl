// The macros that OpenCL C and C99 predefine.

#line 100
#define HERE __LINE__
kernel void predefined(global int *out)
{
    out[0] = __LINE__;
    out[1] = HERE;
    out[2] = __OPENCL_VERSION__ >= 120;
    out[3] = __OPENCL_C_VERSION__ >= 120;
    out[4] = CL_VERSION_1_0 + CL_VERSION_1_1 + CL_VERSION_1_2;
    out[5] = sizeof(__FILE__) > 0;
    out[6] = __ENDIAN_LITTLE__;
    out[7] = CHAR_BIT + (INT_MAX == 0x7fffffff) + (SHRT_MIN == -32768) + (UCHAR_MAX == 255);
    out[8] = (FLT_MAX > 3.4e38f) + (FLT_DIG == 6) + (FLT_MANT_DIG == 24) + (M_PI_F > 3.14f) + (FLT_EPSILON == 0x1p-23f);
    out[9] = isnan(NAN) + isinf(INFINITY) + (MAXFLOAT == FLT_MAX) + isinf(HUGE_VALF);
#ifdef __OPENCL_VERSION__
    out[10] = 1;
#endif
}
// run: predefined global=1
// arg out: int[11]
// expect out: {103, 104, 1, 1, 330, 1, 1, 11, 5, 4, 1}
