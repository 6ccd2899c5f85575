// Arithmetic of doubles (IEEE 754 binary64) with integers, for devices without doubles. Each number is represented by
// its bits. Results are rounded once, to nearest even. Denormals are kept. A NaN is returned quieted.
//
// These functions have no branches or loops, since work-items of a vector would execute both sides. A significand is
// rounded in 64 bits with its leading bit at bit 62, so 10 bits are below the last kept one. Bits lost below these set
// the lowest bit ("sticky"), so that rounding knows on which side of the midpoint the number is.

#define SIGN 0x8000000000000000UL
#define INFINITE 0x7ff0000000000000UL
#define QUIET 0x0008000000000000UL
#define LEADING 0x0010000000000000UL
#define NOT_A_NUMBER (INFINITE | QUIET)
#define BIAS 1023

static ulong magnitude(ulong x) { return x & ~SIGN; }

static int exponent_field(ulong x) { return (int)(uint)(x >> 52) & 0x7ff; }

// The significand of a number with this exponent field. Denormals have no leading bit, and the exponent 1.
static ulong significand(ulong x, int field) { return (x & (LEADING - 1)) | (field != 0 ? LEADING : 0); }

static ulong shifted_right(ulong x, int by)
{
    ulong shifted = x >> by;
    return shifted | (shifted << by != x ? 1 : 0);
}

// Rounds a significand with its leading bit at 62, or below for the smallest exponent. `exponent` is the field minus
// one; the leading bit adds the one. Overflow gives infinity.
static ulong rounded(ulong bits, int exponent)
{
    ulong all = ((ulong)(uint)exponent << 52) + ((bits + 0x1ff + (bits >> 10 & 1)) >> 10);
    return all > INFINITE ? INFINITE : all;
}

// Like `rounded`, for exponents that may be too small.
static ulong packed(ulong bits, int exponent)
{
    return rounded(shifted_right(bits, clamp(-exponent, 0, 63)), max(exponent, 0));
}

ulong double_add(ulong a, ulong b)
{
    bool swap = magnitude(b) > magnitude(a);
    ulong x = swap ? b : a, y = swap ? a : b;
    int x_field = exponent_field(x), y_field = exponent_field(y), exponent = max(x_field, 1);
    bool opposite = (long)(x ^ y) < 0;
    ulong smaller = shifted_right(significand(y, y_field) << 9, min(exponent - max(y_field, 1), 63));
    ulong larger = significand(x, x_field) << 9;
    ulong sum = opposite ? larger - smaller : larger + smaller;
    // After a large cancellation no bits were lost. A denormal keeps the exponent of the smallest normal number.
    int up = min((int)clz(sum) - 1, exponent);
    ulong result = sum == 0 ? x & y & SIGN : rounded(sum << up, exponent - up) | (x & SIGN);
    bool invalid = magnitude(x) > INFINITE || (magnitude(y) == INFINITE && opposite);
    result = x_field == 0x7ff ? x : result;
    return invalid ? x | QUIET : result;
}

ulong double_subtract(ulong a, ulong b)
{
    return double_add(a, b ^ SIGN);
}

ulong double_multiply(ulong a, ulong b)
{
    // The larger operand is a NaN or infinite if one is. If it is a denormal, the product is negligible, so no scaling
    // is needed.
    bool swap = magnitude(b) > magnitude(a);
    ulong x = swap ? b : a, y = swap ? a : b;
    int x_field = exponent_field(x), y_field = exponent_field(y);
    ulong p = significand(x, x_field) << 10, q = significand(y, y_field);
    int up = (int)clz(q);
    q <<= up;
    ulong pl = (uint)p, ph = p >> 32, ql = (uint)q, qh = q >> 32;
    ulong low = pl * ql, cross = pl * qh + (low >> 32), other = ph * ql + (uint)cross;
    ulong product = ph * qh + (cross >> 32) + (other >> 32);
    product |= ((uint)other | (uint)low) != 0 ? 1 : 0;
    bool small = product >> 62 == 0;
    int exponent = max(x_field, 1) + max(y_field, 1) - up - (BIAS - 11);
    ulong sign = (x ^ y) & SIGN;
    ulong result = packed(small ? product << 1 : product, small ? exponent - 1 : exponent) | sign;
    bool none = magnitude(y) == 0;
    result = none ? sign : result;
    result = x_field == 0x7ff ? sign | INFINITE : result;
    result = x_field == 0x7ff && none ? NOT_A_NUMBER : result;
    return magnitude(x) > INFINITE ? x | QUIET : result;
}

// The quotient of the significands n / d as 56 bits, and the remainder, which is less than 3 d. n / d is in [1/2, 1),
// and d in [2^60, 2^61).
static ulong digits(ulong n, ulong d, ulong *left)
{
    // 2^92 / d, too small by less than one part in 2^29: from a float that is never too large, even if division has an
    // error of several units, and one step of Newton's method.
    uint reciprocal = (uint)(0x1.ffffc0p54f / (float)(uint)(d >> 37));
    ulong error = (1UL << 62) - (ulong)reciprocal * ((uint)(d >> 30) + 1);
    reciprocal += mul_hi(reciprocal, (uint)(error >> 30));
    uint high = mul_hi((uint)(n >> 32), reciprocal);
    ulong rest = (n << 28) - high * d;
    uint low = mul_hi((uint)(rest >> 32), reciprocal);
    *left = (rest << 28) - low * d;
    return ((ulong)high << 28) + low;
}

ulong double_divide(ulong x, ulong y)
{
    int x_field = exponent_field(x), y_field = exponent_field(y);
    ulong n = significand(x, x_field), d = significand(y, y_field);
    int n_up = (int)clz(n), d_up = (int)clz(d);
    n <<= n_up;
    d <<= d_up;
    bool below = n < d;
    n = below ? n >> 3 : n >> 4;
    d >>= 3;
    ulong left;
    ulong quotient = digits(n, d, &left);
    // Three bits are below the last kept one. The exact quotient is less than a multiple of four away from this one.
    // The remainder determines on which side.
    ulong near = (quotient + 3) & ~3UL;
    uint further = (uint)(near - quotient);
    long rest = (long)(left - ((further & 1 ? d : 0) + (further & 2 ? d << 1 : 0)));
    near = rest > 0 ? near + 1 : near;
    near = rest < 0 ? near - 1 : near;
    int exponent = max(x_field, 1) - n_up - max(y_field, 1) + d_up + (below ? BIAS - 2 : BIAS - 1);
    ulong sign = (x ^ y) & SIGN, of_x = magnitude(x), of_y = magnitude(y);
    ulong result = packed(near << 7, exponent) | sign;
    result = of_x == 0 || of_y == INFINITE ? sign : result;
    result = of_y == 0 || of_x == INFINITE ? sign | INFINITE : result;
    result = (of_x == 0 && of_y == 0) || (of_x == INFINITE && of_y == INFINITE) ? NOT_A_NUMBER : result;
    result = of_y > INFINITE ? y | QUIET : result;
    return of_x > INFINITE ? x | QUIET : result;
}

ulong double_sqrt(ulong x)
{
    int field = exponent_field(x);
    ulong n = significand(x, field);
    int up = (int)clz(n), exponent = max(field, 1) - up - (BIAS - 11);
    // In [2^62, 2^64), for an even exponent.
    n = exponent & 1 ? n << up : n << up >> 1;
    uint high = (uint)(n >> 32);
    // 2^47 / sqrt(high), too small by about one part in 2^29, as in division.
    uint reciprocal = (uint)(0x1.ffffc0p42f * rsqrt((float)(high >> 8)));
    ulong error = 0x3ffffffe00000000UL - (ulong)mul_hi(reciprocal, reciprocal) * high;
    reciprocal += mul_hi(reciprocal, (uint)(error >> 31));
    uint first = (uint)((ulong)high * reciprocal >> 31);
    ulong rest = n - (ulong)first * first;
    ulong root = ((ulong)first << 24) + ((ulong)(uint)(rest >> 5) * reciprocal >> 35);
    // 56 bits with an error of at most one and a half, as in division.
    ulong near = (root + 2) & ~3UL;
    long left = (long)((n << 48) - near * near);
    near = left > 0 ? near + 1 : near;
    near = left < 0 ? near - 1 : near;
    ulong result = rounded(near << 7, (exponent >> 1) + (BIAS - 1));
    result = magnitude(x) == 0 || x == INFINITE ? x : result;
    result = (long)x < 0 && magnitude(x) != 0 ? NOT_A_NUMBER : result;
    return magnitude(x) > INFINITE ? x | QUIET : result;
}

ulong double_fma(ulong a, ulong b, ulong c)
{
    int a_field = exponent_field(a), b_field = exponent_field(b), c_field = exponent_field(c);
    ulong p = significand(a, a_field) << 10, q = significand(b, b_field) << 10;
    // The product's leading bit is at 124 or 125 of 128, and the addend's at 124, except for denormals. For these,
    // either enough bits are free, or the product is negligible.
    ulong pl = (uint)p, ph = p >> 32, ql = (uint)q, qh = q >> 32;
    ulong lowest = pl * ql, cross = pl * qh + (lowest >> 32), other = ph * ql + (uint)cross;
    ulong product_high = ph * qh + (cross >> 32) + (other >> 32), product_low = other << 32 | (uint)lowest;
    ulong addend = significand(c, c_field) << 8;
    bool none = magnitude(a) == 0 || magnitude(b) == 0;
    int of_product = none ? 1 : max(a_field, 1) + max(b_field, 1) - BIAS, of_addend = max(c_field, 1);
    bool above = of_product > of_addend;
    int exponent = above ? of_product : of_addend, down = min(above ? of_product - of_addend : of_addend - of_product, 127);
    ulong x_high = above ? product_high : addend, x_low = above ? product_low : 0;
    ulong y_high = above ? addend : product_high, y_low = above ? 0 : product_low;
    // The operand with the smaller exponent, shifted. Lost bits are sticky.
    bool over_63 = down >= 64;
    ulong lost = over_63 ? y_low : 0;
    y_low = over_63 ? y_high : y_low;
    y_high = over_63 ? 0 : y_high;
    down &= 63;
    ulong kept = y_low >> down;
    lost |= y_low ^ kept << down;
    y_low = kept | y_high << 1 << (down ^ 63) | (lost != 0 ? 1 : 0);
    y_high >>= down;
    ulong product_sign = (a ^ b) & SIGN, c_sign = c & SIGN;
    ulong opposite = product_sign != c_sign ? ~0UL : 0;
    y_low ^= opposite;
    y_high ^= opposite;
    ulong part = x_low + y_low, low = part - opposite;
    ulong high = x_high + y_high + (part < x_low ? 1 : 0) + (low < part ? 1 : 0);
    bool negative = (long)high < 0;
    low = negative ? -low : low;
    high = negative ? ~high + (low == 0 ? 1 : 0) : high;
    ulong sign = (above ? product_sign : c_sign) ^ (negative ? SIGN : 0);
    bool nothing = (high | low) == 0;
    int up = min((int)(high != 0 ? clz(high) : 64 + clz(low)) - 1, exponent + 1);
    over_63 = up >= 64;
    high = over_63 ? low : high;
    low = over_63 ? 0 : low;
    int near = up & 63;
    high = high << near | low >> 1 >> (near ^ 63);
    low <<= near;
    ulong result = rounded(high | (low != 0 ? 1 : 0), exponent + 1 - up) | sign;
    result = nothing ? product_sign & c_sign : result;
    ulong of_a = magnitude(a), of_b = magnitude(b), of_c = magnitude(c);
    bool infinite = of_a == INFINITE || of_b == INFINITE;
    result = of_c == INFINITE ? c : result;
    result = infinite ? product_sign | INFINITE : result;
    result = infinite && (none || (of_c == INFINITE && product_sign != c_sign)) ? NOT_A_NUMBER : result;
    result = of_c > INFINITE ? c | QUIET : result;
    result = of_b > INFINITE ? b | QUIET : result;
    return of_a > INFINITE ? a | QUIET : result;
}
