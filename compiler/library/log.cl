// Logarithms, single precision (OpenCL C 6.15.2). The argument is 2^k m with m in [sqrt(1/2), sqrt(2)), and f = m - 1.
// log(1 + f) = f - f^2/2 + f^3 P(f). P is computed by Sollya's fpminimax, with an error below 2^-28. k ln 2 is added in
// two parts.

// (log(1 + f) - f + f^2/2) / f^3
float __wgcl_log_poly(float f) {
    float p = 0x1.207c34p-4f;
    p = mad(p, f, -0x1.d7ebfp-4f);
    p = mad(p, f, 0x1.de54c8p-4f);
    p = mad(p, f, -0x1.fcb48p-4f);
    p = mad(p, f, 0x1.23d34ap-3f);
    p = mad(p, f, -0x1.555cacp-3f);
    p = mad(p, f, 0x1.999d5p-3f);
    p = mad(p, f, -0x1.fffff8p-3f);
    return mad(p, f, 0x1.555554p-2f);
}

// Results for 0, negative numbers, infinity and NaN, for which the formulas do not hold.
float __wgcl_log_special(float x, float y) {
    y = x == as_float(0x7f800000u) ? x : y;
    y = (as_uint(x) & 0x7fffffffu) == 0u ? as_float(0xff800000u) : y;
    // By the bits: negative denormals are not zeros.
    return as_uint(x) > 0x80000000u || isnan(x) ? as_float(0x7fc00000u) : y;
}

#ifndef FP_FAST_FMAF

// Splits a positive finite x; f = m - 1, exact.
float __wgcl_log_split(float x, float *k) {
    int e = __wgcl_exponent(x);
    uint m = __wgcl_significand(x);
    int up = m > 0x3fb504f3u;
    *k = (float)(e + up);
    return as_float(up ? m - 0x00800000u : m) - 1.0f;
}

// Largest error seen: 0.8 ULP.
float log(float x) {
    float k;
    float f = __wgcl_log_split(x, &k);
    float hfsq = 0.5f * f * f;
    float y = f * f * f * __wgcl_log_poly(f);
    y = f - (hfsq - mad(k, 0x1.0bfbe8p-15f, y));
    // k times the upper 12 bits of ln 2 is exact.
    y = mad(k, 0x1.62ep-1f, y);
    return __wgcl_log_special(x, y);
}

// log(1 + f) times a constant in two parts, plus k times another: hi has 12 bits, so that its products are exact.
float __wgcl_log_base(float f, float base_hi, float base_lo, float *rest) {
    float hfsq = 0.5f * f * f;
    float y = f - hfsq;
    float hi = as_float(as_uint(y) & 0xfffff000u);
    float lo = (f - hi) - hfsq + f * f * f * __wgcl_log_poly(f);
    *rest = lo * base_hi + (hi + lo) * base_lo;
    return hi * base_hi;
}

// log(1 + f) / ln 2 in two parts. Largest error seen: 0.8 ULP.
float log2(float x) {
    float k;
    float f = __wgcl_log_split(x, &k);
    float rest;
    float main_part = __wgcl_log_base(f, 0x1.714p0f, 0x1.47652cp-12f, &rest);
    float sum = k + main_part;
    float error = main_part - (sum - k);
    return __wgcl_log_special(x, sum + (error + rest));
}

// log(1 + f) / ln 10 in two parts. Largest error seen: 0.7 ULP.
float log10(float x) {
    float k;
    float f = __wgcl_log_split(x, &k);
    float rest;
    float main_part = __wgcl_log_base(f, 0x1.bcap-2f, 0x1.7b1526p-14f, &rest);
    rest += k * 0x1.3509f8p-18f;
    float k_part = k * 0x1.344p-2f;
    float sum = k_part + main_part;
    float error = k == 0.0f ? 0.0f : main_part - (sum - k_part);
    return __wgcl_log_special(x, sum + (error + rest));
}

#endif

// log(u) with u = 1 + x rounded, and the rounding error divided by u. Largest error seen: 0.8 ULP.
float log1p(float x) {
    float u = 1.0f + x;
    float k;
    float f = __wgcl_log_split(u, &k);
    // The rounding error of 1 + x.
    float c = fabs(x) < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
    c = c / u;
    if (k == 0.0f) {
        // x itself is more precise than u - 1.
        f = x;
        c = 0.0f;
    }
    float hfsq = 0.5f * f * f;
    float y = f * f * f * __wgcl_log_poly(f);
    y = f - (hfsq - (y + (k * 0x1.0bfbe8p-15f + c)));
    y = k * 0x1.62ep-1f + y;
    y = x == as_float(0x7f800000u) || x == 0.0f ? x : y;
    y = x == -1.0f ? as_float(0xff800000u) : y;
    return x < -1.0f || isnan(x) ? as_float(0x7fc00000u) : y;
}
