// Names may contain letters outside of ASCII (C99 6.4.2.1).
#define größe(x) ((x) * 2)

kernel void f(global int *out)
{
    int é1 = 3, 変数 = 4;
    out[0] = größe(é1) + 変数;
}
// run: f global=1
// arg out: int[1]
// expect out: 10
