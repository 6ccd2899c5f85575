// Exponentials, double precision (OpenCL C 6.15.2): the method of exp.cl. Polynomial error below 2^-58 of the result.

// (e^r - 1 - r) / r^2 on [-0.347, 0.347], a Chebyshev fit in 60 digits.
double __wgcl_exp_poly(double r) {
    double p = 0x1.1f732ca1e4307p-29;
    p = mad(p, r, 0x1.af4e31dbeb682p-26);
    p = mad(p, r, 0x1.27e4db5089ca5p-22);
    p = mad(p, r, 0x1.71de020ec9913p-19);
    p = mad(p, r, 0x1.a01a01a6decfap-16);
    p = mad(p, r, 0x1.a01a01abf2f91p-13);
    p = mad(p, r, 0x1.6c16c16c162c9p-10);
    p = mad(p, r, 0x1.11111111100c7p-7);
    p = mad(p, r, 0x1.5555555555556p-5);
    p = mad(p, r, 0x1.5555555555557p-3);
    return mad(p, r, 0x1.0p-1);
}

#ifndef FP_FAST_FMA

// e^(hi + lo) for |hi| <= 1500; lo is a small correction.
double __wgcl_exp_parts(double hi, double lo) {
    double k = rint(hi * 0x1.71547652b82fep+0);
    double a = hi - k * 0x1.62e42feep-1;
    double b = lo - k * 0x1.a39ef35793c76p-33;
    double r = a + b;
    double c = b - (r - a);
    double y = 1.0 + (r + (r * r * __wgcl_exp_poly(r) + c));
    return __wgcl_scale(y, (int)k);
}

// Largest error seen: 0.9 ULP.
double exp(double x) {
    double y = __wgcl_exp_parts(clamp(x, -800.0, 800.0), 0.0);
    return isnan(x) ? x : y;
}

// x = k + f, e^(f ln 2). Largest error seen: 0.9 ULP.
double exp2(double x) {
    double t = clamp(x, -1200.0, 1100.0);
    double k = rint(t);
    double f = t - k;
    double f_hi = __wgcl_upper(f);
    double lo = (f - f_hi) * 0x1.62e42f8p-1 + f * 0x1.be8e7bcd5e4f2p-27;
    double hi = f_hi * 0x1.62e42f8p-1;
    double r = hi + lo;
    double c = lo - (r - hi);
    double y = 1.0 + (r + (r * r * __wgcl_exp_poly(r) + c));
    y = __wgcl_scale(y, (int)k);
    return isnan(x) ? x : y;
}

#endif

// x = k log10(2) + f, e^(f ln 10). Largest error seen: 0.9 ULP.
double exp10(double x) {
    double t = clamp(x, -400.0, 400.0);
    double k = rint(t * 0x1.a934f0979a371p+1);
    double f_hi = t - k * 0x1.34413508p-2;
    double f_lo = k * -0x1.f79fef311f12bp-34;
    double f = f_hi + f_lo;
    f_lo = f_lo - (f - f_hi);
    double f_upper = __wgcl_upper(f);
    // f ln 10 in two parts
    double hi = f_upper * 0x1.26bb1b8p+1;
    double lo = (f - f_upper) * 0x1.26bb1b8p+1 + (f * 0x1.daaa8ac16ea57p-26 + f_lo * 0x1.26bb1bbb55515p+1);
    double r = hi + lo;
    double c = lo - (r - hi);
    double y = 1.0 + (r + (r * r * __wgcl_exp_poly(r) + c));
    y = __wgcl_scale(y, (int)k);
    return isnan(x) ? x : y;
}

// Largest error seen: 1.4 ULP.
double expm1(double x) {
    double t = clamp(x, -60.0, 800.0);
    double k = rint(t * 0x1.71547652b82fep+0);
    double hi = t - k * 0x1.62e42feep-1;
    double lo = k * 0x1.a39ef35793c76p-33;
    double r = hi - lo;
    double c = (hi - r) - lo;
    double em1 = r + (r * r * __wgcl_exp_poly(r) + c);
    double y;
    if (k == 0.0) {
        y = em1;
    } else if (k > 900.0) {
        y = __wgcl_scale(1.0 + em1, (int)k);
    } else {
        double s = __wgcl_pow2i_f64((int)k);
        double one = 1.0 / s;
        y = k < 53.0 ? s * ((1.0 - one) + em1) : s * (1.0 + (em1 - one));
    }
    return isnan(x) || x == 0.0 ? x : y;
}
