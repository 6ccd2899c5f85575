// Variadic macros, `#`, `##`, `_Pragma`, `__COUNTER__`, `__has_...`, `#line`.
#define SECOND(a, b, ...) b
#define COUNT(...) COUNT_(__VA_ARGS__, 3, 2, 1, 0)
#define COUNT_(a, b, c, n, ...) n
#define CALL(f, ...) f(__VA_ARGS__)
#define LOG(format, ...) sum2(format, ##__VA_ARGS__, 5)
#define NAMED(args...) CALL(args)
#define TEXT(x) #x
#define EXPANDED(x) TEXT(x)
#define GLUE(a, b) a##b
#define GLUE2(a, b) GLUE(a, b)
#define VALUE 42
#define EMPTY
#define UNROLLED _Pragma("unroll 2") for

#ifndef __has_include
#error "__has_include is an operator"
#endif
#if __has_include("no such file.h") || __has_include(<nothing>)
#error "no such file"
#endif
#if !__has_attribute(packed) || __has_attribute(no_such_attribute)
#error "attributes"
#endif
#if !__has_builtin(__builtin_expect) || __has_builtin(__builtin_no_such_thing)
#error "built-ins"
#endif
#if __has_feature(modules) || defined(NOTHING) || defined NOTHING
#error "features"
#endif
#if VALUE != 42 || -1 > 0u == 0 || (2 || 1 / 0) != 1 || 'a' != 97 || ~0 != -1 || 1 << 3 != 8
#error "conditions"
#endif

int sum2(int a, int b) { return a + b; }

constant char spelled[] = TEXT(a  "b\n" '\'' c);
constant char expanded[] = EXPANDED(VALUE GLUE(x, 1));
constant int GLUE2(name, VALUE) = 7;
constant int counters[] = {__COUNTER__, __COUNTER__, __COUNTER__};

kernel void macros(global int *out)
{
    int x1 = 3;
    out[0] = SECOND(1, 2, 3);
    out[1] = COUNT(a) + 10 * COUNT(a, b) + 100 * COUNT(a, b, c);
    out[2] = CALL(sum2, 1, 2);
    out[3] = LOG(1);
    out[4] = NAMED(sum2, 3, 4);
    out[5] = sizeof(spelled);
    out[6] = spelled[2] == '"' && spelled[4] == '\\' && spelled[8] == '\'';
    out[7] = expanded[0] == '4' && expanded[3] == 'x' && sizeof(expanded) == 6;
    out[8] = name42 + GLUE(x, 1);
    out[9] = counters[1] - counters[0] + counters[2] - counters[1];
    out[10] = GLUE(0x, ff) + GLUE(1, 0) + GLUE(1., 5f) * 2 + GLUE(, 4) EMPTY;
    int total = 0;
    UNROLLED (int i = 0; i < 4; ++i)
        total += i;
    out[11] = total;
#line 100
    out[12] = __LINE__;
    out[13] = 1 /* a
    comment */ + 1 // another \
    that goes on + 100
    ;
    out[14] = sizeof("a" "\x41" "\101\n\"") + '\x7f' + '\0' + '\\';
}
// run: macros global=1
// arg out: int[15]
// expect out: {2, 321, 3, 6, 7, 15, 1, 1, 10, 2, 255 + 10 + 3 + 4, 6, 100, 2, 6 + 127 + 92}
