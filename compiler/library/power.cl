// Powers and roots, single precision (OpenCL C 6.15.2).

// 0: not an integer, 1: odd, 2: even; infinities are even.
int __wgcl_parity(float y) {
    float half_y = 0.5f * y;
    return trunc(y) != y ? 0 : trunc(half_y) != half_y ? 1 : 2;
}

// |x|^y from `regular`, with the special cases of pow. `regular` must be correct for finite x except 0, and for any y
// except NaN.
float __wgcl_pow_edges(float x, float y, int parity, float regular) {
    float ax = fabs(x);
    float infinity = as_float(0x7f800000u);
    float limit = (ax == 0.0f) == (y < 0.0f) ? infinity : 0.0f;
    float r = ax == 0.0f || ax == infinity ? limit : regular;
    r = as_float(as_uint(r) ^ (parity == 1 ? as_uint(x) & 0x80000000u : 0u));
    int invalid = (x < 0.0f && ax != infinity && parity == 0) || isnan(x) || isnan(y);
    r = invalid ? as_float(0x7fc00000u) : r;
    return x == 1.0f || y == 0.0f ? 1.0f : r;
}

// powr for arguments where `regular`, the result of pow, is wrong.
float __wgcl_powr_edges(float x, float y, float regular) {
    float infinity = as_float(0x7f800000u);
    float ax = fabs(x);
    float r = __wgcl_pow_edges(ax, y, 2, regular);
    int invalid = x < 0.0f || isnan(x) || isnan(y) || (ax == 0.0f && y == 0.0f) || (x == infinity && y == 0.0f)
        || (x == 1.0f && fabs(y) == infinity);
    return invalid ? as_float(0x7fc00000u) : r;
}

// rootn for arguments where `r`, |x|^(1/n) for finite x that is not 0, is wrong.
float __wgcl_rootn_edges(float x, int n, float r) {
    float ax = fabs(x);
    float infinity = as_float(0x7f800000u);
    int odd = n & 1;
    if (ax == 0.0f || ax == infinity) {
        r = (ax == 0.0f) == (n < 0) ? infinity : 0.0f;
        r = odd ? copysign(r, x) : r;
        // Even roots of -infinity do not exist.
        r = !odd && x == -infinity ? as_float(0x7fc00000u) : r;
    } else if (x < 0.0f) {
        r = odd ? -r : as_float(0x7fc00000u);
    }
    return n == 0 || isnan(x) ? as_float(0x7fc00000u) : r;
}

#ifndef FP_FAST_FMAF

// log2 of a positive finite x as hi + lo, relative error below 2^-36: log2(m) = 2 / ln 2 (s + s^3/3 + ...), s = (m - 1)
// / (m + 1) in two parts.
float __wgcl_log2_parts(float x, float *lo) {
    float k;
    float f = __wgcl_log_split(x, &k);
    float d = f + 2.0f;
    // An estimate suffices: the subtraction makes the upper 12 bits of the quotient exact, and the lower part needs
    // only 12 bits.
    float reciprocal = native_recip(d);
    float s_hi = as_float(as_uint(f * reciprocal) & 0xfffff000u);
    // f - s_hi d exactly: d in two parts.
    float d_hi = as_float(as_uint(d) & 0xfffff000u);
    float d_lo = (2.0f - d_hi) + f;
    float s_lo = mad(-s_hi, d_lo, mad(-s_hi, d_hi, f)) * reciprocal;
    float s = s_hi + s_lo;
    float q = s * s;
    float p = 0x1.cea956p-4f;
    p = mad(p, q, 0x1.24c07ap-3f);
    p = mad(p, q, 0x1.99987p-3f);
    p = p * q;
    // s + s^3 (1/3 + p) with s^3 / 3 in two parts.
    float q_hi = as_float(as_uint(s_hi * s_hi) & 0xfffff000u);
    float q_lo = mad(s_lo, s + s_hi, mad(s_hi, s_hi, -q_hi));
    float t = q_hi * 0x1.554p-2f;
    float t_lo = mad(q_lo, 0x1.554p-2f, q * (0x1.555556p-14f + p));
    float u_hi = as_float(as_uint(1.0f + t) & 0xfffff000u);
    float u_lo = ((1.0f - u_hi) + t) + t_lo;
    // (s_hi + s_lo) (u_hi + u_lo)
    float v = s_hi * u_hi;
    float v_lo = mad(s_lo, u_hi, s * u_lo);
    float v_hi = as_float(as_uint(v) & 0xfffff000u);
    v_lo = (v - v_hi) + v_lo;
    // times 2 / ln 2
    float w = v_hi * 0x1.714p1f;
    float w_lo = mad(v_lo, 0x1.714p1f, (v_hi + v_lo) * 0x1.47652cp-11f);
    float sum = k + w;
    float error = k == 0.0f ? 0.0f : w - (sum - k);
    float rest = error + w_lo;
    float hi = sum + rest;
    *lo = rest - (hi - sum);
    return hi;
}

// 2^(hi + lo), relative error below 2^-23.
float __wgcl_exp2_parts(float hi, float lo) {
    float h = clamp(hi, -200.0f, 200.0f);
    float k = rint(h);
    float f = h - k;
    float f_hi = as_float(as_uint(f) & 0xfffff000u);
    float r = mad(f_hi, 0x1.62ep-1f, mad(f - f_hi, 0x1.62ep-1f, mad(f, 0x1.0bfbe8p-15f, lo * 0x1.62e43p-1f)));
    float y = 1.0f + mad(r * r, __wgcl_exp_poly(r), r);
    return __wgcl_scale(y, (int)k);
}

// |x|^y for finite x that is not 0. An infinite y does what 1e12 does: the logarithm nearest to 0 is 2^-24.
float __wgcl_pow_positive(float ax, float y) {
    float l_lo;
    float l = __wgcl_log2_parts(ax, &l_lo);
    float y_clamped = clamp(y, -1e12f, 1e12f);
    float y_hi = as_float(as_uint(y_clamped) & 0xfffff000u);
    float y_lo = y_clamped - y_hi;
    float l_hi = as_float(as_uint(l) & 0xfffff000u);
    l_lo += l - l_hi;
    float product = y_hi * l_hi;
    float rest = mad(y_lo, l_hi, y_clamped * l_lo);
    float hi = product + rest;
    float lo = fabs(hi) < 1e4f ? rest - (hi - product) : 0.0f;
    return __wgcl_exp2_parts(hi, lo);
}

// 2^(y log2(x)), the logarithm and the product in two parts. Largest error seen: 1.1 ULP.
float pow(float x, float y) { return __wgcl_pow_edges(x, y, __wgcl_parity(y), __wgcl_pow_positive(fabs(x), y)); }

// Like pow. Largest error seen: 1.0 ULP.
float powr(float x, float y) { return __wgcl_powr_edges(x, y, __wgcl_pow_positive(fabs(x), y)); }

// Largest error seen: 1.1 ULP.
float pown(float x, int n) {
    // n in two floats: 24 bits cannot represent every int.
    float y = (float)n;
    int odd = n & 1;
    float ax = fabs(x);
    float l_lo;
    float l = __wgcl_log2_parts(ax, &l_lo);
    float y_top = fmin(as_float(as_uint(y) & 0xfffff000u), 0x1.ffep30f);
    float y_lo = (float)(n - (int)y_top);
    float l_hi = as_float(as_uint(l) & 0xfffff000u);
    l_lo += l - l_hi;
    float product = y_top * l_hi;
    float rest = y_lo * l_hi + y * l_lo;
    float hi = product + rest;
    float lo = fabs(hi) < 1e4f ? rest - (hi - product) : 0.0f;
    float r = __wgcl_exp2_parts(hi, lo);
    return __wgcl_pow_edges(x, y, odd ? 1 : 2, r);
}

// 2^(log2(x) / n), the quotient in two parts. Largest error seen: 1.0 ULP.
float rootn(float x, int n) {
    float ax = fabs(x);
    float l_lo;
    float l = __wgcl_log2_parts(ax, &l_lo);
    // (l + l_lo) / n with the remainder of the division.
    float y = (float)n;
    float quotient = l / y;
    float q_hi = as_float(as_uint(quotient) & 0xfffff000u);
    float y_hi = as_float(as_uint(y) & 0xfffff000u);
    float y_lo = y - y_hi;
    float left = ((l - q_hi * y_hi) - q_hi * y_lo) + l_lo;
    float q_lo = left / y;
    return __wgcl_rootn_edges(x, n, __wgcl_exp2_parts(q_hi, q_lo));
}

#endif

// An estimate from the exponent, and two steps of Halley's method. Largest error seen: 1.0 ULP.
float cbrt(float x) {
    uint magnitude = as_uint(x) & 0x7fffffffu;
    if (magnitude == 0u || magnitude >= 0x7f800000u) {
        return x;
    }
    int e = __wgcl_exponent(x);
    int third = (e + 300) / 3 - 100;
    float a = as_float(__wgcl_significand(x)) * __wgcl_pow2i(e - 3 * third);
    // a in [1, 8)
    float t = as_float(as_uint(a) / 3u + 0x2a514067u);
    float cube = t * t * t;
    t = t * ((cube + a + a) / (cube + cube + a));
    cube = t * t * t;
    t = t - t * ((cube - a) / (cube + cube + a));
    return copysign(t * __wgcl_pow2i(third), x);
}

// The square root of the sum of squares, scaled to avoid overflow and underflow. Largest error seen: 1.1 ULP.
float hypot(float x, float y) {
    float ax = fabs(x);
    float ay = fabs(y);
    float infinity = as_float(0x7f800000u);
    if (ax == infinity || ay == infinity) {
        return infinity;
    }
    float big = fmax(ax, ay);
    // Without a square root, whose rounding differs between devices.
    bool alone = ax == 0.0f || ay == 0.0f;
    float scale = big > 0x1p60f ? 0x1p-66f : big < 0x1p-40f ? 0x1p80f : 1.0f;
    float back = big > 0x1p60f ? 0x1p66f : big < 0x1p-40f ? 0x1p-80f : 1.0f;
    ax *= scale;
    ay *= scale;
    float r = alone ? big : sqrt(ax * ax + ay * ay) * back;
    return isnan(x) || isnan(y) ? as_float(0x7fc00000u) : r;
}
