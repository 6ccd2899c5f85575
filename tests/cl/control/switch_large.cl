// Thousands of labels, selectors of every type, ranges.

#define C1(n) case (n) * 5: r = (n) + 1; break;
#define C10(n) C1(n) C1(n + 1) C1(n + 2) C1(n + 3) C1(n + 4) C1(n + 5) C1(n + 6) C1(n + 7) C1(n + 8) C1(n + 9)
#define C100(n) C10(n) C10(n + 10) C10(n + 20) C10(n + 30) C10(n + 40) C10(n + 50) C10(n + 60) C10(n + 70) C10(n + 80) C10(n + 90)

kernel void ints(global const int *a, global int *out)
{
    int i = get_global_id(0), r = -1;
    switch (a[i]) {
    C100(0) C100(100) C100(200)
    default: r = 0;
    }
    out[i] = r;
}
// run: ints global=64
// arg a: int[64] = i * 25 - 25 + i % 2
// arg out: int[64]
// expect out: a % 5 == 0 && a >= 0 && a < 1500 ? a / 5 + 1 : 0

kernel void longs(global const long *a, global int *out)
{
    int i = get_global_id(0), r = -1;
    switch (a[i] * 0x100000000 + 0x100000000) {
#undef C1
#define C1(n) case (n) * 0x500000000: r = (n) + 1; break;
    C100(0)
    case -5 * 0x100000000 ... -2 * 0x100000000: r = -7; break;
    case 0x100000001 ... 0x200000000: r = -8; break;
    }
    out[i] = r;
}
// run: longs global=64
// arg a: long[64] = i - 9
// arg out: int[64]
// expect out: a + 1 >= -5 && a + 1 <= -2 ? -7 : a + 1 == 2 ? -8 : (a + 1) % 5 == 0 && a + 1 >= 0 ? (a + 1) / 5 + 1 : -1

enum colour { RED = -2, GREEN, BLUE };

kernel void small(global const char *c, global const uchar *u, global int *out)
{
    int i = get_global_id(0), r = 0;
    switch (c[i]) {
    case -128 ... -100: r = 1; break;
    case -99 ... -1: r = 2;
    case 0: r += 3; break;
    case 'a' ... 'z': r = 4; break;
    case 127: r = 5;
    }
    switch ((enum colour)(c[i] % 3 - 0)) {
    case RED: r += 10; break;
    case GREEN: r += 20; break;
    case BLUE: r += 30; break;
    default: r += 40;
    }
    switch (u[i]) {
    case 0 ... 127: r += 100;
    case 200 ... 255: r += 200; break;
    case 255 + 1: r += 1000;
    }
    switch (i > 32) {
    case 1: r += 5000; break;
    case 0: r += 6000;
    }
    out[i] = r;
}
// run: small global=64
// arg c: char[64] = i * 4 - 128
// arg u: uchar[64] = i * 4
// arg out: int[64]
// expect out: (c < -99 ? 1 : c < 0 ? 5 : c == 0 ? 3 : c >= 97 && c <= 122 ? 4 : 0) + (c % 3 == -2 ? 10 : c % 3 == -1 ? 20 : c % 3 == 0 ? 30 : 40) + (u < 128 ? 300 : u >= 200 ? 200 : 0) + (i > 32 ? 5000 : 6000)
