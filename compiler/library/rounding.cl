// Rounding and remainders (OpenCL C 6.15.2): round, fmod, remainder, remquo. All exact.

// Half-way cases away from zero.
float round(float x) {
    float whole = trunc(x);
    float rest = fabs(x - whole);
    return copysign(rest >= 0.5f ? whole + copysign(1.0f, x) : whole, x);
}

// Remainder of the magnitudes by long division on the significands, and the low bits of the quotient.
// ax, ay: bits of the magnitudes, finite, ay not 0.
uint __wgcl_remainder_bits(uint ax, uint ay, uint *quotient) {
    int ex = __wgcl_exponent(as_float(ax));
    int ey = __wgcl_exponent(as_float(ay));
    uint q = 0u;
    if (ax < ay) {
        *quotient = 0u;
        return ax;
    }
    uint mx = (__wgcl_significand(as_float(ax)) & 0x007fffffu) | 0x00800000u;
    uint my = (__wgcl_significand(as_float(ay)) & 0x007fffffu) | 0x00800000u;
    // Eight bits a turn: the remainder has 24 bits, 8 more fit a word.
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
    *quotient = q;
    if (mx == 0u) {
        return 0u;
    }
    // Back to a float of exponent ey.
    int lead = (int)clz(mx) - 8;
    int e = ey - lead;
    if (e >= -126) {
        return ((uint)(e + 127) << 23) | ((mx << lead) & 0x007fffffu);
    }
    int shift = ey + 126;
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
    uint r = __wgcl_remainder_bits(ax, ay, &quotient);
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
    float r = as_float(__wgcl_remainder_bits(ax, ay, &q));
    // Nearest multiple, ties to the even one. Compared as r > |y| - r, which is exact where it matters.
    float y_abs = as_float(ay);
    float other = y_abs - r;
    int up = r > other || (r == other && (q & 1u));
    r = up ? -other : r;
    q += up ? 1u : 0u;
    uint sign = as_uint(x) & 0x80000000u;
    int low = (int)(q & 0x7fu);
    *quo = ((as_uint(x) ^ as_uint(y)) & 0x80000000u) ? -low : low;
    return as_float(as_uint(r) ^ sign);
}

float remainder(float x, float y) {
    int quo;
    return remquo(x, y, &quo);
}
