// Every conversion, flag and length of printf, and the values that records carry.

kernel void integers(int a, uint b)
{
    printf("%d|%5d|%-5d|%05d|%+d|% d|%.3d\n", a, a, a, a, a, a, a);
    printf("%u %x %X %#x %o %#o\n", b, b, b, b, b, b);
    printf("%hhd %hhu %hd %hu\n", (char)a, (uchar)a, (short)a, (ushort)a);
    printf("%ld %lu %lx\n", (long)a << 32, (ulong)b << 32, (ulong)b << 20);
    printf("100%% %c%c\n", 'o', 'k');
}
// run: integers global=1
// arg a: int = -42
// arg b: uint = 48879
// prints: -42|  -42|-42  |-0042|-42|-42|-042
// prints: 48879 beef BEEF 0xbeef 137357 0137357
// prints: -42 214 -42 65494
// prints: -180388626432 209933706461184 beef00000
// prints: 100% ok

kernel void floats(float x)
{
    printf("%f %.1f %8.2f| %e %g %a\n", x, x, x, x, x, x);
    printf("%F %E %G %A\n", x * 1e10f, x * 1e10f, x * 1e10f, x);
    printf("%f %f %f\n", INFINITY, -INFINITY, x / x);
    int done = printf("");
    printf("%d\n", done);
}
// run: floats global=1
// arg x: float = 1.625
// prints: 1.625000 1.6     1.62| 1.625000e+00 1.625 0x1.ap+0
// prints: 16250000384.000000 1.625000E+10 1.625E+10 0X1.AP+0
// prints: inf -inf 1.000000
// prints: 0

kernel void vectors(float x, short s)
{
    printf("%2.2v4hlf;%v2hlg\n", (float4)(x, x + 1, x + 2, x + 3), (float2)(x, -x));
    printf("%#v4hhx %v3hd %v8hld\n", (uchar4)(0xfa, 0xfb, 0xfc, 0xfd), (short3)(s, s + 1, s + 2), (int8)(s));
    printf("%v16hhu\n", (uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255));
}
// run: vectors global=1
// arg x: float = 1.5
// arg s: short = -1
// prints: 1.50,2.50,3.50,4.50;1.5,-1.5
// prints: 0xfa,0xfb,0xfc,0xfd -1,0,1 -1,-1,-1,-1,-1,-1,-1,-1
// prints: 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255

constant char greeting[] = "hello";

void helper(int i, local int *where)
{
    if (i >= 0)
        printf("helper %d %d\n", i, *where);
}

kernel void strings(int which)
{
    local int place;
    place = 7;
    constant char *name = which > 1 ? "many" : which ? "one" : "none";
    printf("%s %5s|%-5s|%.2s %s\n", "text", "ab", "ab", "abcdef", name);
    printf("%s\n", greeting);
    helper(which, &place);
    helper(-1, &place);
}
// run: strings global=1
// arg which: int = 2
// prints: text    ab|ab   |ab many
// prints: hello
// prints: helper 2 7
