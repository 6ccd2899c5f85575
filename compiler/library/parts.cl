// Splitting and composing floats (OpenCL C 6.15.2): ldexp, frexp, ilogb, logb, nextafter, modf, fract, maxmag, minmag.

// 2 to the power n, -126 <= n <= 127.
float __wgcl_pow2i(int n) { return as_float((uint)(n + 127) << 23); }

// x * 2^n for x in [0.5, 4): at most one rounding, for -250 <= n <= 250.
float __wgcl_scale(float x, int n) {
    int half_n = n >> 1;
    return x * __wgcl_pow2i(half_n) * __wgcl_pow2i(n - half_n);
}

// The bits of a finite |x| that is not 0. A denormal is scaled by 2^149. The conversion uses integers, so flushed
// denormals do not matter.
uint __wgcl_normalised(float x) {
    uint bits = as_uint(x) & 0x7fffffffu;
    return bits < 0x00800000u ? as_uint((float)(int)bits) : bits;
}

// Exponent of a finite x that is not 0, denormals included: one less than that of frexp, 1 <= |x| / 2^e < 2.
int __wgcl_exponent(float x) {
    int denormal = (as_uint(x) & 0x7f800000u) == 0u;
    return (int)(__wgcl_normalised(x) >> 23) - (denormal ? 276 : 127);
}

// The significand of a finite x that is not 0, in [1, 2), as bits.
uint __wgcl_significand(float x) { return (__wgcl_normalised(x) & 0x007fffffu) | 0x3f800000u; }

// Exact, except for one rounding if the result is a denormal.
float ldexp(float x, int n) {
    uint bits = as_uint(x);
    uint sign = bits & 0x80000000u;
    uint magnitude = bits ^ sign;
    if (magnitude == 0u || magnitude >= 0x7f800000u) {
        return x;
    }
    int e = __wgcl_exponent(x) + clamp(n, -1000, 1000);
    uint m = __wgcl_significand(x) & 0x007fffffu;
    if (e > 127) {
        return as_float(sign | 0x7f800000u);
    }
    if (e >= -126) {
        return as_float(sign | (uint)(e + 127) << 23 | m);
    }
    // Round the 24-bit significand to the available bits, to nearest even.
    int shift = -126 - e;
    if (shift > 24) {
        return as_float(sign);
    }
    m |= 0x00800000u;
    uint kept = m >> shift;
    uint rest = m & ((1u << shift) - 1u);
    uint midpoint = 1u << (shift - 1);
    kept += rest > midpoint || (rest == midpoint && (kept & 1u)) ? 1u : 0u;
    return as_float(sign | kept);
}

float frexp(float x, int *exp) {
    uint bits = as_uint(x);
    uint magnitude = bits & 0x7fffffffu;
    if (magnitude == 0u || magnitude >= 0x7f800000u) {
        *exp = 0;
        return x;
    }
    *exp = __wgcl_exponent(x) + 1;
    return as_float((bits & 0x80000000u) | (__wgcl_significand(x) - 0x00800000u));
}

int ilogb(float x) {
    uint magnitude = as_uint(x) & 0x7fffffffu;
    if (magnitude == 0u) {
        return (int)0x80000000; // FP_ILOGB0
    }
    if (magnitude >= 0x7f800000u) {
        return 0x7fffffff; // FP_ILOGBNAN, and INT_MAX for infinities
    }
    return __wgcl_exponent(x);
}

float logb(float x) {
    uint magnitude = as_uint(x) & 0x7fffffffu;
    if (magnitude == 0u) {
        return as_float(0xff800000u);
    }
    if (magnitude >= 0x7f800000u) {
        return magnitude > 0x7f800000u ? x : as_float(0x7f800000u);
    }
    return (float)__wgcl_exponent(x);
}

float nextafter(float x, float y) {
    uint ux = as_uint(x);
    uint uy = as_uint(y);
    uint ax = ux & 0x7fffffffu;
    uint ay = uy & 0x7fffffffu;
    if (ax > 0x7f800000u || ay > 0x7f800000u) {
        return as_float(0x7fc00000u);
    }
    if (ux == uy || (ax | ay) == 0u) {
        return y;
    }
    if (ax == 0u) {
        return as_float((uy & 0x80000000u) | 1u);
    }
    // Magnitudes grow with their bits: away from zero if y is further from zero than x.
    int grows = (ux ^ uy) < 0x80000000u && ay > ax;
    return as_float(grows ? ux + 1u : ux - 1u);
}

float modf(float x, float *iptr) {
    float whole = trunc(x);
    *iptr = whole;
    float rest = isinf(x) ? 0.0f : x - whole;
    return copysign(rest, x);
}

float fract(float x, float *iptr) {
    float whole = floor(x);
    *iptr = whole;
    float rest = isinf(x) ? 0.0f : fmin(x - whole, as_float(0x3f7fffffu));
    return isnan(x) ? x : copysign(rest, as_uint(x) == 0x80000000u || isinf(x) ? x : 1.0f);
}

float maxmag(float x, float y) {
    float ax = fabs(x);
    float ay = fabs(y);
    return ax > ay ? x : ay > ax ? y : fmax(x, y);
}

float minmag(float x, float y) {
    float ax = fabs(x);
    float ay = fabs(y);
    return ax < ay ? x : ay < ax ? y : fmin(x, y);
}

float fdim(float x, float y) { return isnan(x) || isnan(y) ? as_float(0x7fc00000u) : x > y ? x - y : 0.0f; }
