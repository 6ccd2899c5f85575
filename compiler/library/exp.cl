// Exponentials, single precision (OpenCL C 6.15.2). Method: x = k ln 2 + r with |r| <= ln 2 / 2, r in two parts (Cody
// and Waite), a polynomial for e^r (Sollya's fpminimax), then scaling by 2^k. Polynomial error below 2^-30 of the
// result.

// (e^r - 1 - r) / r^2 on [-0.347, 0.347]
float __wgcl_exp_poly(float r) {
    float p = 0x1.a74f64p-13f;
    p = mad(p, r, 0x1.6d2e1cp-10f);
    p = mad(p, r, 0x1.110ca2p-7f);
    p = mad(p, r, 0x1.555502p-5f);
    p = mad(p, r, 0x1.555558p-3f);
    return mad(p, r, 0.5f);
}

#ifndef FP_FAST_FMAF

// e^(hi + lo) for |hi| <= 200; lo is a small correction.
float __wgcl_exp_parts(float hi, float lo) {
    float k = rint(hi * 0x1.715476p0f);
    float r = mad(-k, 0x1.0bfbe8p-15f, mad(-k, 0x1.62ep-1f, hi)) + lo;
    float y = 1.0f + mad(r * r, __wgcl_exp_poly(r), r);
    return __wgcl_scale(y, (int)k);
}

// Largest error seen: 1.0 ULP.
float exp(float x) {
    float y = __wgcl_exp_parts(clamp(x, -110.0f, 100.0f), 0.0f);
    return isnan(x) ? x : y;
}

// x = k + f, e^(f ln 2). Largest error seen: 1.0 ULP.
float exp2(float x) {
    float t = clamp(x, -160.0f, 140.0f);
    float k = rint(t);
    float f = t - k;
    float r = f * 0x1.62e43p-1f;
    float y = 1.0f + (r + r * r * __wgcl_exp_poly(r));
    y = __wgcl_scale(y, (int)k);
    return isnan(x) ? x : y;
}

// x = k log10(2) + f, e^(f ln 10). Largest error seen: 1.1 ULP.
float exp10(float x) {
    float t = clamp(x, -50.0f, 42.0f);
    float k = rint(t * 0x1.a934fp1f);
    float f = (t - k * 0x1.344p-2f) - k * 0x1.3509f8p-18f;
    float r = f * 0x1.26bb1cp1f + f * -0x1.12aabap-25f;
    float y = 1.0f + (r + r * r * __wgcl_exp_poly(r));
    y = __wgcl_scale(y, (int)k);
    return isnan(x) ? x : y;
}

#endif

// 2^k (e^r - 1) + (2^k - 1). Largest error seen: 1.5 ULP.
float expm1(float x) {
    float t = clamp(x, -30.0f, 100.0f);
    float k = rint(t * 0x1.715476p0f);
    float hi = t - k * 0x1.62ep-1f;
    float lo = k * 0x1.0bfbe8p-15f;
    float r = hi - lo;
    float c = (hi - r) - lo;
    float em1 = r + (r * r * __wgcl_exp_poly(r) + c);
    float y;
    if (k == 0.0f) {
        y = em1;
    } else if (k > 100.0f) {
        y = __wgcl_scale(1.0f + em1, (int)k);
    } else {
        float s = __wgcl_pow2i((int)k);
        float one = 1.0f / s;
        y = k < 24.0f ? s * ((1.0f - one) + em1) : s * (1.0f + (em1 - one));
    }
    return isnan(x) || x == 0.0f ? x : y;
}
