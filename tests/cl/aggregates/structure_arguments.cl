// Structures passed by value at offsets that are multiples of only their own alignment.
// for: BEFORE = char, short, int, long
typedef struct { long x, y; } longs;
typedef struct { int v[4]; } ints;
typedef struct { float a, b, c, d, e; } floats;
typedef struct { int a; long b[2]; char3 c; } mixed;

long first(longs d) { return d.x * 1000 + d.y; }

kernel void direct(global long *out, BEFORE n, longs d, BEFORE m, ints v, floats f, mixed x)
{
    out[0] = n;
    out[1] = d.x;
    out[2] = d.y;
    out[3] = m;
    for (int i = 0; i < 4; i++) out[4 + i] = v.v[i];
    out[8] = (long)f.a;
    out[9] = (long)f.b;
    out[10] = (long)f.c;
    out[11] = (long)f.d;
    out[12] = (long)f.e;
    out[13] = x.a;
    out[14] = x.b[0];
    out[15] = x.b[1];
    out[16] = x.c.x;
    out[17] = x.c.z;
    out[18] = first(d);
}
// run: direct global=1
// arg out: long[19]
// arg n: $BEFORE = 7
// arg d: struct { long = 3; long = 4 }
// arg m: $BEFORE = 9
// arg v: struct { int = 11; int = 12; int = 13; int = 14 }
// arg f: struct { float = 21; float = 22; float = 23; float = 24; float = 25 }
// arg x: struct { int = 31; long = 32; long = 33; char = 34; char = 35; char = 36; char = 0 }
// expect out: { 7, 3, 4, 9, 11, 12, 13, 14, 21, 22, 23, 24, 25, 31, 32, 33, 34, 36, 3004 }
