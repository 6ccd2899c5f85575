// Inverse trigonometric functions, single precision (OpenCL C 6.15.2). Polynomials by Sollya's fpminimax, errors below
// 2^-28.

// (asin(sqrt(s)) / sqrt(s) - 1) / s on [0, 1/4]
float __wgcl_asin_poly(float s) {
    float p = 0x1.1ac2c6p-5f;
    p = mad(p, s, 0x1.0fe3b2p-6f);
    p = mad(p, s, 0x1.ffc17ap-6f);
    p = mad(p, s, 0x1.6d3e24p-5f);
    p = mad(p, s, 0x1.3334dp-4f);
    return mad(p, s, 0x1.555554p-3f);
}

// For |x| > 1/2: 2 asin(sqrt((1 - |x|) / 2)), using the square root and its error.
float __wgcl_acos_upper(float ax) {
    float z = 0.5f * (1.0f - ax);
    float root = sqrt(z);
    float hi = as_float(as_uint(root) & 0xfffff000u);
    float error = root == 0.0f ? 0.0f : (z - hi * hi) / (root + hi);
    return 2.0f * (hi + (error + root * z * __wgcl_asin_poly(z)));
}

// A polynomial up to 1/2, pi/2 - 2 asin(sqrt((1 - x) / 2)) above. Largest error seen: 1.9 ULP.
float asin(float x) {
    float ax = fabs(x);
    float y;
    if (ax <= 0.5f) {
        float s = x * x;
        return x + x * s * __wgcl_asin_poly(s);
    }
    y = 0x1.921fb6p0f - (__wgcl_acos_upper(ax) + 0x1.777a5cp-25f);
    return ax > 1.0f || isnan(x) ? as_float(0x7fc00000u) : copysign(y, x);
}

// pi/2 - asin(x) up to 1/2, 2 asin(sqrt((1 - x) / 2)) above. Largest error seen: 1.0 ULP.
float acos(float x) {
    float ax = fabs(x);
    if (ax <= 0.5f) {
        float s = x * x;
        return 0x1.921fb6p0f - (x - (-0x1.777a5cp-25f - x * s * __wgcl_asin_poly(s)));
    }
    float y = __wgcl_acos_upper(ax);
    y = x < 0.0f ? 0x1.921fb6p1f - (y + 0x1.777a5cp-24f) : y;
    return ax > 1.0f || isnan(x) ? as_float(0x7fc00000u) : y;
}

// atan of n / d as hi + lo. Both are non-negative, not both 0, and not both infinite.
float __wgcl_atan_ratio(float n, float d, float *lo) {
    float t, base, base_lo;
    if (n * 0.41421356f > d) {
        t = -d / n;
        base = 0x1.921fb6p0f;
        base_lo = -0x1.777a5cp-25f;
    } else if (n > d * 0.41421356f) {
        t = (n - d) / (n + d);
        base = 0x1.921fb6p-1f;
        base_lo = -0x1.777a5cp-26f;
    } else {
        t = n / d;
        base = 0.0f;
        base_lo = 0.0f;
    }
    float s = t * t;
    float p = -0x1.07c8ap-4f;
    p = mad(p, s, 0x1.b7df6cp-4f);
    p = mad(p, s, -0x1.241cfep-3f);
    p = mad(p, s, 0x1.999708p-3f);
    p = mad(p, s, -0x1.555554p-2f);
    *lo = (t * s * p + base_lo) + t;
    return base;
}

// Reduced by pi/4 or pi/2 to tan(pi/8), then a polynomial. Largest error seen: 1.9 ULP.
float atan(float x) {
    float ax = fabs(x);
    float lo;
    float base = __wgcl_atan_ratio(fmin(ax, 1e30f), 1.0f, &lo);
    return isnan(x) ? x : copysign(base + lo, x);
}

// atan of |y / x|, subtracted from pi if x is negative. Largest error seen: 1.8 ULP.
float atan2(float y, float x) {
    float ay = fabs(y);
    float ax = fabs(x);
    if (isnan(x) || isnan(y)) {
        return as_float(0x7fc00000u);
    }
    float base, lo;
    if (ay == 0.0f) {
        base = 0.0f;
        lo = 0.0f;
    } else if (ax == 0.0f) {
        base = 0x1.921fb6p0f;
        lo = -0x1.777a5cp-25f;
    } else if (isinf(ax) && isinf(ay)) {
        base = 0x1.921fb6p-1f;
        lo = -0x1.777a5cp-26f;
    } else {
        // Keep products and quotients away from overflow and underflow.
        float big = fmax(ax, ay);
        float scale = big > 0x1p125f ? 0x1p-4f : big < 0x1p-60f ? 0x1p60f : 1.0f;
        base = __wgcl_atan_ratio(ay * scale, ax * scale, &lo);
    }
    float r;
    if (as_uint(x) >= 0x80000000u) {
        // pi - (base + lo); base is a multiple of pi / 4, so the first difference is nearly exact.
        r = (0x1.921fb6p1f - base) - (lo + 0x1.777a5cp-24f);
    } else {
        r = base + lo;
    }
    return copysign(r, y);
}

// a / pi with 1/pi in two parts, |a| <= 4. Scaled, because the lower parts of small numbers are denormals, which some
// devices flush.
float __wgcl_over_pi(float a) {
    float scaled = a * 0x1p64f;
    float hi = as_float(as_uint(scaled) & 0xfffff000u);
    float lo = scaled - hi;
    float y = (hi * 0x1.45ep-2f + (lo * 0x1.45ep-2f + scaled * 0x1.306dcap-14f)) * 0x1p-64f;
    return a == 0.0f ? a : y;
}

// asin over pi. Largest error seen: 2.8 ULP.
float asinpi(float x) { return __wgcl_over_pi(asin(x)); }
// acos over pi. Largest error seen: 1.7 ULP.
float acospi(float x) { return __wgcl_over_pi(acos(x)); }
// atan over pi. Largest error seen: 1.8 ULP.
float atanpi(float x) { return __wgcl_over_pi(atan(x)); }
// atan2 over pi. Largest error seen: 1.7 ULP.
float atan2pi(float y, float x) { return __wgcl_over_pi(atan2(y, x)); }
