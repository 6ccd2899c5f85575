// Inverse trigonometric functions, double precision (OpenCL C 6.15.2): the methods of inverse.cl.

// (asin(sqrt(s)) / sqrt(s) - 1) / s on [0, 1/4].
double __wgcl_asin_poly(double s) {
    double p = 0x1.e58a4f278e007p-6;
    p = mad(p, s, -0x1.3bd7e353ddbc2p-6);
    p = mad(p, s, 0x1.40c91fa8deb7ep-6);
    p = mad(p, s, 0x1.8dcdf11997e0fp-9);
    p = mad(p, s, 0x1.31777489dfd29p-7);
    p = mad(p, s, 0x1.3b462d121c5d2p-7);
    p = mad(p, s, 0x1.7b02ef007d23ep-7);
    p = mad(p, s, 0x1.c990a42b32b03p-7);
    p = mad(p, s, 0x1.1c4efd20ebb99p-6);
    p = mad(p, s, 0x1.6e8ba121b9d5fp-6);
    p = mad(p, s, 0x1.f1c71c7a5e151p-6);
    p = mad(p, s, 0x1.6db6db6dac0eap-5);
    p = mad(p, s, 0x1.3333333333389p-4);
    return mad(p, s, 0x1.5555555555555p-3);
}

double __wgcl_acos_upper(double ax) {
    double z = 0.5 * (1.0 - ax);
    double root = sqrt(z);
    double hi = __wgcl_upper(root);
    double error = root == 0.0 ? 0.0 : (z - hi * hi) / (root + hi);
    return 2.0 * (hi + (error + root * z * __wgcl_asin_poly(z)));
}

// A polynomial up to 1/2, pi/2 - 2 asin(sqrt((1 - x) / 2)) above. Largest error seen: 1.7 ULP.
double asin(double x) {
    double ax = fabs(x);
    if (ax <= 0.5) {
        double s = x * x;
        return x + x * s * __wgcl_asin_poly(s);
    }
    double y = 0x1.921fb54442d18p+0 - (__wgcl_acos_upper(ax) - 0x1.1a62633145c07p-54);
    return ax > 1.0 || isnan(x) ? as_double(0x7ff8000000000000UL) : copysign(y, x);
}

// pi/2 - asin(x) up to 1/2, 2 asin(sqrt((1 - x) / 2)) above. Largest error seen: 1.0 ULP.
double acos(double x) {
    double ax = fabs(x);
    if (ax <= 0.5) {
        double s = x * x;
        return 0x1.921fb54442d18p+0 - (x - (0x1.1a62633145c07p-54 - x * s * __wgcl_asin_poly(s)));
    }
    double y = __wgcl_acos_upper(ax);
    y = x < 0.0 ? 0x1.921fb54442d18p+1 - (y - 0x1.1a62633145c07p-53) : y;
    return ax > 1.0 || isnan(x) ? as_double(0x7ff8000000000000UL) : y;
}

// (atan(t) / t - 1) / s with s = t^2, |t| <= tan(pi/8).
double __wgcl_atan_series(double s) {
    double p = 0x1.8799d86de0918p-7;
    p = mad(p, s, -0x1.beb6fb1e3fad5p-6);
    p = mad(p, s, 0x1.30fca0dbefdf3p-5);
    p = mad(p, s, -0x1.5fc6be0fb59fep-5);
    p = mad(p, s, 0x1.857f2c9a01a3cp-5);
    p = mad(p, s, -0x1.af199a81294e7p-5);
    p = mad(p, s, 0x1.e1e0dd66a996cp-5);
    p = mad(p, s, -0x1.11110acd30993p-4);
    p = mad(p, s, 0x1.3b13b10683d68p-4);
    p = mad(p, s, -0x1.745d1744b2fc5p-4);
    p = mad(p, s, 0x1.c71c71c718c88p-4);
    p = mad(p, s, -0x1.2492492492460p-3);
    p = mad(p, s, 0x1.9999999999999p-3);
    return mad(p, s, -0x1.5555555555555p-2);
}

double __wgcl_atan_ratio(double n, double d, double *lo) {
    double t, base, base_lo;
    if (n * 0.41421356237309503 > d) {
        t = -d / n;
        base = 0x1.921fb54442d18p+0;
        base_lo = 0x1.1a62633145c07p-54;
    } else if (n > d * 0.41421356237309503) {
        t = (n - d) / (n + d);
        base = 0x1.921fb54442d18p-1;
        base_lo = 0x1.1a62633145c07p-55;
    } else {
        t = n / d;
        base = 0.0;
        base_lo = 0.0;
    }
    double s = t * t;
    *lo = (t * s * __wgcl_atan_series(s) + base_lo) + t;
    return base;
}

// Reduced by pi/4 or pi/2 to tan(pi/8), then a polynomial. Largest error seen: 1.9 ULP.
double atan(double x) {
    double ax = fabs(x);
    double lo;
    double base = __wgcl_atan_ratio(fmin(ax, 1e300), 1.0, &lo);
    return isnan(x) ? x : copysign(base + lo, x);
}

// atan of |y / x|, subtracted from pi if x is negative. Largest error seen: 1.8 ULP.
double atan2(double y, double x) {
    double ay = fabs(y);
    double ax = fabs(x);
    if (isnan(x) || isnan(y)) {
        return as_double(0x7ff8000000000000UL);
    }
    double base, lo;
    if (ay == 0.0) {
        base = 0.0;
        lo = 0.0;
    } else if (ax == 0.0) {
        base = 0x1.921fb54442d18p+0;
        lo = 0x1.1a62633145c07p-54;
    } else if (isinf(ax) && isinf(ay)) {
        base = 0x1.921fb54442d18p-1;
        lo = 0x1.1a62633145c07p-55;
    } else {
        double big = fmax(ax, ay);
        double scale = big > 0x1p1021 ? 0x1p-4 : big < 0x1p-500 ? 0x1p500 : 1.0;
        base = __wgcl_atan_ratio(ay * scale, ax * scale, &lo);
    }
    double r;
    if (as_ulong(x) >= 0x8000000000000000UL) {
        r = (0x1.921fb54442d18p+1 - base) - (lo - 0x1.1a62633145c07p-53);
    } else {
        r = base + lo;
    }
    return copysign(r, y);
}

double __wgcl_over_pi(double a) {
    double hi = __wgcl_upper(a);
    double lo = a - hi;
    double y = hi * 0x1.45f3068p-2 + (lo * 0x1.45f3068p-2 + a * 0x1.727220a94fe14p-28);
    return a == 0.0 ? a : y;
}

// asin over pi. Largest error seen: 2.5 ULP.
double asinpi(double x) { return __wgcl_over_pi(asin(x)); }
// acos over pi. Largest error seen: 1.8 ULP.
double acospi(double x) { return __wgcl_over_pi(acos(x)); }
// atan over pi. Largest error seen: 1.6 ULP.
double atanpi(double x) { return __wgcl_over_pi(atan(x)); }
// atan2 over pi. Largest error seen: 1.8 ULP.
double atan2pi(double y, double x) { return __wgcl_over_pi(atan2(y, x)); }
