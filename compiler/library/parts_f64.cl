// Splitting and composing doubles (OpenCL C 6.15.2): like parts.cl, with 64-bit integers.

// 2 to the power n, -1022 <= n <= 1023.
double __wgcl_pow2i_f64(int n) { return as_double((ulong)(n + 1023) << 52); }

// x * 2^n for x in [0.5, 4): at most one rounding, for -2040 <= n <= 2040.
double __wgcl_scale(double x, int n) {
    int half_n = n >> 1;
    return x * __wgcl_pow2i_f64(half_n) * __wgcl_pow2i_f64(n - half_n);
}

// Exponent of a finite x that is not 0: 1 <= |x| / 2^e < 2.
int __wgcl_exponent(double x) {
    ulong bits = as_ulong(x) & 0x7fffffffffffffffUL;
    return bits < 0x0010000000000000UL ? -1011 - (int)clz(bits) : (int)(bits >> 52) - 1023;
}

// The significand of a finite x that is not 0, in [1, 2), as bits.
ulong __wgcl_significand(double x) {
    ulong bits = as_ulong(x) & 0x7fffffffffffffffUL;
    if (bits < 0x0010000000000000UL) {
        bits <<= clz(bits) - 11UL;
    }
    return (bits & 0x000fffffffffffffUL) | 0x3ff0000000000000UL;
}

// The upper 26 bits: products of two such parts are exact.
double __wgcl_upper(double x) { return as_double(as_ulong(x) & 0xfffffffff8000000UL); }

double ldexp(double x, int n) {
    ulong bits = as_ulong(x);
    ulong sign = bits & 0x8000000000000000UL;
    ulong magnitude = bits ^ sign;
    if (magnitude == 0UL || magnitude >= 0x7ff0000000000000UL) {
        return x;
    }
    int e = __wgcl_exponent(x) + clamp(n, -10000, 10000);
    ulong m = __wgcl_significand(x) & 0x000fffffffffffffUL;
    if (e > 1023) {
        return as_double(sign | 0x7ff0000000000000UL);
    }
    if (e >= -1022) {
        return as_double(sign | (ulong)(e + 1023) << 52 | m);
    }
    int shift = -1022 - e;
    if (shift > 53) {
        return as_double(sign);
    }
    m |= 0x0010000000000000UL;
    ulong kept = m >> shift;
    ulong rest = m & ((1UL << shift) - 1UL);
    ulong midpoint = 1UL << (shift - 1);
    kept += rest > midpoint || (rest == midpoint && (kept & 1UL)) ? 1UL : 0UL;
    return as_double(sign | kept);
}

double frexp(double x, int *exp) {
    ulong bits = as_ulong(x);
    ulong magnitude = bits & 0x7fffffffffffffffUL;
    if (magnitude == 0UL || magnitude >= 0x7ff0000000000000UL) {
        *exp = 0;
        return x;
    }
    *exp = __wgcl_exponent(x) + 1;
    return as_double((bits & 0x8000000000000000UL) | (__wgcl_significand(x) - 0x0010000000000000UL));
}

int ilogb(double x) {
    ulong magnitude = as_ulong(x) & 0x7fffffffffffffffUL;
    if (magnitude == 0UL) {
        return (int)0x80000000;
    }
    if (magnitude >= 0x7ff0000000000000UL) {
        return 0x7fffffff;
    }
    return __wgcl_exponent(x);
}

double logb(double x) {
    ulong magnitude = as_ulong(x) & 0x7fffffffffffffffUL;
    if (magnitude == 0UL) {
        return as_double(0xfff0000000000000UL);
    }
    if (magnitude >= 0x7ff0000000000000UL) {
        return magnitude > 0x7ff0000000000000UL ? x : as_double(0x7ff0000000000000UL);
    }
    return (double)__wgcl_exponent(x);
}

double nextafter(double x, double y) {
    ulong ux = as_ulong(x);
    ulong uy = as_ulong(y);
    ulong ax = ux & 0x7fffffffffffffffUL;
    ulong ay = uy & 0x7fffffffffffffffUL;
    if (ax > 0x7ff0000000000000UL || ay > 0x7ff0000000000000UL) {
        return as_double(0x7ff8000000000000UL);
    }
    if (ux == uy || (ax | ay) == 0UL) {
        return y;
    }
    if (ax == 0UL) {
        return as_double((uy & 0x8000000000000000UL) | 1UL);
    }
    int grows = (ux ^ uy) < 0x8000000000000000UL && ay > ax;
    return as_double(grows ? ux + 1UL : ux - 1UL);
}

double modf(double x, double *iptr) {
    double whole = trunc(x);
    *iptr = whole;
    double rest = isinf(x) ? 0.0 : x - whole;
    return copysign(rest, x);
}

double fract(double x, double *iptr) {
    double whole = floor(x);
    *iptr = whole;
    double rest = isinf(x) ? 0.0 : fmin(x - whole, as_double(0x3fefffffffffffffUL));
    return isnan(x) ? x : copysign(rest, as_ulong(x) == 0x8000000000000000UL || isinf(x) ? x : 1.0);
}

double maxmag(double x, double y) {
    double ax = fabs(x);
    double ay = fabs(y);
    return ax > ay ? x : ay > ax ? y : fmax(x, y);
}

double minmag(double x, double y) {
    double ax = fabs(x);
    double ay = fabs(y);
    return ax < ay ? x : ay < ax ? y : fmin(x, y);
}

double fdim(double x, double y) { return isnan(x) || isnan(y) ? as_double(0x7ff8000000000000UL) : x > y ? x - y : 0.0; }
