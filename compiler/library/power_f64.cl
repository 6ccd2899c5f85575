// Powers and roots, double precision (OpenCL C 6.15.2): the methods of power.cl with 26-bit parts.

// (atanh(s) / s - 1 - q/3) / q^2 with q = s^2, |s| <= 0.1717.
double __wgcl_pow_series(double q) {
    double p = 0x1.b8e77b26b1520p-5;
    p = mad(p, q, 0x1.ac4868b677dbap-5);
    p = mad(p, q, 0x1.e1f812ccde1bfp-5);
    p = mad(p, q, 0x1.1110df64fb30ep-4);
    p = mad(p, q, 0x1.3b13b1bd60daep-4);
    p = mad(p, q, 0x1.745d174511bbep-4);
    p = mad(p, q, 0x1.c71c71c71cfefp-4);
    p = mad(p, q, 0x1.2492492492491p-3);
    return mad(p, q, 0x1.999999999999ap-3);
}

double __wgcl_log2_parts(double x, double *lo) {
    double k;
    double f = __wgcl_log_split(x, &k);
    double d = f + 2.0;
    double s = f / d;
    double s_hi = __wgcl_upper(s);
    double d_hi = __wgcl_upper(d);
    double d_lo = (2.0 - d_hi) + f;
    double s_lo = ((f - s_hi * d_hi) - s_hi * d_lo) / d;
    double q = s * s;
    double p = q * __wgcl_pow_series(q);
    // 1 + q (1/3 + p), q in two parts
    double q_hi = __wgcl_upper(s_hi * s_hi);
    double q_lo = (s_hi * s_hi - q_hi) + s_lo * (s + s_hi);
    double t = q_hi * 0x1.555555p-2;
    double t_lo = q_lo * 0x1.555555p-2 + q * (0x1.5555555555555p-28 + p);
    double u_hi = __wgcl_upper(1.0 + t);
    double u_lo = ((1.0 - u_hi) + t) + t_lo;
    double v = s_hi * u_hi;
    double v_lo = s_lo * u_hi + s * u_lo;
    double v_hi = __wgcl_upper(v);
    v_lo = (v - v_hi) + v_lo;
    double w = v_hi * 0x1.715476p+1;
    double w_lo = v_lo * 0x1.715476p+1 + (v_hi + v_lo) * 0x1.4ae0bf85ddf44p-25;
    double sum = k + w;
    double error = k == 0.0 ? 0.0 : w - (sum - k);
    double rest = error + w_lo;
    double hi = sum + rest;
    *lo = rest - (hi - sum);
    return hi;
}

double __wgcl_exp2_parts(double hi, double lo) {
    double h = clamp(hi, -1500.0, 1500.0);
    double k = rint(h);
    double f = h - k;
    double f_hi = __wgcl_upper(f);
    double a = f_hi * 0x1.62e42f8p-1;
    double b = (f - f_hi) * 0x1.62e42f8p-1 + (f * 0x1.be8e7bcd5e4f2p-27 + lo * 0x1.62e42fefa39efp-1);
    double r = a + b;
    double c = b - (r - a);
    double y = 1.0 + (r + (r * r * __wgcl_exp_poly(r) + c));
    return __wgcl_scale(y, (int)k);
}

double __wgcl_pow_positive(double ax, double y) {
    double l_lo;
    double l = __wgcl_log2_parts(ax, &l_lo);
    double y_clamped = clamp(y, -1e25, 1e25);
    double y_hi = __wgcl_upper(y_clamped);
    double y_lo = y_clamped - y_hi;
    double l_hi = __wgcl_upper(l);
    l_lo += l - l_hi;
    double product = y_hi * l_hi;
    double rest = y_lo * l_hi + y_clamped * l_lo;
    double hi = product + rest;
    double lo = fabs(hi) < 1e5 ? rest - (hi - product) : 0.0;
    return __wgcl_exp2_parts(hi, lo);
}

// 0: not an integer, 1: odd, 2: even.
int __wgcl_parity(double y) {
    double ay = fabs(y);
    if (ay >= 9007199254740992.0) {
        return 2;
    }
    if (trunc(ay) != ay) {
        return 0;
    }
    return ((ulong)ay & 1UL) ? 1 : 2;
}

double __wgcl_pow_edges(double x, double y, int parity, double regular) {
    double ax = fabs(x);
    double r = regular;
    double infinity = as_double(0x7ff0000000000000UL);
    if (ax == 0.0 || ax == infinity) {
        int large = (ax == 0.0) == (y < 0.0);
        r = large ? infinity : 0.0;
        r = parity == 1 && as_ulong(x) >= 0x8000000000000000UL ? -r : r;
    } else if (fabs(y) == infinity) {
        r = ax == 1.0 ? 1.0 : (ax < 1.0) == (y < 0.0) ? infinity : 0.0;
    } else if (x < 0.0) {
        r = parity == 0 ? as_double(0x7ff8000000000000UL) : parity == 1 ? -r : r;
    }
    r = isnan(x) || isnan(y) ? as_double(0x7ff8000000000000UL) : r;
    return x == 1.0 || y == 0.0 ? 1.0 : r;
}

// 2^(y log2(x)), the logarithm and the product in two parts. Largest error seen: 0.9 ULP.
double pow(double x, double y) { return __wgcl_pow_edges(x, y, __wgcl_parity(y), __wgcl_pow_positive(fabs(x), y)); }

// Like pow. Largest error seen: 0.9 ULP.
double powr(double x, double y) {
    double r = __wgcl_pow_positive(fabs(x), y);
    double infinity = as_double(0x7ff0000000000000UL);
    double ax = fabs(x);
    r = __wgcl_pow_edges(ax, y, 2, r);
    int invalid = x < 0.0 || isnan(x) || isnan(y) || (ax == 0.0 && y == 0.0) || (x == infinity && y == 0.0)
        || (x == 1.0 && fabs(y) == infinity);
    return invalid ? as_double(0x7ff8000000000000UL) : r;
}

// A double represents every int. Largest error seen: 1.0 ULP.
double pown(double x, int n) {
    double r = __wgcl_pow_positive(fabs(x), (double)n);
    return __wgcl_pow_edges(x, (double)n, (n & 1) ? 1 : 2, r);
}

// 2^(log2(x) / n), the quotient in two parts. Largest error seen: 0.9 ULP.
double rootn(double x, int n) {
    double ax = fabs(x);
    double infinity = as_double(0x7ff0000000000000UL);
    int odd = n & 1;
    double l_lo;
    double l = __wgcl_log2_parts(ax, &l_lo);
    double y = (double)n;
    double quotient = l / y;
    double q_hi = __wgcl_upper(quotient);
    double y_hi = __wgcl_upper(y);
    double y_lo = y - y_hi;
    double left = ((l - q_hi * y_hi) - q_hi * y_lo) + l_lo;
    double r = __wgcl_exp2_parts(q_hi, left / y);
    if (ax == 0.0 || ax == infinity) {
        r = (ax == 0.0) == (n < 0) ? infinity : 0.0;
        r = odd ? copysign(r, x) : r;
        r = !odd && x == -infinity ? as_double(0x7ff8000000000000UL) : r;
    } else if (x < 0.0) {
        r = odd ? -r : as_double(0x7ff8000000000000UL);
    }
    return n == 0 || isnan(x) ? as_double(0x7ff8000000000000UL) : r;
}

// A single-precision cube root (24 bits) and one step of Halley's method. Largest error seen: 0.8 ULP.
double cbrt(double x) {
    ulong magnitude = as_ulong(x) & 0x7fffffffffffffffUL;
    if (magnitude == 0UL || magnitude >= 0x7ff0000000000000UL) {
        return x;
    }
    int e = __wgcl_exponent(x);
    int third = (e + 3000) / 3 - 1000;
    double a = as_double(__wgcl_significand(x)) * __wgcl_pow2i_f64(e - 3 * third);
    double t = (double)cbrt((float)a);
    double cube = t * t * t;
    t = t - t * ((cube - a) / (cube + cube + a));
    return copysign(t * __wgcl_pow2i_f64(third), x);
}

// The square root of the sum of squares, scaled to avoid overflow and underflow. Largest error seen: 1.2 ULP.
double hypot(double x, double y) {
    double ax = fabs(x);
    double ay = fabs(y);
    double infinity = as_double(0x7ff0000000000000UL);
    if (ax == infinity || ay == infinity) {
        return infinity;
    }
    double big = fmax(ax, ay);
    double scale = big > 0x1p500 ? 0x1p-600 : big < 0x1p-400 ? 0x1p600 : 1.0;
    double back = big > 0x1p500 ? 0x1p600 : big < 0x1p-400 ? 0x1p-600 : 1.0;
    ax *= scale;
    ay *= scale;
    double r = sqrt(ax * ax + ay * ay) * back;
    return isnan(x) || isnan(y) ? as_double(0x7ff8000000000000UL) : r;
}
