// Error and gamma functions, single precision (OpenCL C 6.15.2). Polynomials: Sollya's fpminimax (erf) and Chebyshev
// fits in 40 digits (others).

// erfc(x) for 0.83 <= x <= 10.5: e^(-x^2) / x times a polynomial in 1/x on three intervals, errors below 2^-27.
float __wgcl_erfc_tail(float x) {
    float u = 1.0f / x;
    float p;
    if (u < 0.25f) {
        float t = u - 0.1725f;
        p = -0x1.c7353p-2f;
        p = mad(p, t, 0x1.dc97acp-4f);
        p = mad(p, t, 0x1.aa01e8p-3f);
        p = mad(p, t, -0x1.bf2d34p-3f);
        p = mad(p, t, -0x1.6e8b8cp-4f);
        p = mad(p, t, 0x1.1cbf04p-1f);
    } else if (u < 0.55f) {
        float t = u - 0.4f;
        p = 0x1.479f2cp-3f;
        p = mad(p, t, -0x1.4e4d2ap-6f);
        p = mad(p, t, -0x1.e8efap-4f);
        p = mad(p, t, 0x1.531138p-3f);
        p = mad(p, t, -0x1.445816p-4f);
        p = mad(p, t, -0x1.3f34fap-3f);
        p = mad(p, t, 0x1.0dd508p-1f);
    } else {
        float t = u - 0.875f;
        p = 0x1.221f8cp-8f;
        p = mad(p, t, -0x1.d7ce8ap-7f);
        p = mad(p, t, 0x1.9c8078p-6f);
        p = mad(p, t, -0x1.fc0280p-6f);
        p = mad(p, t, 0x1.4bee04p-6f);
        p = mad(p, t, 0x1.f20bd8p-6f);
        p = mad(p, t, -0x1.4d3938p-3f);
        p = mad(p, t, 0x1.ca26f6p-2f);
    }
    // x^2 = hi + lo exactly enough.
    float x_hi = as_float(as_uint(x) & 0xfffff000u);
    float lo = (x - x_hi) * (x + x_hi);
    return __wgcl_exp_parts(-x_hi * x_hi, -lo) * (p * u);
}

// erf(sqrt(s)) / sqrt(s) on [0, 0.8]
float __wgcl_erf_poly(float s) {
    float p = 0x1.60ae8ep-14f;
    p = mad(p, s, -0x1.ab29c4p-11f);
    p = mad(p, s, 0x1.54d9bp-8f);
    p = mad(p, s, -0x1.b80f36p-6f);
    p = mad(p, s, 0x1.ce2dfcp-4f);
    p = mad(p, s, -0x1.812742p-2f);
    return mad(p, s, 0x1.20dd75p0f);
}

// A polynomial up to 0.875, 1 - erfc above. Largest error seen: 2.4 ULP.
float erf(float x) {
    float ax = fabs(x);
    if (ax < 0.875f) {
        return x * __wgcl_erf_poly(x * x);
    }
    float y = 1.0f - __wgcl_erfc_tail(fmin(ax, 6.0f));
    return isnan(x) ? x : copysign(y, x);
}

// 1 - erf up to 0.875, e^(-x^2) / x times a polynomial in 1/x above. Largest error seen: 7.3 ULP.
float erfc(float x) {
    float ax = fabs(x);
    if (ax < 0.875f) {
        float y = x * __wgcl_erf_poly(x * x);
        return x < 0.5f ? 1.0f - y : 0.5f - (y - 0.5f);
    }
    float y = __wgcl_erfc_tail(fmin(ax, 10.5f));
    y = x < 0.0f ? 2.0f - y : y;
    return isnan(x) ? x : y;
}

// Gamma on [1, 2]
float __wgcl_gamma_poly(float x) {
    float t = x - 1.5f;
    float p = -0x1.799e72p-6f;
    p = mad(p, t, 0x1.1b2ce0p-5f);
    p = mad(p, t, -0x1.2c3f1ap-5f);
    p = mad(p, t, 0x1.cf8db6p-5f);
    p = mad(p, t, -0x1.3e0a9ap-4f);
    p = mad(p, t, 0x1.289d14p-3f);
    p = mad(p, t, -0x1.b776a8p-4f);
    p = mad(p, t, 0x1.a8c352p-2f);
    p = mad(p, t, 0x1.08ea7ep-5f);
    return mad(p, t, 0x1.c5bf8ap-1f);
}

// Gamma of x > 0: by recurrence to [1, 2] below 8, by Stirling's series above.
float __wgcl_gamma_positive(float x) {
    if (x < 8.0f) {
        float product = 1.0f;
        float t = x;
        while (t > 2.0f) {
            t -= 1.0f;
            product *= t;
        }
        return t < 1.0f ? __wgcl_gamma_poly(t + 1.0f) / t : product * __wgcl_gamma_poly(t);
    }
    float u = 1.0f / x;
    float series = u * (0x1.555556p-4f - u * u * (0x1.6c16c2p-9f - u * u * 0x1.a01a02p-11f));
    // sqrt(2 pi) x^(x - 1/2) e^-x, with the power in two halves to avoid overflow.
    float root = __wgcl_pow_positive(x, 0.5f * x - 0.25f);
    return 0x1.40d932p1f * root * __wgcl_exp_parts(-x, series) * root;
}

// The recurrence to [1, 2] or Stirling's series; negative arguments by reflection. Largest error seen: 5.3 ULP.
float tgamma(float x) {
    float infinity = as_float(0x7f800000u);
    if (isnan(x) || x == -infinity) {
        return as_float(0x7fc00000u);
    }
    if (x == 0.0f) {
        return copysign(infinity, x);
    }
    if (x > 0.0f) {
        return x > 36.0f ? infinity : __wgcl_gamma_positive(x);
    }
    if (trunc(x) == x) {
        return as_float(0x7fc00000u);
    }
    if (x > -0x1p-24f) {
        return 1.0f / x;
    }
    // Gamma(x) = -pi / (x sin(pi x) Gamma(-x))
    float ax = -x;
    float s = ax * sinpi(ax);
    if (ax > 42.5f) {
        return copysign(0.0f, -s);
    }
    if (ax > 33.0f) {
        // Gamma(-x) alone may overflow, so multiply one factor at a time.
        float y = 0x1.921fb6p1f / s / __wgcl_gamma_positive(ax - 8.0f);
        for (float t = ax - 8.0f; t < ax - 0.5f; t += 1.0f) {
            y /= t;
        }
        return -y;
    }
    return -0x1.921fb6p1f / (s * __wgcl_gamma_positive(ax));
}

// log Gamma of x > 0.
float __wgcl_lgamma_positive(float x) {
    if (x >= 8.0f) {
        float u = 1.0f / x;
        float series = u * (0x1.555556p-4f - u * u * (0x1.6c16c2p-9f - u * u * 0x1.a01a02p-11f));
        float l = log(x) - 1.0f;
        // x (log x - 1) does not overflow before the result.
        return x > 1e30f ? x * l : (x * l - 0.5f * (l + 1.0f)) + (0x1.d67f1cp-1f + series);
    }
    float shift = 0.0f;
    float t = x;
    if (x < 1.0f) {
        shift = -log(x);
        t = x + 1.0f;
    } else if (x > 3.0f) {
        float product = 1.0f;
        while (t > 3.0f) {
            t -= 1.0f;
            product *= t;
        }
        shift = log(product);
    }
    // (t - 1) (t - 2) P(t) on [1, 3]
    float z = t - 2.0f;
    float p = 0x1.2f86760p-16f;
    p = mad(p, z, -0x1.43a2f0p-15f);
    p = mad(p, z, 0x1.90aab8p-16f);
    p = mad(p, z, -0x1.bb4078p-15f);
    p = mad(p, z, 0x1.921b76p-13f);
    p = mad(p, z, -0x1.bdce72p-12f);
    p = mad(p, z, 0x1.de765cp-11f);
    p = mad(p, z, -0x1.138b8cp-9f);
    p = mad(p, z, 0x1.479d3cp-8f);
    p = mad(p, z, -0x1.95d470p-7f);
    p = mad(p, z, 0x1.0e0c98p-5f);
    p = mad(p, z, -0x1.9ae64ap-4f);
    p = mad(p, z, 0x1.b0ee60p-2f);
    // x + 1 rounds: t - 1 and t - 2 are x and x - 1 there.
    float one = x < 1.0f ? x : t - 1.0f;
    float two = x < 1.0f ? x - 1.0f : z;
    return one * two * p + shift;
}

// The recurrence to [1, 3] or Stirling's series; negative arguments by reflection. Largest error seen: 4.1 ULP. For
// negative arguments, that is relative to the largest of 1, the result and lgamma of the magnitude: near zeros at
// negative arguments, few digits of the result are right.
float lgamma_r(float x, int *signp) {
    float infinity = as_float(0x7f800000u);
    *signp = 1;
    if (isnan(x)) {
        return x;
    }
    if (isinf(x)) {
        return infinity;
    }
    if (x > 0.0f) {
        return __wgcl_lgamma_positive(x);
    }
    float ax = -x;
    if (trunc(x) == x) {
        *signp = 0;
        return infinity;
    }
    float s = sinpi(ax);
    *signp = s > 0.0f ? -1 : 1;
    // log(pi / |x sin(pi x)|) - log Gamma(-x)
    if (ax < 0x1p-30f) {
        return -log(ax);
    }
    return log(0x1.921fb6p1f / fabs(ax * s)) - __wgcl_lgamma_positive(ax);
}

float lgamma(float x) {
    int sign;
    return lgamma_r(x, &sign);
}
