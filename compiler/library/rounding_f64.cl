// Rounding and remainders of doubles (OpenCL C 6.15.2): like rounding.cl, with 64-bit integers. All exact.

// Half-way cases away from zero.
double round(double x) {
    double whole = trunc(x);
    double rest = fabs(x - whole);
    return copysign(rest >= 0.5 ? whole + copysign(1.0, x) : whole, x);
}

// Remainder of the magnitudes by long division of the significands, and the low bits of the quotient. The quotient is
// rounded down, or to the nearest integer with ties to even if `nearest` is set. *above is set if it was rounded up, so
// that the true remainder is negative. Integers only, so the result is right on devices that flush denormals. ax, ay:
// bits of the magnitudes, finite, ay not 0.
ulong __wgcl_remainder_bits_f64(ulong ax, ulong ay, int nearest, ulong *quotient, int *above) {
    int ex = __wgcl_exponent(as_double(ax));
    int ey = __wgcl_exponent(as_double(ay));
    ulong mx = (__wgcl_significand(as_double(ax)) & 0x000fffffffffffffUL) | 0x0010000000000000UL;
    ulong my = (__wgcl_significand(as_double(ay)) & 0x000fffffffffffffUL) | 0x0010000000000000UL;
    // mx and my are in units of 2^(unit - 52).
    int unit = ey;
    ulong q = 0UL;
    *quotient = 0UL;
    *above = 0;
    if (ax < ay) {
        if (!nearest || ex < ey - 1) {
            return ax;
        }
        my <<= ey - ex;
        unit = ex;
    } else {
        // Eleven bits per iteration: the remainder has 53 bits, and 11 more fit in a word.
        int n = ex - ey;
        q = mx >= my ? 1UL : 0UL;
        mx -= mx >= my ? my : 0UL;
        while (n > 0 && mx != 0UL) {
            int step = n < 11 ? n : 11;
            ulong wide = mx << step;
            ulong digit = wide / my;
            mx = wide - digit * my;
            q = (q << step) + digit;
            n -= step;
        }
        q = n >= 64 ? 0UL : q << (n > 0 ? n : 0);
    }
    if (nearest && (2UL * mx > my || (2UL * mx == my && (q & 1UL)))) {
        mx = my - mx;
        q += 1UL;
        *above = 1;
    }
    *quotient = q;
    if (mx == 0UL) {
        return 0UL;
    }
    // Back to a double.
    int lead = (int)clz(mx) - 11;
    int e = unit - lead;
    if (e >= -1022) {
        return ((ulong)(e + 1023) << 52) | ((mx << lead) & 0x000fffffffffffffUL);
    }
    int shift = unit + 1022;
    return shift >= 0 ? mx << shift : mx >> -shift;
}

double fmod(double x, double y) {
    ulong ax = as_ulong(x) & 0x7fffffffffffffffUL;
    ulong ay = as_ulong(y) & 0x7fffffffffffffffUL;
    if (ax >= 0x7ff0000000000000UL || ay > 0x7ff0000000000000UL || ay == 0UL) {
        return as_double(0x7ff8000000000000UL);
    }
    if (ay == 0x7ff0000000000000UL || ax == 0UL) {
        return x;
    }
    ulong quotient;
    int above;
    ulong r = __wgcl_remainder_bits_f64(ax, ay, 0, &quotient, &above);
    return as_double(r | (as_ulong(x) & 0x8000000000000000UL));
}

double remquo(double x, double y, int *quo) {
    ulong ax = as_ulong(x) & 0x7fffffffffffffffUL;
    ulong ay = as_ulong(y) & 0x7fffffffffffffffUL;
    *quo = 0;
    if (ax >= 0x7ff0000000000000UL || ay > 0x7ff0000000000000UL || ay == 0UL) {
        return as_double(0x7ff8000000000000UL);
    }
    if (ay == 0x7ff0000000000000UL || ax == 0UL) {
        return x;
    }
    ulong q;
    int above;
    ulong r = __wgcl_remainder_bits_f64(ax, ay, 1, &q, &above);
    ulong sign = (as_ulong(x) & 0x8000000000000000UL) ^ (above ? 0x8000000000000000UL : 0UL);
    int low = (int)(q & 0x7fUL);
    *quo = ((as_ulong(x) ^ as_ulong(y)) & 0x8000000000000000UL) ? -low : low;
    return as_double(r | sign);
}

double remainder(double x, double y) {
    int quo;
    return remquo(x, y, &quo);
}
