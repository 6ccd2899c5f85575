// Exponentials, logarithm, sine and cosine of double precision (OpenCL C 6.15.2) for devices with a fused `mad`: the
// methods of fused.cl. Polynomials by Sollya's fpminimax, relative errors below 2^-57.

#ifdef FP_FAST_FMA

// The same technique as in fused.cl, for magnitudes below 2^51.
#define WHOLE 0x1.8p52

// y 2^k for y in [0.7, 1.5], where t = k + WHOLE and |k| <= 1021.
double __wgcl_raise(double y, double t) { return as_double(as_ulong(y) + (as_ulong(t) << 52)); }

// y 2^k for all k: zero if x is below `least`, infinity if it is above `most`, NaN for NaN.
double __wgcl_raise_any(double x, double y, double t, double least, double most) {
    double r = __wgcl_scale(y, (int)(uint)as_ulong(t));
    r = x < least ? 0.0 : r;
    r = x > most ? as_double(0x7ff0000000000000UL) : r;
    return isnan(x) ? x : r;
}

// e^r for |r| <= 0.3466
double __wgcl_exp_near(double r) {
    double p = 0x1.ade16b0d5d2bbp-26;
    p = mad(p, r, 0x1.28af44e06f61ap-22);
    p = mad(p, r, 0x1.71dee61dbbdb7p-19);
    p = mad(p, r, 0x1.a01997c3ddb1p-16);
    p = mad(p, r, 0x1.a01a0147627b5p-13);
    p = mad(p, r, 0x1.6c16c1852cdf4p-10);
    p = mad(p, r, 0x1.1111111122324p-7);
    p = mad(p, r, 0x1.555555555029dp-5);
    p = mad(p, r, 0x1.5555555555511p-3);
    p = mad(p, r, 0x1.000000000000bp-1);
    p = mad(p, r, 1.0);
    return mad(p, r, 1.0);
}

// e^(hi + lo) for |hi| <= 1500; lo is a small correction.
double __wgcl_exp_parts(double hi, double lo) {
    double t = mad(hi, 0x1.71547652b82fep+0, WHOLE);
    double k = t - WHOLE;
    double y = __wgcl_exp_near(mad(k, -0x1.abc9e3b39803fp-56, mad(k, -0x1.62e42fefa39efp-1, hi)) + lo);
    double r = __wgcl_raise(y, t);
    if (!(fabs(hi) < 707.0)) {
        r = __wgcl_raise_any(hi, y, t, -1500.0, 1500.0);
    }
    return r;
}

// x = k ln 2 + r, ln 2 in two parts. Largest error seen: 1.0 ULP.
double exp(double x) {
    double t = mad(x, 0x1.71547652b82fep+0, WHOLE);
    double k = t - WHOLE;
    double y = __wgcl_exp_near(mad(k, -0x1.abc9e3b39803fp-56, mad(k, -0x1.62e42fefa39efp-1, x)));
    double r = __wgcl_raise(y, t);
    if (!(fabs(x) < 707.0)) {
        r = __wgcl_raise_any(x, y, t, -750.0, 710.0);
    }
    return r;
}

// x = k + f. Largest error seen: 1.0 ULP.
double exp2(double x) {
    double t = x + WHOLE;
    double f = x - (t - WHOLE);
    double p = 0x1.e9506e743750ap-32;
    p = mad(p, f, 0x1.e61c16c105234p-28);
    p = mad(p, f, 0x1.b525395b42fd3p-24);
    p = mad(p, f, 0x1.62bfc71b3398p-20);
    p = mad(p, f, 0x1.ffcbfc5c18559p-17);
    p = mad(p, f, 0x1.4309130f14ca6p-13);
    p = mad(p, f, 0x1.5d87fe78a08fdp-10);
    p = mad(p, f, 0x1.3b2ab6fb9ffafp-7);
    p = mad(p, f, 0x1.c6b08d704a124p-5);
    p = mad(p, f, 0x1.ebfbdff82c5a5p-3);
    p = mad(p, f, 0x1.62e42fefa39efp-1);
    double y = mad(p, f, 1.0);
    double r = __wgcl_raise(y, t);
    if (!(fabs(x) < 1020.0)) {
        r = __wgcl_raise_any(x, y, t, -1080.0, 1025.0);
    }
    return r;
}

// A positive finite x as 2^k (1 + f), with 1 + f in about [sqrt(1/2), sqrt(2)).
double __wgcl_log_split(double x, double *k) {
    int denormal = x < 0x1p-1022;
    ulong bits = as_ulong(denormal ? x * 0x1p54 : x);
    uint e = ((uint)(bits >> 32) - 0x3fe6a09eu) & 0xfff00000u;
    *k = (double)(((int)e >> 20) - (denormal ? 54 : 0));
    return as_double(bits - ((ulong)e << 32)) - 1.0;
}

// log(1 + f) - f + f^2/2. It uses s = f / (2 + f) and the remainder of f. The reciprocal of 2 + f is an estimate with
// an error of 2^-38, after two steps of Newton's method.
double __wgcl_log_rest(double f, double hfsq) {
    double d = 2.0 + f;
    double r = mad(mad(0x1.deabf8p-4, f, -0x1.051cd4p-2), f, 0x1.0029d8p-1);
    r = mad(r, mad(-d, r, 1.0), r);
    r = mad(r, mad(-d, r, 1.0), r);
    double s = f * r;
    s = mad(mad(-s, d, f), r, s);
    double q = s * s;
    return s * mad(q, __wgcl_log_poly(q), hfsq);
}

// Largest error seen: 1.0 ULP.
double log(double x) {
    double k;
    double f = __wgcl_log_split(x, &k);
    double hfsq = 0.5 * f * f;
    double y = f - (hfsq - mad(k, 0x1.abc9e3b39803fp-56, __wgcl_log_rest(f, hfsq)));
    y = mad(k, 0x1.62e42fefa39efp-1, y);
    if (as_ulong(x) - 0x0010000000000000UL >= 0x7fe0000000000000UL) {
        y = __wgcl_log_special(x, y);
    }
    return y;
}

// t >= 0 in quadrants: their number (modulo 4) and the remainder. Up to 2^19, by pi/2 in three parts.
uint __wgcl_reduce(double t, double *rest) {
    double whole = mad(t, 0x1.45f306dc9c883p-1, WHOLE);
    double k = whole - WHOLE;
    *rest = mad(k, 0x1.f1976b7ed8fbcp-110, mad(k, -0x1.1a62633145c07p-54, mad(k, -0x1.921fb54442d18p+0, t)));
    uint quadrant = (uint)as_ulong(whole);
    if (!(t < 524288.0)) {
        double lo, hi;
        quadrant = 0u;
        *rest = as_double(0x7ff8000000000000UL);
        if (t < as_double(0x7ff0000000000000UL)) {
            quadrant = (uint)__wgcl_reduce_large(t, &lo, &hi);
            *rest = hi + lo;
        }
    }
    return quadrant;
}

double __wgcl_sin_near(double r, double s) { return mad(r * s, __wgcl_sin_series(s), r); }

double __wgcl_cos_near(double s) { return mad(mad(__wgcl_cos_series(s), s, -0.5), s, 1.0); }

// Largest error seen: 1.5 ULP.
double sin(double x) {
    double r;
    uint quadrant = __wgcl_reduce(fabs(x), &r);
    double s = r * r;
    double y = (quadrant & 1u) ? __wgcl_cos_near(s) : __wgcl_sin_near(r, s);
    return as_double(as_ulong(y) ^ (as_ulong(x) & 0x8000000000000000UL) ^ ((ulong)(quadrant >> 1) << 63));
}

// Largest error seen: 1.5 ULP.
double cos(double x) {
    double r;
    uint quadrant = __wgcl_reduce(fabs(x), &r);
    double s = r * r;
    double y = (quadrant & 1u) ? __wgcl_sin_near(r, s) : __wgcl_cos_near(s);
    return as_double(as_ulong(y) ^ ((ulong)((quadrant + 1u) >> 1) << 63));
}

// Largest error seen: 1.5 ULP.
double sincos(double x, double *cosval) {
    double r;
    uint quadrant = __wgcl_reduce(fabs(x), &r);
    double s = r * r;
    double sine = __wgcl_sin_near(r, s);
    double cosine = __wgcl_cos_near(s);
    double swapped = (quadrant & 1u) ? sine : cosine;
    *cosval = as_double(as_ulong(swapped) ^ ((ulong)((quadrant + 1u) >> 1) << 63));
    swapped = (quadrant & 1u) ? cosine : sine;
    return as_double(as_ulong(swapped) ^ (as_ulong(x) & 0x8000000000000000UL) ^ ((ulong)(quadrant >> 1) << 63));
}

#endif
