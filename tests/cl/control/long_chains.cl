// Chains of hundreds: else if, ?:, && and ||, with jumps out of them.

#define E1(n) else if (x == (n)) r = (n) * 3 + 1;
#define E10(n) E1(n) E1(n + 1) E1(n + 2) E1(n + 3) E1(n + 4) E1(n + 5) E1(n + 6) E1(n + 7) E1(n + 8) E1(n + 9)
#define E100(n) E10(n) E10(n + 10) E10(n + 20) E10(n + 30) E10(n + 40) E10(n + 50) E10(n + 60) E10(n + 70) E10(n + 80) E10(n + 90)

kernel void else_if(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i], r = -1;
    if (x < 0) r = -2;
    E100(0) E100(100) E100(200) E100(300)
    else r = -3;
    out[i] = r;
}
// run: else_if global=64
// arg a: int[64] = i * 7 - 10
// arg out: int[64]
// expect out: a < 0 ? -2 : a < 400 ? a * 3 + 1 : -3

#undef E1
#define E1(n) else if (x == (n)) { if ((n) % 3 == 0) break; if ((n) % 3 == 1) continue; if ((n) % 7 == 0) return; out[i] += n; }

kernel void jumps(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    for (int k = 0; k < 3; k++) {
        int x = a[i] + k;
        if (x < 0) out[i] += 1000;
        E100(0) E100(100)
        else out[i] += 10000;
        out[i] += 100000;
    }
}
// The first multiple of 3 among 3 consecutive numbers ends the loop; a number one above a multiple continues at once.
// run: jumps global=64
// arg a: int[64] = i * 4 + 2
// arg out: int[64]
// expect out: a >= 200 ? 3 * 110000 : a % 3 == 0 ? 0 : a % 3 == 1 ? ((a + 1) % 7 == 0 ? 0 : a + 1 >= 200 ? 2 * 110000 : a + 1 + 100000 + (a + 2 >= 200 ? 110000 : 0)) : a % 7 == 0 ? 0 : a + 100000 + (a + 1 >= 200 ? 2 * 110000 : 0)

#undef E1
#define E1(n) x == (n) ? t[n] :
kernel void conditional(global const int *t, global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i];
    out[i] = E100(0) E100(100) -5;
}
// run: conditional global=64
// arg t: int[200] = i * i + 1
// arg a: int[64] = i * 4
// arg out: int[64]
// expect out: a < 200 ? a * a + 1 : -5

#undef E1
#define E1(n) && t[n] >= 0
kernel void both(global const int *t, global int *out)
{
    out[0] = 1 E100(0) E100(100);
    if (1 E100(0) E100(100) && t[200] == 7) out[1] = 1;
}
// run: both global=1
// arg t: int[201] = i == 200 ? 7 : i
// arg out: int[2]
// expect out: 1

#undef E1
#define E1(n) || t[n] < 0
kernel void either(global const int *t, global int *out)
{
    out[0] = 0 E100(0) E100(100);
    if (0 E100(0) E100(100) || t[200] == 7) out[1] = 1;
}
// run: either global=1
// arg t: int[201] = i == 200 ? 7 : i
// arg out: int[2]
// expect out: {0, 1}
