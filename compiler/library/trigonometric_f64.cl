// Trigonometric functions, double precision (OpenCL C 6.15.2): the method of trigonometric.cl with three parts of pi/2
// up to 2^19 and 192 bits of 2/pi above.

// 64 zeros and the bits of 2/pi after the binary point.
__constant ulong __wgcl_two_over_pi_f64[20] = {
    0UL, 0xa2f9836e4e441529UL, 0xfc2757d1f534ddc0UL, 0xdb6295993c439041UL, 0xfe5163abdebbc561UL,
    0xb7246e3a424dd2e0UL, 0x06492eea09d1921cUL, 0xfe1deb1cb129a73eUL, 0xe88235f52ebb4484UL,
    0xe99c7026b45f7e41UL, 0x3991d639835339f4UL, 0x9c845f8bbdf9283bUL, 0x1ff897ffde05980fUL,
    0xef2f118b5a0a6d1fUL, 0x6d367ecf27cb09b7UL, 0x4f463f669e5fea2dUL, 0x7527bac7ebe5f17bUL,
    0x3d0739f78a5292eaUL, 0x6bfb5fb11f8d5d08UL, 0x56033046fc7b6babUL,
};

// |x| >= 2^10, finite: quadrant of |x| and the reduced argument.
int __wgcl_reduce_large(double x, double *lo, double *hi) {
    ulong bits = as_ulong(x) & 0x7fffffffffffffffUL;
    ulong m = (bits & 0x000fffffffffffffUL) | 0x0010000000000000UL;
    int e = (int)(bits >> 52) - 1023;
    int first = e - 55 + 64;
    int word = first >> 6;
    ulong shift = (ulong)(first & 63);
    ulong w0 = __wgcl_two_over_pi_f64[word];
    ulong w1 = __wgcl_two_over_pi_f64[word + 1];
    ulong w2 = __wgcl_two_over_pi_f64[word + 2];
    ulong w3 = __wgcl_two_over_pi_f64[word + 3];
    ulong b0 = shift == 0UL ? w0 : (w0 << shift) | (w1 >> (64UL - shift));
    ulong b1 = shift == 0UL ? w1 : (w1 << shift) | (w2 >> (64UL - shift));
    ulong b2 = shift == 0UL ? w2 : (w2 << shift) | (w3 >> (64UL - shift));
    ulong p2 = b2 * m;
    ulong c2 = mul_hi(b2, m);
    ulong p1 = b1 * m + c2;
    ulong c1 = mul_hi(b1, m) + (p1 < c2 ? 1UL : 0UL);
    ulong p0 = b0 * m + c1;
    p0 = (p0 << 1) | (p1 >> 63);
    p1 = (p1 << 1) | (p2 >> 63);
    p2 = p2 << 1;
    ulong quadrant = p0 >> 62;
    ulong f0 = (p0 << 2) | (p1 >> 62);
    ulong f1 = (p1 << 2) | (p2 >> 62);
    ulong negative = f0 >> 63;
    quadrant += negative;
    if (negative) {
        f0 = ~f0;
        f1 = ~f1;
    }
    ulong zeros = f0 == 0UL ? 64UL + clz(f1) : clz(f0);
    if (zeros >= 64UL) {
        f0 = f1;
        f1 = 0UL;
    }
    ulong z = zeros & 63UL;
    ulong top = z == 0UL ? f0 : (f0 << z) | (f1 >> (64UL - z));
    ulong next = f1 << z;
    double scale = __wgcl_pow2i_f64(-53 - (int)zeros);
    double a = (double)(top >> 11) * scale;
    double b = (double)((top & 0x7ffUL) << 42 | next >> 22) * (scale * 0x1p-53);
    double a_hi = __wgcl_upper(a);
    double a_lo = a - a_hi;
    double product = a * 0x1.921fb54442d18p+0;
    double error = ((a_hi * 0x1.921fb5p+0 - product) + a_hi * 0x1.110b46p-26 + a_lo * 0x1.921fb5p+0) + a_lo * 0x1.110b46p-26;
    double rest = error + (b * 0x1.921fb54442d18p+0 + a * 0x1.1a62633145c07p-54);
    double sum = product + rest;
    rest = rest - (sum - product);
    *hi = negative ? -sum : sum;
    *lo = negative ? -rest : rest;
    return (int)(quadrant & 3UL);
}

int __wgcl_reduce(double x, double *lo, double *hi) {
    if (fabs(x) < 524288.0) {
        double k = rint(x * 0x1.45f306dc9c883p-1);
        double r = (x - k * 0x1.921fb544p+0);
        double t = k * 0x1.0b4611a6p-34;
        double r1 = r - t;
        double e1 = (r - r1) - t;
        double v = k * 0x1.3198a2ep-69;
        double r2 = r1 - v;
        double e2 = (r1 - r2) - v;
        double u = e1 + e2 - k * 0x1.b839a252049c1p-104;
        double h = r2 + u;
        *hi = h;
        *lo = u - (h - r2);
        return (int)k & 3;
    }
    int quadrant = __wgcl_reduce_large(x, lo, hi);
    if (x < 0.0) {
        *hi = -*hi;
        *lo = -*lo;
        quadrant = -quadrant & 3;
    }
    return quadrant;
}

// (sin(r) / r - 1) / s with s = r^2, |r| <= pi/4.
double __wgcl_sin_series(double s) {
    double p = -0x1.ab15ab0b4ed7dp-41;
    p = mad(p, s, 0x1.61217b60431ddp-33);
    p = mad(p, s, -0x1.ae64540e22c56p-26);
    p = mad(p, s, 0x1.71de3a545de9ap-19);
    p = mad(p, s, -0x1.a01a01a019922p-13);
    p = mad(p, s, 0x1.1111111111110p-7);
    return mad(p, s, -0x1.5555555555555p-3);
}

// (cos(r) - 1 + s/2) / s^2.
double __wgcl_cos_series(double s) {
    double p = 0x1.ab766f178977fp-45;
    p = mad(p, s, -0x1.9394b6c952c7cp-37);
    p = mad(p, s, 0x1.1eed8de987e17p-29);
    p = mad(p, s, -0x1.27e4fb7711a61p-22);
    p = mad(p, s, 0x1.a01a01a019d01p-16);
    p = mad(p, s, -0x1.6c16c16c16c16p-10);
    return mad(p, s, 0x1.5555555555555p-5);
}

double __wgcl_sin_poly(double r, double lo) {
    double s = r * r;
    return r + (r * s * __wgcl_sin_series(s) + lo * (1.0 - 0.5 * s));
}

double __wgcl_cos_poly(double r, double lo) {
    double s = r * r;
    double h = 0.5 * s;
    double w = 1.0 - h;
    return w + (((1.0 - w) - h) + (s * s * __wgcl_cos_series(s) - r * lo));
}

#ifndef FP_FAST_FMA

// Largest error seen: 0.8 ULP.
double sin(double x) {
    double lo, hi;
    if (!isfinite(x)) {
        return as_double(0x7ff8000000000000UL);
    }
    int quadrant = __wgcl_reduce(x, &lo, &hi);
    double y = (quadrant & 1) ? __wgcl_cos_poly(hi, lo) : __wgcl_sin_poly(hi, lo);
    return x == 0.0 ? x : (quadrant & 2) ? -y : y;
}

// Largest error seen: 0.8 ULP.
double cos(double x) {
    double lo, hi;
    if (!isfinite(x)) {
        return as_double(0x7ff8000000000000UL);
    }
    int quadrant = __wgcl_reduce(x, &lo, &hi);
    double y = (quadrant & 1) ? __wgcl_sin_poly(hi, lo) : __wgcl_cos_poly(hi, lo);
    return ((quadrant + 1) & 2) ? -y : y;
}

// Largest error seen: 0.8 ULP.
double sincos(double x, double *cosval) {
    double lo, hi;
    if (!isfinite(x)) {
        *cosval = as_double(0x7ff8000000000000UL);
        return as_double(0x7ff8000000000000UL);
    }
    int quadrant = __wgcl_reduce(x, &lo, &hi);
    double s = __wgcl_sin_poly(hi, lo);
    double c = __wgcl_cos_poly(hi, lo);
    double sine = (quadrant & 1) ? c : s;
    double cosine = (quadrant & 1) ? s : c;
    *cosval = ((quadrant + 1) & 2) ? -cosine : cosine;
    return x == 0.0 ? x : (quadrant & 2) ? -sine : sine;
}

#endif

// The quotient of sine and cosine: three roundings. Largest error seen: 2.2 ULP.
double tan(double x) {
    double lo, hi;
    if (!isfinite(x)) {
        return as_double(0x7ff8000000000000UL);
    }
    int quadrant = __wgcl_reduce(x, &lo, &hi);
    double s = __wgcl_sin_poly(hi, lo);
    double c = __wgcl_cos_poly(hi, lo);
    double y = (quadrant & 1) ? -c / s : s / c;
    return x == 0.0 ? x : y;
}

// (sin(pi r) / r - pi) / s with s = r^2, |r| <= 1/4.
double __wgcl_sinpi_series(double s) {
    double p = 0x1.a7d92ff8d8dd4p-21;
    p = mad(p, s, -0x1.6fab3a35170c4p-16);
    p = mad(p, s, 0x1.e8f432b237b55p-12);
    p = mad(p, s, -0x1.e3074fdd8a1cfp-8);
    p = mad(p, s, 0x1.50783487ee374p-4);
    p = mad(p, s, -0x1.32d2cce62bd85p-1);
    p = mad(p, s, 0x1.466bc6775aae2p+1);
    return mad(p, s, -0x1.4abbce625be53p+2);
}

// (cos(pi r) - 1) / s.
double __wgcl_cospi_series(double s) {
    double p = 0x1.1e736c155b7acp-18;
    p = mad(p, s, -0x1.b6de887a87d74p-14);
    p = mad(p, s, 0x1.f9d3870488028p-10);
    p = mad(p, s, -0x1.a6d1f2a08456dp-6);
    p = mad(p, s, 0x1.e1f506891ae7cp-3);
    p = mad(p, s, -0x1.55d3c7e3cbff7p+0);
    p = mad(p, s, 0x1.03c1f081b5ac4p+2);
    return mad(p, s, -0x1.3bd3cc9be45dep+2);
}

double __wgcl_sinpi_poly(double r) {
    double s = r * r;
    double hi = __wgcl_upper(r);
    double lo = r - hi;
    return hi * 0x1.921fb5p+1 + (lo * 0x1.921fb5p+1 + (r * 0x1.110b4611a6263p-25 + r * s * __wgcl_sinpi_series(s)));
}

double __wgcl_cospi_poly(double r) {
    double s = r * r;
    return 1.0 + s * __wgcl_cospi_series(s);
}

// Reduced to [-1/4, 1/4] exactly. Largest error seen: 1.2 ULP.
double sinpi(double x) {
    double t = fabs(x);
    double k = rint(2.0 * t);
    double r = t - 0.5 * k;
    int quadrant = (int)(k - 4.0 * floor(0.25 * k));
    double y = (quadrant & 1) ? __wgcl_cospi_poly(r) : __wgcl_sinpi_poly(r);
    y = (quadrant & 2) ? -y : y;
    y = r == 0.0 && !(quadrant & 1) ? 0.0 : y;
    y = t >= 4503599627370496.0 ? 0.0 : y;
    return isfinite(x) ? (as_ulong(x) >= 0x8000000000000000UL ? -y : y) : as_double(0x7ff8000000000000UL);
}

// Like sinpi. Largest error seen: 1.2 ULP.
double cospi(double x) {
    double t = fabs(x);
    double k = rint(2.0 * t);
    double r = t - 0.5 * k;
    int quadrant = (int)(k - 4.0 * floor(0.25 * k));
    double y = (quadrant & 1) ? __wgcl_sinpi_poly(r) : __wgcl_cospi_poly(r);
    y = ((quadrant + 1) & 2) ? -y : y;
    y = r == 0.0 && (quadrant & 1) ? 0.0 : y;
    y = t >= 9007199254740992.0 ? 1.0 : y;
    return isfinite(x) ? y : as_double(0x7ff8000000000000UL);
}

// The quotient of sinpi and cospi. Largest error seen: 2.4 ULP.
double tanpi(double x) {
    double t = fabs(x);
    double k = rint(2.0 * t);
    double r = t - 0.5 * k;
    int quadrant = (int)(k - 4.0 * floor(0.25 * k));
    double s = __wgcl_sinpi_poly(r);
    double c = __wgcl_cospi_poly(r);
    double y = (quadrant & 1) ? -c / s : s / c;
    double infinity = as_double(0x7ff0000000000000UL);
    y = r == 0.0 ? (quadrant == 0 ? 0.0 : quadrant == 1 ? infinity : quadrant == 2 ? -0.0 : -infinity) : y;
    y = t >= 4503599627370496.0 ? (t >= 9007199254740992.0 || !((ulong)t & 1UL) ? 0.0 : -0.0) : y;
    return isfinite(x) ? (as_ulong(x) >= 0x8000000000000000UL ? -y : y) : as_double(0x7ff8000000000000UL);
}
