// half_ and native_ functions (OpenCL C 6.15.2) without a device operation call the full-precision functions.

float half_cos(float x) { return cos(x); }
float half_divide(float x, float y) { return x / y; }
float half_exp(float x) { return exp(x); }
float half_exp2(float x) { return exp2(x); }
float half_exp10(float x) { return exp10(x); }
float half_log(float x) { return log(x); }
float half_log2(float x) { return log2(x); }
float half_log10(float x) { return log10(x); }
float half_powr(float x, float y) { return powr(x, y); }
float half_recip(float x) { return 1.0f / x; }
float half_rsqrt(float x) { return rsqrt(x); }
float half_sin(float x) { return sin(x); }
float half_sqrt(float x) { return sqrt(x); }
float half_tan(float x) { return tan(x); }

float native_exp(float x) { return native_exp2(x * 0x1.715476p0f); }
float native_exp10(float x) { return native_exp2(x * 0x1.a934fp1f); }
float native_log(float x) { return native_log2(x) * 0x1.62e43p-1f; }
float native_log10(float x) { return native_log2(x) * 0x1.344136p-2f; }
