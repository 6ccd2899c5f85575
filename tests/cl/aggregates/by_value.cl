// Structures and unions by value: kernel arguments, helpers' parameters and results, copies, chains of assignments.
typedef struct { char c; int i; float f[3]; } plain;
typedef struct { float3 v; uchar tail; } padded;
typedef struct __attribute__((packed)) { char c; int i; short s; } tight;
typedef struct { tight t[2]; plain p; } nested;
typedef union { int i; float f; uchar b[4]; } variant;

plain make(int x)
{
    plain p = {(char)x, x * 2, {x, x + 1, x + 2}};
    return p;
}
plain twice(plain p)
{
    p.i *= 2;
    p.f[1] += 100;
    return p;
}
int weigh(nested n) { return n.t[0].i + n.t[1].i * 10 + n.p.i * 100; }
tight tighten(variant v)
{
    tight t;
    t.c = v.b[3];
    t.i = v.i;
    t.s = -1;
    return t;
}

kernel void arguments(global int *out, plain p, padded q, tight t, nested n, variant v, float3 w)
{
    plain a, b, c;
    a = b = c = p;
    b.i = 1;
    c = twice(make(5));
    nested m = n;
    m.p = a;
    m.t[1] = t;
    padded r = q;
    out[0] = a.c + a.i + (int)a.f[2];
    out[1] = b.i;
    out[2] = c.i;
    out[3] = (int)c.f[1];
    out[4] = weigh(m);
    out[5] = (int)r.v.z + r.tail;
    out[6] = tighten(v).i;
    out[7] = tighten(v).c;
    out[8] = twice(twice(p)).i;
    out[9] = weigh(n);
    out[10] = sizeof(plain) + 100 * sizeof(padded) + 10000 * sizeof(tight);
    out[11] = sizeof(nested) + 100 * sizeof(variant);
    out[12] = t.s + (int)w.y;
    out[13] = p.i;
}
// run: arguments global=1
// arg out: int[14]
// arg p: struct { char = 3; int = 40; float = 1; float = 2; float = 5 }
// arg q: struct { float4 = {1, 2, 9, 0}; uchar = 7 }
// arg t: struct { char = 1; char = 6; char = 0; char = 0; char = 0; char = -1; char = -1 }
// arg n: struct {
//     char = 1; char = 2; char = 0; char = 0; char = 0; char = 0; char = 0;
//     char = 1; char = 3; char = 0; char = 0; char = 0; char = 0; char = 0; char = 0; char = 0;
//     char = 4; int = 5; float = 0; float = 0; float = 0 }
// arg v: struct { int = 0x3f800000 }
// arg w: float4 = {1, 20, 3, 0}
// expect out: {48, 1, 20, 106, 4062, 16, 0x3f800000, 0x3f, 160, 532, 73220, 436, 19, 40}
