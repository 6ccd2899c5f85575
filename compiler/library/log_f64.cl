// Logarithms, double precision (OpenCL C 6.15.2). x = 2^k m as in log.cl; with s = f / (2 + f), log(1 + f) = f - (f^2/2
// - s (f^2/2 + s^2 R(s^2))).

// (2 atanh(s) / s - 2) / s^2 as a function of q = s^2, |s| <= 0.1717.
double __wgcl_log_poly(double q) {
    double p = 0x1.e6c6644a80e2dp-4;
    p = mad(p, q, 0x1.debc5c8ee58dfp-4);
    p = mad(p, q, 0x1.111d3583b5eddp-3);
    p = mad(p, q, 0x1.3b137adff2432p-3);
    p = mad(p, q, 0x1.745d17d466de7p-3);
    p = mad(p, q, 0x1.c71c71c64aa80p-3);
    p = mad(p, q, 0x1.2492492492966p-2);
    p = mad(p, q, 0x1.9999999999998p-2);
    return mad(p, q, 0x1.5555555555555p-1);
}

double __wgcl_log_special(double x, double y) {
    y = x == as_double(0x7ff0000000000000UL) ? x : y;
    y = (as_ulong(x) & 0x7fffffffffffffffUL) == 0UL ? as_double(0xfff0000000000000UL) : y;
    return x < 0.0 || isnan(x) ? as_double(0x7ff8000000000000UL) : y;
}

#ifndef FP_FAST_FMA

double __wgcl_log_split(double x, double *k) {
    int e = __wgcl_exponent(x);
    ulong m = __wgcl_significand(x);
    int up = m > 0x3ff6a09e667f3bccUL;
    *k = (double)(e + up);
    return as_double(up ? m - 0x0010000000000000UL : m) - 1.0;
}

// log(1 + f) - f + f^2/2
double __wgcl_log_rest(double f, double hfsq) {
    double s = f / (2.0 + f);
    double q = s * s;
    return s * (hfsq + q * __wgcl_log_poly(q));
}

// Largest error seen: 0.8 ULP.
double log(double x) {
    double k;
    double f = __wgcl_log_split(x, &k);
    double hfsq = 0.5 * f * f;
    double y = __wgcl_log_rest(f, hfsq);
    y = f - (hfsq - (y + k * 0x1.a39ef35793c76p-33));
    return __wgcl_log_special(x, k * 0x1.62e42feep-1 + y);
}

#endif

double __wgcl_log_base(double f, double base_hi, double base_lo, double *rest) {
    double hfsq = 0.5 * f * f;
    double y = f - hfsq;
    double hi = __wgcl_upper(y);
    double lo = (f - hi) - hfsq + __wgcl_log_rest(f, hfsq);
    *rest = lo * base_hi + (hi + lo) * base_lo;
    return hi * base_hi;
}

// log(1 + f) / ln 2 in two parts. Largest error seen: 0.8 ULP.
double log2(double x) {
    double k;
    double f = __wgcl_log_split(x, &k);
    double rest;
    double main_part = __wgcl_log_base(f, 0x1.715476p+0, 0x1.4ae0bf85ddf44p-26, &rest);
    double sum = k + main_part;
    double error = main_part - (sum - k);
    return __wgcl_log_special(x, sum + (error + rest));
}

// log(1 + f) / ln 10 in two parts. Largest error seen: 0.7 ULP.
double log10(double x) {
    double k;
    double f = __wgcl_log_split(x, &k);
    double rest;
    double main_part = __wgcl_log_base(f, 0x1.bcb7b1p-2, 0x1.49b9438ca9aaep-28, &rest);
    rest += k * 0x1.f79fef311f12bp-34;
    double k_part = k * 0x1.34413508p-2;
    double sum = k_part + main_part;
    double error = k == 0.0 ? 0.0 : main_part - (sum - k_part);
    return __wgcl_log_special(x, sum + (error + rest));
}

// Largest error seen: 0.8 ULP.
double log1p(double x) {
    double u = 1.0 + x;
    double k;
    double f = __wgcl_log_split(u, &k);
    double c = fabs(x) < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
    c = c / u;
    if (k == 0.0) {
        f = x;
        c = 0.0;
    }
    double hfsq = 0.5 * f * f;
    double y = __wgcl_log_rest(f, hfsq);
    y = f - (hfsq - (y + (k * 0x1.a39ef35793c76p-33 + c)));
    y = k * 0x1.62e42feep-1 + y;
    y = x == as_double(0x7ff0000000000000UL) || x == 0.0 ? x : y;
    y = x == -1.0 ? as_double(0xfff0000000000000UL) : y;
    return x < -1.0 || isnan(x) ? as_double(0x7ff8000000000000UL) : y;
}
