// Diagnostics for formats and arguments that do not match.

kernel void k(int i, float f, float4 v, global int *p, constant char *fmt)
{
    printf("%d %f\n", i, f);
    printf("%s %p\n", "text", p);
    printf("%c %hhd %hd %u\n", 'a', (char)i, (short)i, i);
    printf("%d\n", f); // warning: format specifies type 'int' but the argument has type 'float'
    printf("%f\n", i); // warning: format specifies type 'double' but the argument has type 'int'
    printf("%d\n", v); // warning: format specifies type 'int' but the argument has type 'float4'
    printf("%v4hld\n", v); // warning: format specifies type 'int4' but the argument has type 'float4'
    printf("%v4f\n", v); // warning: vector specifier requires a length modifier
    printf("%v2hlf\n", v); // warning: format specifies type 'float2'
    printf("%s\n", i); // warning: format specifies type 'constant char *'
    printf("%d %d\n", i); // warning: more '%' conversions than data arguments
    printf("%d\n", i, i); // warning: data argument not used by format string
    printf("%y\n", i); // warning: invalid conversion specifier 'y'
    printf("%*d\n", i, i); // warning: '*' is not supported as a field width or precision
    printf("100%"); // warning: incomplete format specifier
    printf("%lf\n", f);
    printf("%ls\n", "a"); // warning: length modifier 'l' results in undefined behavior
}
