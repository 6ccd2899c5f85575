// Hyperbolic functions and their inverses, double precision (OpenCL C 6.15.2): the methods of hyperbolic.cl.

// (sinh(x) / x - 1) / s with s = x^2, |x| <= 1.
double __wgcl_sinh_series(double s) {
    double p = 0x1.99f09fd512ca7p-49;
    p = mad(p, s, 0x1.ae777bd0e83dfp-41);
    p = mad(p, s, 0x1.612467cd33b6dp-33);
    p = mad(p, s, 0x1.ae64567929d60p-26);
    p = mad(p, s, 0x1.71de3a556f972p-19);
    p = mad(p, s, 0x1.a01a01a01a001p-13);
    p = mad(p, s, 0x1.1111111111111p-7);
    return mad(p, s, 0x1.5555555555555p-3);
}

// (tanh(x) / x - 1) / s with s = x^2, |x| <= 0.625.
double __wgcl_tanh_series(double s) {
    double p = 0x1.ebecd9e78f1dep-21;
    p = mad(p, s, -0x1.4005a237a2a01p-18);
    p = mad(p, s, 0x1.f1a1ce1a7c602p-17);
    p = mad(p, s, -0x1.45753299acb6dp-15);
    p = mad(p, s, 0x1.95de07c21dc62p-14);
    p = mad(p, s, -0x1.f56bd4e09f8aap-13);
    p = mad(p, s, 0x1.355773f7a5c78p-11);
    p = mad(p, s, -0x1.7da35aa6e5838p-10);
    p = mad(p, s, 0x1.d6d3d084f1fd7p-9);
    p = mad(p, s, -0x1.226e355d4d6a8p-7);
    p = mad(p, s, 0x1.664f4882bce36p-6);
    p = mad(p, s, -0x1.ba1ba1ba1b99ap-5);
    p = mad(p, s, 0x1.1111111111111p-3);
    return mad(p, s, -0x1.5555555555555p-2);
}

// (asinh(x) / x - 1) / s with s = x^2, |x| <= 1/2.
double __wgcl_asinh_series(double s) {
    double p = 0x1.3abec24c229bcp-10;
    p = mad(p, s, -0x1.c4aff441b5a6ap-9);
    p = mad(p, s, 0x1.6b7dc5d3980a7p-8);
    p = mad(p, s, -0x1.cf06cf48b810fp-8);
    p = mad(p, s, 0x1.115b4088dfa7ep-7);
    p = mad(p, s, -0x1.3fa615e362a2bp-7);
    p = mad(p, s, 0x1.7a81f3e720761p-7);
    p = mad(p, s, -0x1.c999362ed16e6p-7);
    p = mad(p, s, 0x1.1c4ec28f97fafp-6);
    p = mad(p, s, -0x1.6e8ba2d609584p-6);
    p = mad(p, s, 0x1.f1c71c716e3dfp-6);
    p = mad(p, s, -0x1.6db6db6db66cep-5);
    p = mad(p, s, 0x1.3333333333330p-4);
    return mad(p, s, -0x1.5555555555555p-3);
}

// A polynomial up to 1, (e^x - e^-x) / 2 above. Largest error seen: 1.6 ULP.
double sinh(double x) {
    double ax = fabs(x);
    if (ax <= 1.0) {
        double s = x * x;
        return x + x * s * __wgcl_sinh_series(s);
    }
    double e = __wgcl_exp_parts(fmin(ax, 800.0) - 0x1.62e42feep-1, -0x1.a39ef35793c76p-33);
    double y = e - 0.25 / e;
    return isnan(x) ? x : copysign(y, x);
}

// (e^x + e^-x) / 2. Largest error seen: 1.2 ULP.
double cosh(double x) {
    double ax = fabs(x);
    double e = __wgcl_exp_parts(fmin(ax, 800.0) - 0x1.62e42feep-1, -0x1.a39ef35793c76p-33);
    double y = e + 0.25 / e;
    return isnan(x) ? x : y;
}

// A polynomial up to 0.625, 1 - 2 / (e^2x + 1) above. Largest error seen: 1.3 ULP.
double tanh(double x) {
    double ax = fabs(x);
    if (ax <= 0.625) {
        double s = x * x;
        // For -0 the sum would be 0.
        return copysign(ax + ax * s * __wgcl_tanh_series(s), x);
    }
    double y = 1.0 - 2.0 / (__wgcl_exp_parts(2.0 * fmin(ax, 30.0), 0.0) + 1.0);
    return isnan(x) ? x : copysign(y, x);
}

// A polynomial up to 1/2, log1p(x + x^2 / (1 + sqrt(1 + x^2))) above. Largest error seen: 1.6 ULP.
double asinh(double x) {
    double ax = fabs(x);
    if (ax <= 0.5) {
        double s = x * x;
        // For -0 the sum would be 0.
        return copysign(ax + ax * s * __wgcl_asinh_series(s), x);
    }
    double y;
    if (ax > 1e18) {
        y = log(ax) + 0x1.62e42fefa39efp-1;
    } else {
        double s = ax * ax;
        y = log1p(ax + s / (1.0 + sqrt(1.0 + s)));
    }
    return isnan(x) ? x : copysign(y, x);
}

// log1p(t + sqrt(2 t + t^2)) with t = x - 1. Largest error seen: 1.9 ULP.
double acosh(double x) {
    if (x > 1e18) {
        return log(x) + 0x1.62e42fefa39efp-1;
    }
    double t = x - 1.0;
    double y = log1p(t + sqrt(2.0 * t + t * t));
    return x < 1.0 || isnan(x) ? as_double(0x7ff8000000000000UL) : y;
}

// log1p(2 x / (1 - x)) / 2. Largest error seen: 1.5 ULP.
double atanh(double x) {
    double ax = fabs(x);
    double y = ax < 0x1p-28 ? ax : 0.5 * log1p(2.0 * ax / (1.0 - ax));
    return ax > 1.0 || isnan(x) ? as_double(0x7ff8000000000000UL) : copysign(y, x);
}
