// Trigonometric functions, single precision (OpenCL C 6.15.2). Arguments are reduced modulo pi/2: up to 2^13 in four parts of pi/2 (Cody and
// Waite; products of the first three are exact), beyond with 96 bits of 2/pi chosen by the exponent (Payne and Hanek).
// Polynomials by Sollya's fpminimax on [-pi/4, pi/4], errors below 2^-29.

// 32 zeros and the bits of 2/pi after the binary point.
__constant uint __wgcl_two_over_pi[8] = {
    0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
};

// |x| >= 2^6, finite. Quadrant (modulo 4, of |x|) and the reduced argument in two parts.
int __wgcl_reduce_large(float x, float *lo, float *hi) {
    uint bits = as_uint(x) & 0x7fffffffu;
    // x = m 2^(e - 23) with a 24-bit integer m. Bits of 2/pi that give multiples of 8 quadrants and more do not matter: the 96 bits
    // from `first` on are multiplied, and the top three bits of the product modulo 2^96 count whole quadrants.
    uint m = (bits & 0x007fffffu) | 0x00800000u;
    int e = (int)(bits >> 23) - 127;
    int first = e - 26 + 32;
    int word = first >> 5;
    int shift = first & 31;
    uint w0 = __wgcl_two_over_pi[word];
    uint w1 = __wgcl_two_over_pi[word + 1];
    uint w2 = __wgcl_two_over_pi[word + 2];
    uint w3 = __wgcl_two_over_pi[word + 3];
    // 96 bits from `first` on.
    uint b0 = shift == 0 ? w0 : (w0 << shift) | (w1 >> (32 - shift));
    uint b1 = shift == 0 ? w1 : (w1 << shift) | (w2 >> (32 - shift));
    uint b2 = shift == 0 ? w2 : (w2 << shift) | (w3 >> (32 - shift));
    uint p2 = b2 * m;
    uint c2 = mul_hi(b2, m);
    uint p1 = b1 * m + c2;
    uint c1 = mul_hi(b1, m) + (p1 < c2 ? 1u : 0u);
    uint p0 = b0 * m + c1;
    // The quadrant modulo 4 on top.
    p0 = (p0 << 1) | (p1 >> 31);
    p1 = (p1 << 1) | (p2 >> 31);
    p2 = p2 << 1;
    uint quadrant = p0 >> 30;
    // The fraction, rounded to the nearest quadrant.
    uint f0 = (p0 << 2) | (p1 >> 30);
    uint f1 = (p1 << 2) | (p2 >> 30);
    uint negative = f0 >> 31;
    quadrant += negative;
    if (negative) {
        f0 = ~f0;
        f1 = ~f1;
    }
    // f0.f1 / 2^64 < 1/2, normalised to 64 bits.
    uint zeros = f0 == 0u ? 32u + clz(f1) : clz(f0);
    if (zeros >= 32u) {
        f0 = f1;
        f1 = 0u;
    }
    uint z = zeros & 31u;
    uint top = z == 0u ? f0 : (f0 << z) | (f1 >> (32u - z));
    uint next = f1 << z;
    float scale = __wgcl_pow2i(-24 - (int)zeros);
    float a = (float)(top >> 8) * scale;
    float b = (float)((top & 0xffu) << 16 | next >> 16) * (scale * 0x1p-24f);
    // times pi/2 in two parts
    float a_hi = as_float(as_uint(a) & 0xfffff000u);
    float a_lo = a - a_hi;
    float product = a * 0x1.921fb6p0f;
    float error = ((a_hi * 0x1.92p0f - product) + a_hi * 0x1.fb6p-12f + a_lo * 0x1.92p0f) + a_lo * 0x1.fb6p-12f;
    float rest = error + (b * 0x1.921fb6p0f + a * -0x1.777a5cp-25f);
    float sum = product + rest;
    rest = rest - (sum - product);
    *hi = negative ? -sum : sum;
    *lo = negative ? -rest : rest;
    return (int)(quadrant & 3u);
}

// Quadrant of a finite x (any sign) and the reduced argument hi + lo in [-pi/4, pi/4].
int __wgcl_reduce(float x, float *lo, float *hi) {
    if (fabs(x) < 8192.0f) {
        float k = rint(x * 0x1.45f306p-1f);
        float r = (x - k * 0x1.92p0f) - k * 0x1.fb4p-12f;
        float t = k * 0x1.444p-24f;
        float r1 = r - t;
        float e1 = (r - r1) - t;
        float u = e1 - k * 0x1.68c234p-39f;
        float r2 = r1 + u;
        *hi = r2;
        *lo = u - (r2 - r1);
        return (int)k & 3;
    }
    int quadrant = __wgcl_reduce_large(x, lo, hi);
    if (x < 0.0f) {
        *hi = -*hi;
        *lo = -*lo;
        quadrant = -quadrant & 3;
    }
    return quadrant;
}

float __wgcl_sin_poly(float r, float lo) {
    float s = r * r;
    float p = 0x1.7ff322p-19f;
    p = mad(p, s, -0x1.a06746p-13f);
    p = mad(p, s, 0x1.11118p-7f);
    p = mad(p, s, -0x1.555556p-3f);
    return r + (r * s * p + lo);
}

float __wgcl_cos_poly(float r, float lo) {
    float s = r * r;
    float p = -0x1.5bdf8ep-22f;
    p = mad(p, s, 0x1.a1p-16f);
    p = mad(p, s, -0x1.6c17dcp-10f);
    p = mad(p, s, 0x1.555556p-5f);
    float h = 0.5f * s;
    float w = 1.0f - h;
    return w + (((1.0f - w) - h) + (s * s * p - r * lo));
}

float sin(float x) {
    float lo, hi;
    if (!isfinite(x)) {
        return as_float(0x7fc00000u);
    }
    int quadrant = __wgcl_reduce(x, &lo, &hi);
    float y = (quadrant & 1) ? __wgcl_cos_poly(hi, lo) : __wgcl_sin_poly(hi, lo);
    return x == 0.0f ? x : (quadrant & 2) ? -y : y;
}

float cos(float x) {
    float lo, hi;
    if (!isfinite(x)) {
        return as_float(0x7fc00000u);
    }
    int quadrant = __wgcl_reduce(x, &lo, &hi);
    float y = (quadrant & 1) ? __wgcl_sin_poly(hi, lo) : __wgcl_cos_poly(hi, lo);
    return ((quadrant + 1) & 2) ? -y : y;
}

float sincos(float x, float *cosval) {
    float lo, hi;
    if (!isfinite(x)) {
        *cosval = as_float(0x7fc00000u);
        return as_float(0x7fc00000u);
    }
    int quadrant = __wgcl_reduce(x, &lo, &hi);
    float s = __wgcl_sin_poly(hi, lo);
    float c = __wgcl_cos_poly(hi, lo);
    float sine = (quadrant & 1) ? c : s;
    float cosine = (quadrant & 1) ? s : c;
    *cosval = ((quadrant + 1) & 2) ? -cosine : cosine;
    return x == 0.0f ? x : (quadrant & 2) ? -sine : sine;
}

float tan(float x) {
    float lo, hi;
    if (!isfinite(x)) {
        return as_float(0x7fc00000u);
    }
    int quadrant = __wgcl_reduce(x, &lo, &hi);
    float s = hi * hi;
    float p = 0x1.768016p-10f;
    p = mad(p, s, 0x1.b33d8ap-11f);
    p = mad(p, s, 0x1.dffe4p-9f);
    p = mad(p, s, 0x1.25cc3p-7f);
    p = mad(p, s, 0x1.658654p-6f);
    p = mad(p, s, 0x1.ba2cbcp-5f);
    p = mad(p, s, 0x1.1110c8p-3f);
    p = mad(p, s, 0x1.555556p-2f);
    float y = hi + (hi * s * p + lo * (1.0f + s));
    y = (quadrant & 1) ? -1.0f / y : y;
    return x == 0.0f ? x : y;
}

// Half-turns: the reduction is exact.
float __wgcl_sinpi_poly(float r) {
    float s = r * r;
    float p = 0x1.3f049ap-4f;
    p = mad(p, s, -0x1.329dfep-1f);
    p = mad(p, s, 0x1.466b62p1f);
    p = mad(p, s, -0x1.4abbcep2f);
    // pi in two parts: the upper one has 12 bits.
    float hi = as_float(as_uint(r) & 0xfffff000u);
    float lo = r - hi;
    return hi * 0x1.92p1f + (lo * 0x1.92p1f + (r * 0x1.fb5444p-11f + r * s * p));
}

float __wgcl_cospi_poly(float r) {
    float s = r * r;
    float p = 0x1.d0a048p-3f;
    p = mad(p, s, -0x1.55a5c6p0f);
    p = mad(p, s, 0x1.03c19ep2f);
    p = mad(p, s, -0x1.3bd3ccp2f);
    return 1.0f + s * p;
}

float sinpi(float x) {
    float t = fabs(x);
    float k = rint(2.0f * t);
    float r = t - 0.5f * k;
    int quadrant = (int)(k - 4.0f * floor(0.25f * k));
    float y = (quadrant & 1) ? __wgcl_cospi_poly(r) : __wgcl_sinpi_poly(r);
    y = (quadrant & 2) ? -y : y;
    y = r == 0.0f && !(quadrant & 1) ? 0.0f : y;
    // From 2^23 on every float is an integer.
    y = t >= 8388608.0f ? 0.0f : y;
    return isfinite(x) ? (x < 0.0f || as_uint(x) == 0x80000000u ? -y : y) : as_float(0x7fc00000u);
}

float cospi(float x) {
    float t = fabs(x);
    float k = rint(2.0f * t);
    float r = t - 0.5f * k;
    int quadrant = (int)(k - 4.0f * floor(0.25f * k));
    float y = (quadrant & 1) ? __wgcl_sinpi_poly(r) : __wgcl_cospi_poly(r);
    y = ((quadrant + 1) & 2) ? -y : y;
    y = r == 0.0f && (quadrant & 1) ? 0.0f : y;
    // From 2^24 on every float is an even integer; below, the formula is exact enough.
    y = t >= 16777216.0f ? 1.0f : y;
    return isfinite(x) ? y : as_float(0x7fc00000u);
}

float tanpi(float x) {
    float t = fabs(x);
    float k = rint(2.0f * t);
    float r = t - 0.5f * k;
    int quadrant = (int)(k - 4.0f * floor(0.25f * k));
    float s = __wgcl_sinpi_poly(r);
    float c = __wgcl_cospi_poly(r);
    float y = (quadrant & 1) ? -c / s : s / c;
    // Signs of zeros and infinities alternate with the quadrant, as the edge cases of the specification have it.
    y = r == 0.0f ? (quadrant == 0 ? 0.0f : quadrant == 1 ? as_float(0x7f800000u) : quadrant == 2 ? -0.0f : as_float(0xff800000u)) : y;
    y = t >= 8388608.0f ? (t >= 16777216.0f || !((uint)t & 1u) ? 0.0f : -0.0f) : y;
    return isfinite(x) ? (as_uint(x) >= 0x80000000u ? -y : y) : as_float(0x7fc00000u);
}
