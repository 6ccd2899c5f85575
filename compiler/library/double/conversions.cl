// Comparisons of doubles with integers, rounding to integers, and conversions. Follows `arithmetic.cl`.

// Maps numbers to integers in the same order. Both zeros are equal.
static long ordered(ulong x)
{
    long sign = (long)x >> 63;
    return ((long)magnitude(x) ^ sign) - sign;
}

// Like `ordered`, with -0 before +0.
static long ordered_strictly(ulong x)
{
    return (long)(x ^ (ulong)((long)x >> 63) >> 1);
}

static bool is_nan(ulong x) { return magnitude(x) > INFINITE; }

int double_less(ulong x, ulong y)
{
    return !is_nan(x) && !is_nan(y) && ordered(x) < ordered(y);
}

int double_less_equal(ulong x, ulong y)
{
    return !is_nan(x) && !is_nan(y) && ordered(x) <= ordered(y);
}

int double_equal(ulong x, ulong y)
{
    return !is_nan(x) && (x == y || magnitude(x | y) == 0);
}

ulong double_min(ulong x, ulong y)
{
    ulong result = ordered_strictly(x) < ordered_strictly(y) ? x : y;
    result = is_nan(y) ? x : result;
    result = is_nan(x) ? y : result;
    return is_nan(x) && is_nan(y) ? x | QUIET : result;
}

ulong double_max(ulong x, ulong y)
{
    ulong result = ordered_strictly(x) < ordered_strictly(y) ? y : x;
    result = is_nan(y) ? x : result;
    result = is_nan(x) ? y : result;
    return is_nan(x) && is_nan(y) ? x | QUIET : result;
}

// The fraction bits of a magnitude: all of them below 1, none from 2^52 on.
static ulong fraction_bits(ulong x)
{
    int exponent = exponent_field(x) - BIAS;
    ulong bits = (LEADING - 1) >> clamp(exponent, 0, 63);
    return exponent < 0 ? ~SIGN : bits;
}

static ulong quiet(ulong x) { return is_nan(x) ? x | QUIET : x; }

ulong double_trunc(ulong x)
{
    return quiet(x & ~fraction_bits(x));
}

// The next integer from x, away from zero if x has the sign `away` and is not an integer.
static ulong outwards(ulong x, ulong away)
{
    ulong bits = fraction_bits(x), whole = x & ~bits;
    bool further = (x & bits) != 0 && (x & SIGN) == away;
    // Incrementing the last integer bit may carry into the exponent, which is correct.
    ulong next = exponent_field(x) < BIAS ? away | (ulong)BIAS << 52 : whole + bits + 1;
    return quiet(further ? next : whole);
}

ulong double_floor(ulong x) { return outwards(x, SIGN); }

ulong double_ceil(ulong x) { return outwards(x, 0); }

ulong double_rint(ulong x)
{
    ulong bits = fraction_bits(x), one = bits + 1;
    ulong near = (x + (bits >> 1) + (x & one ? 1 : 0)) & ~bits;
    ulong below_one = (x & SIGN) | (magnitude(x) > (ulong)(BIAS - 1) << 52 ? (ulong)BIAS << 52 : 0);
    ulong result = exponent_field(x) < BIAS ? below_one : near;
    return bits == 0 ? quiet(x) : result;
}

// Rounds toward zero, in two's complement. Undefined if the result does not fit in 64 bits.
ulong double_to_integer(ulong x)
{
    int field = exponent_field(x), up = field - (BIAS + 52);
    ulong bits = significand(x, field);
    ulong whole = up >= 0 ? bits << (up & 63) : bits >> (-up & 63);
    whole = field < BIAS ? 0 : whole;
    ulong sign = (ulong)((long)x >> 63);
    return (whole ^ sign) - sign;
}

ulong double_of_ulong(ulong x)
{
    int up = (int)clz(x);
    ulong bits = x << (up & 63), result = rounded(bits >> 1 | (bits & 1), BIAS + 62 - up);
    return x == 0 ? 0 : result;
}

ulong double_of_long(ulong x)
{
    ulong sign = (ulong)((long)x >> 63);
    return double_of_ulong((x ^ sign) - sign) | (sign & SIGN);
}

ulong double_of_uint(uint x)
{
    uint up = clz(x);
    ulong bits = (ulong)(x << (up & 31)) << 21;
    return x == 0 ? 0 : ((ulong)(BIAS + 30 - up) << 52) + bits;
}

ulong double_of_int(uint x)
{
    uint sign = (uint)((int)x >> 31);
    return double_of_uint((x ^ sign) - sign) | (ulong)(sign & 0x80000000u) << 32;
}

ulong double_of_float(uint x)
{
    uint of_x = x & 0x7fffffffu, field = of_x >> 23, fraction = of_x & 0x7fffffu;
    // Normalises a denormal. The leading bit adds one to the exponent.
    uint up = clz(fraction) - 8;
    ulong denormal = ((ulong)(BIAS - 127 - up) << 52) + ((ulong)(fraction << (up & 31)) << 29);
    ulong result = ((ulong)of_x << 29) + ((ulong)(field == 255 ? 2 * (BIAS - 127) : BIAS - 127) << 52);
    result = of_x > 0x7f800000u ? result | QUIET : result;
    result = field == 0 ? (fraction == 0 ? 0 : denormal) : result;
    return result | (ulong)(x & 0x80000000u) << 32;
}

// Converts to a narrower float type with this number of fraction bits and this bias. 31 bits suffice for its
// significand, with a sticky lowest bit.
static uint narrowed(ulong x, uint fraction, int bias)
{
    int field = exponent_field(x), exponent = field - (BIAS - bias) - 1, down = clamp(-exponent, 0, 31);
    ulong exact = significand(x, field);
    uint bits = (uint)(exact >> 22) | (((uint)exact & 0x3fffff) != 0 ? 1 : 0), shifted = bits >> down, drop = 30 - fraction;
    shifted |= shifted << down != bits ? 1 : 0;
    uint most = (uint)(2 * bias + 1) << fraction;
    uint result = ((uint)max(exponent, 0) << fraction) + ((shifted + ((1u << drop >> 1) - 1) + (shifted >> drop & 1)) >> drop);
    // Overflow would carry into the sign.
    result = exponent > 2 * bias || result > most ? most : result;
    uint payload = (uint)(x >> (52 - fraction)) & ((1u << fraction) - 1);
    return is_nan(x) ? most | 1u << (fraction - 1) | payload : result;
}

uint double_to_float(ulong x)
{
    return narrowed(x, 23, 127) | ((uint)(x >> 32) & 0x80000000u);
}

ushort double_to_half(ulong x)
{
    return (ushort)(narrowed(x, 10, 15) | ((uint)(x >> 48) & 0x8000u));
}
