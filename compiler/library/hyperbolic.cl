// Hyperbolic functions and their inverses, single precision (OpenCL C 6.15.2). Polynomials by Sollya's fpminimax.

// A polynomial up to 1, (e^x - e^-x) / 2 above. Largest error seen: 1.6 ULP.
float sinh(float x) {
    float ax = fabs(x);
    if (ax <= 1.0f) {
        float s = x * x;
        float p = 0x1.7941bp-19f;
        p = mad(p, s, 0x1.a00bcap-13f);
        p = mad(p, s, 0x1.1111p-7f);
        p = mad(p, s, 0x1.555556p-3f);
        return x + x * s * p;
    }
    // e^(|x| - ln 2) = e^|x| / 2 does not overflow before the result does.
    float e = __wgcl_exp_parts(fmin(ax, 100.0f) - 0x1.62ep-1f, -0x1.0bfbe8p-15f);
    float y = e - 0.25f / e;
    return isnan(x) ? x : copysign(y, x);
}

// (e^x + e^-x) / 2. Largest error seen: 1.3 ULP.
float cosh(float x) {
    float ax = fabs(x);
    float e = __wgcl_exp_parts(fmin(ax, 100.0f) - 0x1.62ep-1f, -0x1.0bfbe8p-15f);
    float y = e + 0.25f / e;
    return isnan(x) ? x : y;
}

// A polynomial up to 0.625, 1 - 2 / (e^2x + 1) above. Largest error seen: 1.3 ULP.
float tanh(float x) {
    float ax = fabs(x);
    if (ax <= 0.625f) {
        float s = x * x;
        float p = -0x1.8ef844p-8f;
        p = mad(p, s, 0x1.57e536p-6f);
        p = mad(p, s, -0x1.b9212ep-5f);
        p = mad(p, s, 0x1.110ep-3f);
        p = mad(p, s, -0x1.555552p-2f);
        // For -0 the sum would be 0.
        return copysign(ax + ax * s * p, x);
    }
    float y = 1.0f - 2.0f / (__wgcl_exp_parts(2.0f * fmin(ax, 20.0f), 0.0f) + 1.0f);
    return isnan(x) ? x : copysign(y, x);
}

// A polynomial up to 1/2, log1p(x + x^2 / (1 + sqrt(1 + x^2))) above. Largest error seen: 1.7 ULP.
float asinh(float x) {
    float ax = fabs(x);
    if (ax <= 0.5f) {
        float s = x * x;
        float p = 0x1.59bfbp-7f;
        p = mad(p, s, -0x1.573784p-6f);
        p = mad(p, s, 0x1.efcbeap-6f);
        p = mad(p, s, -0x1.6db3c4p-5f);
        p = mad(p, s, 0x1.33337p-4f);
        p = mad(p, s, -0x1.555556p-3f);
        // For -0 the sum would be 0.
        return copysign(ax + ax * s * p, x);
    }
    float y;
    if (ax > 1e9f) {
        y = log(ax) + 0x1.62e43p-1f;
    } else {
        float s = ax * ax;
        y = log1p(ax + s / (1.0f + sqrt(1.0f + s)));
    }
    return isnan(x) ? x : copysign(y, x);
}

// log1p(t + sqrt(2 t + t^2)) with t = x - 1. Largest error seen: 1.9 ULP.
float acosh(float x) {
    if (x > 1e9f) {
        return log(x) + 0x1.62e43p-1f;
    }
    float t = x - 1.0f;
    float y = log1p(t + sqrt(2.0f * t + t * t));
    return x < 1.0f || isnan(x) ? as_float(0x7fc00000u) : y;
}

// log1p(2 x / (1 - x)) / 2. Largest error seen: 1.9 ULP.
float atanh(float x) {
    float ax = fabs(x);
    float y = ax < 0x1p-12f ? ax : 0.5f * log1p(2.0f * ax / (1.0f - ax));
    return ax > 1.0f || isnan(x) ? as_float(0x7fc00000u) : copysign(y, x);
}
