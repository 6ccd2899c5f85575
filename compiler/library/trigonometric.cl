// Trigonometric functions, single precision (OpenCL C 6.15.2). Arguments are reduced modulo pi/2: up to 2^13 in four
// parts of pi/2 (Cody and Waite; products of the first three are exact), above with 96 bits of 2/pi selected by the
// exponent (Payne and Hanek). Polynomials by Sollya's fpminimax on [-pi/4, pi/4], errors below 2^-29.

// |x| = t >= 2^6, finite, in quadrants: their number (modulo 4) and the reduced argument as hi + lo. It has no branches
// and no table in memory: devices with cheap branches skip it, and on CPUs that vectorise over work-items it is
// cheap.
uint __wgcl_reduce_large(float t, float *lo, float *hi) {
    uint bits = as_uint(t);
    // t = m 2^(e - 23) with a 24-bit integer m. Bits of 2/pi that contribute multiples of 8 quadrants do not matter:
    // the 96 bits from `first` on are multiplied, and the top three bits of the product modulo 2^96 count whole
    // quadrants.
    uint m = (bits & 0x007fffffu) | 0x00800000u;
    uint first = (bits >> 23) - 121u;
    // Four words of 2/pi from bit `first` on: 32 zeros, then the bits after the binary point. If `four` is not 0, these
    // are the last four words.
    uint odd = first & 32u;
    uint two = first & 64u;
    uint four = first & 128u;
    uint a0 = odd ? 0xa2f9836eu : 0u;
    uint a1 = odd ? 0x4e441529u : 0xa2f9836eu;
    uint a2 = odd ? 0xfc2757d1u : 0x4e441529u;
    uint a3 = odd ? 0xf534ddc0u : 0xfc2757d1u;
    uint a4 = odd ? 0xdb629599u : 0xf534ddc0u;
    uint a5 = odd ? 0x3c439041u : 0xdb629599u;
    uint w0 = four ? 0xf534ddc0u : two ? a2 : a0;
    uint w1 = four ? 0xdb629599u : two ? a3 : a1;
    uint w2 = four ? 0x3c439041u : two ? a4 : a2;
    uint w3 = four ? 0xfe5163abu : two ? a5 : a3;
    // 96 bits of them. Two shifts, because a shift by 32 does nothing.
    uint shift = first & 31u;
    uint back = 31u - shift;
    uint b0 = (w0 << shift) | ((w1 >> 1) >> back);
    uint b1 = (w1 << shift) | ((w2 >> 1) >> back);
    uint b2 = (w2 << shift) | ((w3 >> 1) >> back);
    uint p2 = b2 * m;
    uint c2 = mul_hi(b2, m);
    uint p1 = b1 * m + c2;
    uint c1 = mul_hi(b1, m) + (p1 < c2 ? 1u : 0u);
    uint p0 = b0 * m + c1;
    // The fraction of a quadrant: 64 bits, from -1/2 to 1/2, with the quadrant rounded to the nearest.
    uint f0 = (p0 << 3) | (p1 >> 29);
    uint f1 = (p1 << 3) | (p2 >> 29);
    // As a sum of floats, each exact. The sum of the first two is exact with its remainder: the first is 0 or larger
    // than the second.
    float t0 = (float)((int)f0 >> 8) * 0x1p-24f;
    float t1 = (float)((f0 & 0xffu) << 16 | f1 >> 16) * 0x1p-48f;
    float t2 = (float)(f1 & 0xffffu) * 0x1p-64f;
    float a = t0 + t1;
    float b = ((t0 - a) + t1) + t2;
    // times pi/2 in two parts
    float a_hi = as_float(as_uint(a) & 0xfffff000u);
    float a_lo = a - a_hi;
    float product = a * 0x1.921fb6p0f;
    float error = ((a_hi * 0x1.92p0f - product) + a_hi * 0x1.fb6p-12f + a_lo * 0x1.92p0f) + a_lo * 0x1.fb6p-12f;
    *hi = product;
    *lo = error + (b * 0x1.921fb6p0f + a * -0x1.777a5cp-25f);
    return (p0 >> 29) + (f0 >> 31);
}

// Sine and cosine in their quadrant, as bits. Both polynomials cost less than a divergent branch.
uint __wgcl_sin_bits(uint quadrant, float s, float c) {
    float y = (quadrant & 1u) ? c : s;
    return as_uint(y) ^ (quadrant << 30 & 0x80000000u);
}

// (tan(sqrt(s)) / sqrt(s) - 1) / s
float __wgcl_tan_poly(float s) {
    float p = 0x1.768016p-10f;
    p = mad(p, s, 0x1.b33d8ap-11f);
    p = mad(p, s, 0x1.dffe4p-9f);
    p = mad(p, s, 0x1.25cc3p-7f);
    p = mad(p, s, 0x1.658654p-6f);
    p = mad(p, s, 0x1.ba2cbcp-5f);
    p = mad(p, s, 0x1.1110c8p-3f);
    return mad(p, s, 0x1.555556p-2f);
}

#ifndef FP_FAST_FMAF

// Quadrant (modulo 4) of t >= 0 and the reduced argument hi + lo in [-pi/4, pi/4]. Undefined for infinities and NaNs.
uint __wgcl_reduce(float t, float *lo, float *hi) {
    float k = rint(t * 0x1.45f306p-1f);
    float r = mad(-k, 0x1.fb4p-12f, mad(-k, 0x1.92p0f, t));
    float u = k * 0x1.444p-24f;
    float r1 = r - u;
    *hi = r1;
    *lo = mad(-k, 0x1.68c234p-39f, (r - r1) - u);
    uint quadrant = (uint)(int)k;
    if (t >= 8192.0f) {
        quadrant = __wgcl_reduce_large(t, lo, hi);
    }
    return quadrant;
}

float __wgcl_sin_poly(float r, float lo) {
    float s = r * r;
    float p = 0x1.7ff322p-19f;
    p = mad(p, s, -0x1.a06746p-13f);
    p = mad(p, s, 0x1.11118p-7f);
    p = mad(p, s, -0x1.555556p-3f);
    return r + mad(r * s, p, lo);
}

float __wgcl_cos_poly(float r, float lo) {
    float s = r * r;
    float p = -0x1.5bdf8ep-22f;
    p = mad(p, s, 0x1.a1p-16f);
    p = mad(p, s, -0x1.6c17dcp-10f);
    p = mad(p, s, 0x1.555556p-5f);
    float h = 0.5f * s;
    float w = 1.0f - h;
    return w + (((1.0f - w) - h) + mad(s * s, p, -(r * lo)));
}

// NaN if t = |x| is not finite.
float __wgcl_finite(float t, uint result) { return t < as_float(0x7f800000u) ? as_float(result) : as_float(0x7fc00000u); }

// Largest error seen: 1.0 ULP.
float sin(float x) {
    float lo, hi;
    float t = fabs(x);
    uint quadrant = __wgcl_reduce(t, &lo, &hi);
    uint y = __wgcl_sin_bits(quadrant, __wgcl_sin_poly(hi, lo), __wgcl_cos_poly(hi, lo));
    return __wgcl_finite(t, y ^ (as_uint(x) & 0x80000000u));
}

// Largest error seen: 0.9 ULP.
float cos(float x) {
    float lo, hi;
    float t = fabs(x);
    uint quadrant = __wgcl_reduce(t, &lo, &hi);
    return __wgcl_finite(t, __wgcl_sin_bits(quadrant + 1u, __wgcl_sin_poly(hi, lo), __wgcl_cos_poly(hi, lo)));
}

// Largest error seen: 1.0 ULP.
float sincos(float x, float *cosval) {
    float lo, hi;
    float t = fabs(x);
    uint quadrant = __wgcl_reduce(t, &lo, &hi);
    float s = __wgcl_sin_poly(hi, lo);
    float c = __wgcl_cos_poly(hi, lo);
    *cosval = __wgcl_finite(t, __wgcl_sin_bits(quadrant + 1u, s, c));
    return __wgcl_finite(t, __wgcl_sin_bits(quadrant, s, c) ^ (as_uint(x) & 0x80000000u));
}

// Largest error seen: 1.5 ULP.
float tan(float x) {
    float lo, hi;
    float t = fabs(x);
    uint quadrant = __wgcl_reduce(t, &lo, &hi);
    float s = hi * hi;
    float y = hi + (hi * s * __wgcl_tan_poly(s) + lo * (1.0f + s));
    y = (quadrant & 1u) ? -1.0f / y : y;
    return __wgcl_finite(t, as_uint(y) ^ (as_uint(x) & 0x80000000u));
}

#endif

// Half-turns: the reduction is exact.
float __wgcl_sinpi_poly(float r) {
    float s = r * r;
    float p = 0x1.3f049ap-4f;
    p = mad(p, s, -0x1.329dfep-1f);
    p = mad(p, s, 0x1.466b62p1f);
    p = mad(p, s, -0x1.4abbcep2f);
    // pi in two parts, of which the upper one has 12 bits. Scaled, because the lower parts of small numbers are
    // denormals, which some devices flush.
    float scaled = r * 0x1p64f;
    float hi = as_float(as_uint(scaled) & 0xfffff000u);
    float lo = scaled - hi;
    return (hi * 0x1.92p1f + (lo * 0x1.92p1f + (scaled * 0x1.fb5444p-11f + scaled * s * p))) * 0x1p-64f;
}

float __wgcl_cospi_poly(float r) {
    float s = r * r;
    float p = 0x1.d0a048p-3f;
    p = mad(p, s, -0x1.55a5c6p0f);
    p = mad(p, s, 0x1.03c19ep2f);
    p = mad(p, s, -0x1.3bd3ccp2f);
    return 1.0f + s * p;
}

// Reduced to [-1/4, 1/4] exactly. Largest error seen: 1.1 ULP.
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

// Like sinpi. Largest error seen: 1.1 ULP.
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

// The quotient of sinpi and cospi. Largest error seen: 2.4 ULP.
float tanpi(float x) {
    float t = fabs(x);
    float k = rint(2.0f * t);
    float r = t - 0.5f * k;
    int quadrant = (int)(k - 4.0f * floor(0.25f * k));
    float s = __wgcl_sinpi_poly(r);
    float c = __wgcl_cospi_poly(r);
    float y = (quadrant & 1) ? -c / s : s / c;
    // Signs of zeros and infinities alternate with the quadrant, as the specification requires.
    y = r == 0.0f ? (quadrant == 0 ? 0.0f : quadrant == 1 ? as_float(0x7f800000u) : quadrant == 2 ? -0.0f : as_float(0xff800000u)) : y;
    y = t >= 8388608.0f ? (t >= 16777216.0f || !((uint)t & 1u) ? 0.0f : -0.0f) : y;
    return isfinite(x) ? (as_uint(x) >= 0x80000000u ? -y : y) : as_float(0x7fc00000u);
}
