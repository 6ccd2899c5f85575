// Rounding and remainders (OpenCL C 6.15.2): round, fmod, remainder, remquo. All exact.

// Half-way cases away from zero.
float round(float x) {
    float whole = trunc(x);
    float rest = fabs(x - whole);
    return copysign(rest >= 0.5f ? whole + copysign(1.0f, x) : whole, x);
}

// Remainder of the magnitudes by long division of the significands, and the low bits of the quotient. The quotient is
// rounded down, or to the nearest integer with ties to even if `nearest` is set. *above is set if it was rounded up, so
// that the true remainder is negative. Integers only, so the result is right on devices that flush denormals. ax, ay:
// bits of the magnitudes, finite, ay not 0.
uint __wgcl_remainder_bits(uint ax, uint ay, int nearest, uint *quotient, int *above) {
    int ex = __wgcl_exponent(as_float(ax));
    int ey = __wgcl_exponent(as_float(ay));
    uint mx = (__wgcl_significand(as_float(ax)) & 0x007fffffu) | 0x00800000u;
    uint my = (__wgcl_significand(as_float(ay)) & 0x007fffffu) | 0x00800000u;
    // mx and my are in units of 2^(unit - 23).
    int unit = ey;
    uint q = 0u;
    *quotient = 0u;
    *above = 0;
    if (ax < ay) {
        if (!nearest || ex < ey - 1) {
            return ax;
        }
        my <<= ey - ex;
        unit = ex;
    } else {
        // Eight bits per iteration: the remainder has 24 bits, and 8 more fit in a word.
        int n = ex - ey;
        q = mx >= my ? 1u : 0u;
        mx -= mx >= my ? my : 0u;
        while (n > 0 && mx != 0u) {
            int step = n < 8 ? n : 8;
            uint wide = mx << step;
            uint digit = wide / my;
            mx = wide - digit * my;
            q = (q << step) + digit;
            n -= step;
        }
        q = n >= 32 ? 0u : q << (n > 0 ? n : 0);
    }
    if (nearest && (2u * mx > my || (2u * mx == my && (q & 1u)))) {
        mx = my - mx;
        q += 1u;
        *above = 1;
    }
    *quotient = q;
    if (mx == 0u) {
        return 0u;
    }
    // Back to a float.
    int lead = (int)clz(mx) - 8;
    int e = unit - lead;
    if (e >= -126) {
        return ((uint)(e + 127) << 23) | ((mx << lead) & 0x007fffffu);
    }
    int shift = unit + 126;
    return shift >= 0 ? mx << shift : mx >> -shift;
}

float fmod(float x, float y) {
    uint ax = as_uint(x) & 0x7fffffffu;
    uint ay = as_uint(y) & 0x7fffffffu;
    if (ax >= 0x7f800000u || ay > 0x7f800000u || ay == 0u) {
        return as_float(0x7fc00000u);
    }
    if (ay == 0x7f800000u || ax == 0u) {
        return x;
    }
    uint quotient;
    int above;
    uint r = __wgcl_remainder_bits(ax, ay, 0, &quotient, &above);
    return as_float(r | (as_uint(x) & 0x80000000u));
}

float remquo(float x, float y, int *quo) {
    uint ax = as_uint(x) & 0x7fffffffu;
    uint ay = as_uint(y) & 0x7fffffffu;
    *quo = 0;
    if (ax >= 0x7f800000u || ay > 0x7f800000u || ay == 0u) {
        return as_float(0x7fc00000u);
    }
    if (ay == 0x7f800000u || ax == 0u) {
        return x;
    }
    uint q;
    int above;
    uint r = __wgcl_remainder_bits(ax, ay, 1, &q, &above);
    uint sign = (as_uint(x) & 0x80000000u) ^ (above ? 0x80000000u : 0u);
    int low = (int)(q & 0x7fu);
    *quo = ((as_uint(x) ^ as_uint(y)) & 0x80000000u) ? -low : low;
    return as_float(r | sign);
}

float remainder(float x, float y) {
    int quo;
    return remquo(x, y, &quo);
}
