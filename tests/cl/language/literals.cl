// Literals: bases, suffixes, escapes, and types.
#define IS(type, value) _Static_assert(sizeof(value) == sizeof(type) && __builtin_constant_p(value), #value)
IS(int, 2147483647);
IS(long, 2147483648);
IS(uint, 0x80000000);
IS(uint, 1u);
IS(long, 1l);
IS(ulong, 1UL);
IS(ulong, 1Lu);
IS(int, 'a');
IS(float, 1.0f);
_Static_assert(0x1F == 31 && 017 == 15 && 0b101 == 5 && 0B11 == 3 && 1e2f == 100 && .5f == 0.5f && 1.f == 1 && 0x1.8p1f == 3 && 0x.8p0f == 0.5f, "values");
_Static_assert(-1 < 0u == 0 && -1 < 0 && (char)200 < 0 && (uchar)-1 == 255 && -7 / 2 == -3 && -7 % 2 == -1, "arithmetic");
_Static_assert('\n' == 10 && '\t' == 9 && '\0' == 0 && '\'' == 39 && '"' == 34 && '\\' == 92 && '\x41' == 65 && '\101' == 65 && '\377' == -1, "characters");
_Static_assert(sizeof("") == 1 && sizeof("ab" "c") == 4 && sizeof("\0\x1\12") == 4, "strings");

kernel void literals(global float *out)
{
    out[0] = 1.0F + 2.f + .5f + 0x1p-3f + 0x1p-2f;
    out[1] = 16777217.0f;
    out[2] = 0x1.fffffep127f;
    out[3] = 1e-45f * 0 + 017 + 0x11 + 0b11;
    out[4] = 3 / 2 + 3 / 2.0f;
    out[5] = 1.17549435e-38f;
}
// run: literals global=1
// arg out: float[6]
// expect out: {3.875, 16777216, FLT_MAX, 35, 2.5, 1.17549435e-38}
