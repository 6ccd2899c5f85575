// The most used functions of single precision (OpenCL C 6.15.2) for devices with a fused `mad` that skip branches which
// no work-item takes. The rounding error of a product is one operation here, so splitting a product takes two
// operations instead of ten. Rare cases share one test and one branch. Polynomials by Sollya's fpminimax, relative
// errors below 2^-24.9.

#ifdef FP_FAST_FMAF

// Adding this to a number rounds it to the nearest integer, which is then in the lower bits of the sum. Valid for
// magnitudes below 2^22.
#define WHOLE 0x1.8p23f
#define WHOLE_BITS 0x4b400000u
#define INFINITY_BITS 0x7f800000u

// y 2^k, where t = k + WHOLE, for y in [0.7, 1.5] and |k| <= 125.
float __wgcl_raise(float y, float t) { return as_float(as_uint(y) + (as_uint(t) << 23)); }

// Whether that k is out of range, or invalid because t is a NaN or too large.
int __wgcl_out_of_reach(float t) { return as_uint(t) - (WHOLE_BITS - 125u) > 250u; }

// y 2^k for all k: zero below `least`, infinity above `most`, NaN for NaN.
float __wgcl_raise_any(float x, float y, float t, float least, float most) {
    float r = __wgcl_scale(y, (int)(as_uint(t) - WHOLE_BITS));
    r = x < least ? 0.0f : r;
    r = x > most ? as_float(INFINITY_BITS) : r;
    return isnan(x) ? x : r;
}

// e^r for |r| <= 0.347
float __wgcl_exp_near(float r) {
    float p = 0x1.684dep-10f;
    p = mad(p, r, 0x1.123bf8p-7f);
    p = mad(p, r, 0x1.555b9cp-5f);
    p = mad(p, r, 0x1.55548ep-3f);
    p = mad(p, r, 0x1.fffff8p-2f);
    p = mad(p, r, 1.0f);
    return mad(p, r, 1.0f);
}

// 2^f for |f| <= 0.5
float __wgcl_exp2_near(float f) {
    float p = 0x1.3f9068p-13f;
    p = mad(p, f, 0x1.5f0a66p-10f);
    p = mad(p, f, 0x1.3b30bp-7f);
    p = mad(p, f, 0x1.c6af78p-5f);
    p = mad(p, f, 0x1.ebfbd8p-3f);
    p = mad(p, f, 0x1.62e43p-1f);
    return mad(p, f, 1.0f);
}

// e^(hi + lo) for |hi| <= 200; lo is a small correction.
float __wgcl_exp_parts(float hi, float lo) {
    float t = mad(hi, 0x1.715476p0f, WHOLE);
    float k = t - WHOLE;
    float y = __wgcl_exp_near(mad(k, 0x1.05c61p-29f, mad(k, -0x1.62e43p-1f, hi)) + lo);
    float r = __wgcl_raise(y, t);
    if (__wgcl_out_of_reach(t)) {
        r = __wgcl_raise_any(hi, y, t, -250.0f, 250.0f);
    }
    return r;
}

#ifdef __WGCL_ACCURATE_EXP2__

// The device's instruction, with an error of at most 2.1 ULP.
float exp2(float x) { return native_exp2(x); }

// 2^f 2^k, |k| <= 127. Infinities and numbers out of range are in f.
float __wgcl_exp2_parts(float f, float k) { return native_exp2(f) * __wgcl_pow2i((int)k); }

// x log2(e) = k + f, log2(e) in two parts. Largest error seen: 2.3 ULP.
float exp(float x) {
    float k = clamp(rint(x * 0x1.715476p0f), -126.0f, 127.0f);
    float f = mad(x, 0x1.4ae0cp-26f, mad(x, 0x1.715476p0f, -k));
    return __wgcl_exp2_parts(f, k);
}

// x log2(10) = k + f, log2(10) in two parts. Largest error seen: 2.3 ULP.
float exp10(float x) {
    float k = clamp(rint(x * 0x1.a934fp1f), -126.0f, 127.0f);
    float f = mad(x, 0x1.2f346ep-24f, mad(x, 0x1.a934fp1f, -k));
    return __wgcl_exp2_parts(f, k);
}

#else

// x = k ln 2 + r, ln 2 in two parts. Largest error seen: 1.0 ULP.
float exp(float x) {
    float t = mad(x, 0x1.715476p0f, WHOLE);
    float k = t - WHOLE;
    float y = __wgcl_exp_near(mad(k, 0x1.05c61p-29f, mad(k, -0x1.62e43p-1f, x)));
    float r = __wgcl_raise(y, t);
    if (__wgcl_out_of_reach(t)) {
        r = __wgcl_raise_any(x, y, t, -105.0f, 89.0f);
    }
    return r;
}

// x = k + f. Largest error seen: 1.0 ULP.
float exp2(float x) {
    float t = x + WHOLE;
    float y = __wgcl_exp2_near(x - (t - WHOLE));
    float r = __wgcl_raise(y, t);
    if (__wgcl_out_of_reach(t)) {
        r = __wgcl_raise_any(x, y, t, -151.0f, 129.0f);
    }
    return r;
}

// x = k log10(2) + f, log10(2) in two parts. Largest error seen: 1.0 ULP.
float exp10(float x) {
    float t = mad(x, 0x1.a934fp1f, WHOLE);
    float k = t - WHOLE;
    float f = mad(k, 0x1.ec10cp-27f, mad(k, -0x1.344136p-2f, x));
    float y = 0x1.a49024p-3f;
    y = mad(y, f, 0x1.156bd2p-1f);
    y = mad(y, f, 0x1.2bdbep0f);
    y = mad(y, f, 0x1.046f9ap1f);
    y = mad(y, f, 0x1.535248p1f);
    y = mad(y, f, 0x1.26bb1cp1f);
    y = mad(y, f, 1.0f);
    float r = __wgcl_raise(y, t);
    if (__wgcl_out_of_reach(t)) {
        r = __wgcl_raise_any(x, y, t, -46.0f, 39.0f);
    }
    return r;
}

#endif

// A positive finite x as 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
float __wgcl_log_split(float x, float *k) {
    int denormal = x < 0x1p-126f;
    uint bits = as_uint(denormal ? x * 0x1p24f : x);
    uint e = (bits - 0x3f3504f3u) & 0xff800000u;
    *k = mad((float)(int)e, 0x1p-23f, denormal ? -24.0f : 0.0f);
    return as_float(bits - e) - 1.0f;
}

// Whether x is negative, a zero, a denormal, an infinity or a NaN.
int __wgcl_not_normal(float x) { return as_uint(x) - 0x00800000u >= 0x7f000000u; }

// log(1 + f) = f + f^2 P(f). Largest error seen: 1.0 ULP.
float log(float x) {
    float k;
    float f = __wgcl_log_split(x, &k);
    float p = -0x1.553e72p-4f;
    p = mad(p, f, 0x1.0665ecp-3f);
    p = mad(p, f, -0x1.09034ap-3f);
    p = mad(p, f, 0x1.22926ep-3f);
    p = mad(p, f, -0x1.54dc66p-3f);
    p = mad(p, f, 0x1.99a3fap-3f);
    p = mad(p, f, -0x1.0000bcp-2f);
    p = mad(p, f, 0x1.55555p-2f);
    p = mad(p, f, -0.5f);
    float y = mad(k, 0x1.62e43p-1f, mad(f * f, p, f));
    if (__wgcl_not_normal(x)) {
        y = __wgcl_log_special(x, y);
    }
    return y;
}

// log2(1 + f) = f P(f). Largest error seen: 1.6 ULP.
float log2(float x) {
    float k;
    float f = __wgcl_log_split(x, &k);
    float p = 0x1.027b2p-3f;
    p = mad(p, f, -0x1.a81306p-3f);
    p = mad(p, f, 0x1.b93f94p-3f);
    p = mad(p, f, -0x1.e96558p-3f);
    p = mad(p, f, 0x1.26dcd2p-2f);
    p = mad(p, f, -0x1.715c5p-2f);
    p = mad(p, f, 0x1.ec736ep-2f);
    p = mad(p, f, -0x1.71547p-1f);
    p = mad(p, f, 0x1.715476p0f);
    float y = mad(f, p, k);
    if (__wgcl_not_normal(x)) {
        y = __wgcl_log_special(x, y);
    }
    return y;
}

// log10(1 + f) = f P(f), k log10(2) in two parts. Largest error seen: 1.5 ULP.
float log10(float x) {
    float k;
    float f = __wgcl_log_split(x, &k);
    float p = -0x1.40b4f8p-5f;
    p = mad(p, f, 0x1.e80a96p-5f);
    p = mad(p, f, -0x1.cf452cp-5f);
    p = mad(p, f, 0x1.f28a18p-5f);
    p = mad(p, f, -0x1.27a13cp-4f);
    p = mad(p, f, 0x1.640586p-4f);
    p = mad(p, f, -0x1.bcbe84p-4f);
    p = mad(p, f, 0x1.2879b8p-3f);
    p = mad(p, f, -0x1.bcb7aap-3f);
    p = mad(p, f, 0x1.bcb7b2p-2f);
    float y = mad(k, 0x1.344136p-2f, mad(k, -0x1.ec10cp-27f, f * p));
    if (__wgcl_not_normal(x)) {
        y = __wgcl_log_special(x, y);
    }
    return y;
}

// log2 of a positive finite x as hi + lo, error below 2^-32 of the larger of it and 1/2: log2(m) = 2 / ln 2 (s + s^3/3
// + ...) with s = (m - 1) / (m + 1) in two parts. For other arguments the result is arbitrary.
float __wgcl_log2_parts(float x, float *lo) {
    float k;
    float f = __wgcl_log_split(x, &k);
    // 1 / (2 + f) with an error of 2^-19: a parabola and a step of Newton's method. The first part of the quotient has
    // that accuracy; the remainder of f is exact.
    float d = f + 2.0f;
    float r = mad(mad(0x1.deabf8p-4f, f, -0x1.051cd4p-2f), f, 0x1.0029d8p-1f);
    r = mad(r, mad(-d, r, 1.0f), r);
    float s = f * r;
    float s_lo = mad(-s, f, mad(-2.0f, s, f)) * r;
    float q = s * s;
    float p = 0x1.558cb8p-2f;
    p = mad(p, q, 0x1.a5f2aap-2f);
    p = mad(p, q, 0x1.2776b2p-1f);
    p = mad(p, q, 0x1.ec709ep-1f);
    p = p * q;
    // k + (s + s_lo) 2 / ln 2 + s^3 P(s^2), with s_lo to first order.
    float hi = mad(s, 0x1.715476p1f, k);
    float rest = mad(s, 0x1.715476p1f, k - hi);
    rest = mad(s_lo, mad(3.0f, p, 0x1.715476p1f), mad(s, 0x1.4ae0cp-25f, rest));
    rest = mad(s, p, rest);
    float l = hi + rest;
    *lo = rest - (l - hi);
    return l;
}

// x^y = v 2^(t - WHOLE) for x > 0 with the logarithm l + l_lo. p is the logarithm of the result.
float __wgcl_pow_parts(float l, float l_lo, float y, float *p, float *t) {
    float product = l * y;
    float error = mad(l_lo, y, mad(l, y, -product));
    *p = product;
    *t = product + WHOLE;
    return __wgcl_exp2_near((product - (*t - WHOLE)) + error);
}

// |x|^y where the parts are accurate: x is finite and not 0, and y is not a NaN.
float __wgcl_pow_any(float x, float p, float v, float t) {
    float r = __wgcl_raise_any(p, v, t, -160.0f, 160.0f);
    // For an infinite y the product is a NaN.
    return fabs(x) == 1.0f ? 1.0f : r;
}

// x^y for x > 0.
float __wgcl_pow_positive(float x, float y) {
    float l_lo, p, t;
    float l = __wgcl_log2_parts(x, &l_lo);
    float v = __wgcl_pow_parts(l, l_lo, y, &p, &t);
    float r = __wgcl_raise(v, t);
    if (__wgcl_out_of_reach(t)) {
        r = __wgcl_pow_any(x, p, v, t);
    }
    return r;
}

// 2^(y log2(x)), the logarithm and the product in two parts. Largest error seen: 2.5 ULP.
float pow(float x, float y) {
    float l_lo, p, t;
    float l = __wgcl_log2_parts(fabs(x), &l_lo);
    float v = __wgcl_pow_parts(l, l_lo, y, &p, &t);
    float r = __wgcl_raise(v, t);
    if (__wgcl_not_normal(x) | __wgcl_out_of_reach(t)) {
        r = __wgcl_pow_edges(x, y, __wgcl_parity(y), __wgcl_pow_any(x, p, v, t));
    }
    return r;
}

// Like pow. Largest error seen: 2.5 ULP.
float powr(float x, float y) {
    float l_lo, p, t;
    float l = __wgcl_log2_parts(fabs(x), &l_lo);
    float v = __wgcl_pow_parts(l, l_lo, y, &p, &t);
    float r = __wgcl_raise(v, t);
    if (__wgcl_not_normal(x) | __wgcl_out_of_reach(t)) {
        r = __wgcl_powr_edges(x, y, __wgcl_pow_any(x, p, v, t));
    }
    return r;
}

// Largest error seen: 2.5 ULP.
float pown(float x, int n) {
    // n in two floats: 24 bits cannot represent every int.
    float y = fmin((float)n, 0x1.fffffep30f);
    float y_lo = (float)(n - (int)y);
    float l_lo;
    float l = __wgcl_log2_parts(fabs(x), &l_lo);
    float product = l * y;
    float error = mad(l, y_lo, mad(l_lo, y, mad(l, y, -product)));
    float t = product + WHOLE;
    float v = __wgcl_exp2_near((product - (t - WHOLE)) + error);
    float r = __wgcl_raise(v, t);
    if (__wgcl_not_normal(x) | __wgcl_out_of_reach(t)) {
        r = __wgcl_pow_edges(x, y, n & 1 ? 1 : 2, __wgcl_pow_any(x, product, v, t));
    }
    return r;
}

// 2^(log2(x) / n), the quotient in two parts. Largest error seen: 1.0 ULP.
float rootn(float x, int n) {
    float l_lo;
    float l = __wgcl_log2_parts(fabs(x), &l_lo);
    float y = (float)n;
    float u = 1.0f / y;
    float quotient = l * u;
    float left = (mad(-quotient, y, l) + l_lo) * u;
    float t = quotient + WHOLE;
    float v = __wgcl_exp2_near((quotient - (t - WHOLE)) + left);
    float r = __wgcl_raise(v, t);
    if (__wgcl_not_normal(x) | (n == 0) | __wgcl_out_of_reach(t)) {
        r = __wgcl_rootn_edges(x, n, __wgcl_pow_any(x, quotient, v, t));
    }
    return r;
}

// t >= 0 in quadrants: their number (modulo 4) and the remainder. Up to 2^16, by pi/2 in three parts.
uint __wgcl_reduce(float t, float *rest) {
    float whole = mad(t, 0x1.45f306p-1f, WHOLE);
    float k = whole - WHOLE;
    *rest = mad(k, -0x1.846988p-48f, mad(k, -0x1.4442dp-24f, mad(k, -0x1.921fb4p0f, t)));
    uint quadrant = as_uint(whole);
    if (!(t < 65536.0f)) {
        float lo, hi;
        quadrant = __wgcl_reduce_large(t, &lo, &hi);
        // A NaN for infinities and NaNs.
        *rest = t < as_float(INFINITY_BITS) ? hi + lo : as_float(0x7fc00000u);
    }
    return quadrant;
}

// s = r^2
float __wgcl_sin_near(float r, float s) {
    float p = mad(mad(-0x1.9ab414p-13f, s, 0x1.110be6p-7f), s, -0x1.555552p-3f);
    return mad(r * s, p, r);
}

float __wgcl_cos_near(float s) {
    float p = mad(mad(0x1.9bc774p-16f, s, -0x1.6c129ep-10f), s, 0x1.555554p-5f);
    return mad(mad(p, s, -0.5f), s, 1.0f);
}

// Largest error seen: 1.5 ULP.
float sin(float x) {
    float r;
    uint quadrant = __wgcl_reduce(fabs(x), &r);
    float s = r * r;
    uint y = __wgcl_sin_bits(quadrant, __wgcl_sin_near(r, s), __wgcl_cos_near(s));
    return as_float(y ^ (as_uint(x) & 0x80000000u));
}

// Largest error seen: 1.5 ULP.
float cos(float x) {
    float r;
    uint quadrant = __wgcl_reduce(fabs(x), &r);
    float s = r * r;
    return as_float(__wgcl_sin_bits(quadrant + 1u, __wgcl_sin_near(r, s), __wgcl_cos_near(s)));
}

// Largest error seen: 1.5 ULP.
float sincos(float x, float *cosval) {
    float r;
    uint quadrant = __wgcl_reduce(fabs(x), &r);
    float s = r * r;
    float sine = __wgcl_sin_near(r, s);
    float cosine = __wgcl_cos_near(s);
    *cosval = as_float(__wgcl_sin_bits(quadrant + 1u, sine, cosine));
    return as_float(__wgcl_sin_bits(quadrant, sine, cosine) ^ (as_uint(x) & 0x80000000u));
}

// Largest error seen: 2.5 ULP.
float tan(float x) {
    float r;
    uint quadrant = __wgcl_reduce(fabs(x), &r);
    float s = r * r;
    float y = mad(r * s, __wgcl_tan_poly(s), r);
    y = (quadrant & 1u) ? -1.0f / y : y;
    return as_float(as_uint(y) ^ (as_uint(x) & 0x80000000u));
}

#endif
