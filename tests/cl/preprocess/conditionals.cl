// #if arithmetic, defined, #elif, #else, nesting, skipped garbage, #ifdef, #ifndef; macros from the command line.
// build: -DVALUE=5 -D FLAG

kernel void conditions(global int *out)
{
    int n = 0;
#if VALUE == 5 && defined(FLAG) && !defined GONE
    out[n++] = 1;
#else
#error "the options were not taken"
#endif
#if (1 + 2 * 3 == 7) && (10 / 3 == 3) && (-7 % 3 == -1) && (1 << 4 == 16) && ((5 & 6 | 8 ^ 1) == 13) && (~0 == -1) && (2 > 1 ? 1 : 0)
    out[n++] = 2;
#endif
#if UNKNOWN
    out[n++] = -1;
#elif UNKNOWN + 1
    out[n++] = 3;
#elif 1
    out[n++] = -2;
#else
    out[n++] = -3;
#endif
#if 0
    this is not C at all ' " #
#if 1
    neither is this
#else
#endif
#elif defined(FLAG)
    out[n++] = 4;
#endif
#ifdef VALUE
#ifndef NOTHING
    out[n++] = VALUE;
#endif
#endif
#if 0x10 == 16 && 010 == 8 && 'A' == 65 && 10UL == 10 && 0xffffffffffffffffu > 0
    out[n++] = 6;
#endif
#if 0 && (1 / 0)
#endif
#if -1 > 0u
    out[n++] = 7;
#endif
    out[n++] = FLAG * 8;
    out[n++] = 9;
}
// run: conditions global=1
// arg out: int[9]
// expect out: {1, 2, 3, 4, 5, 6, 7, 8, 9}
