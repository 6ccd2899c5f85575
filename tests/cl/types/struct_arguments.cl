// Structures passed by value to a kernel, with the padding that the host's C compiler gives them.

typedef struct {
    char c;
    int i;
    short s;
    float4 v;
    uchar b[3];
} mixed;

kernel void take(mixed m, global int *out)
{
    out[0] = m.c;
    out[1] = m.i;
    out[2] = m.s;
    out[3] = (int)(m.v.x + m.v.w);
    out[4] = m.b[0] + m.b[1] + m.b[2];
    out[5] = sizeof(mixed);
}
// run: take global=1
// arg m: struct { char = -5; int = 100000; short = -300; float4 = {1, 2, 3, 4}; uchar = 10; uchar = 20; uchar = 200 }
// arg out: int[6]
// expect out: {-5, 100000, -300, 5, 230, 48}

typedef struct { int n; struct { float scale; int table[4]; } inner; } nested;

kernel void index(nested m, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = m.inner.table[i % m.n] * m.inner.scale;
}
// run: index global=8
// arg m: struct { int = 4; float = 1.5; int = 10; int = 20; int = 30; int = 40 }
// arg out: float[8]
// expect out: (i % 4 + 1) * 15
