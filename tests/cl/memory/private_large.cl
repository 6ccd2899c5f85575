// Private arrays of thousands of elements with dynamic indices, large constant tables, initialised arrays.

kernel void fill(global int *out, int n)
{
    int t[4096];
    uint i = get_global_id(0);
    for (uint j = 0; j < n; j++) t[(j * 7 + i) & 4095] = j;
    int s = 0;
    for (uint j = 0; j < n; j++) s += t[(j * 7 + i) & 4095] * (int)(j & 3);
    out[i] = s;
}
// run: fill global=64 local=64
// arg out: int[64]
// arg n: int = 200
// expect out: sum(j, 0, 200, j * (j % 4))

kernel void bytes(global uchar *out, uint n)
{
    uchar t[65536];
    uint i = get_global_id(0);
    for (uint j = 0; j < n; j++) t[(j * 331 + i * 5) & 65535] = j + i;
    uint s = 0;
    for (uint j = 0; j < n; j++) s += t[(j * 331 + i * 5) & 65535];
    out[i] = s;
}
// run: bytes global=32 local=16
// arg out: uchar[32]
// arg n: uint = 100
// expect out: sum(j, 0, 100, j + i)

kernel void several(global float *out, uint n)
{
    float a[256];
    float4 b[128];
    short c[512];
    struct { int x; char y; } d[75];
    uint i = get_global_id(0);
    for (uint j = 0; j < n; j++) {
        a[(j + i) & 255] = j;
        b[(j * 3 + i) & 127] = (float4)(j, 1, i, 2);
        c[(j * 5 + i) & 511] = (short)-j;
        d[(j * 7 + i) % 75].x = i + j;
        d[(j * 7 + i) % 75].y = 3;
    }
    float s = 0;
    for (uint j = 0; j < n; j++) {
        float4 v = b[(j * 3 + i) & 127];
        s += a[(j + i) & 255] + v.x + v.y + v.z + v.w + c[(j * 5 + i) & 511] + d[(j * 7 + i) % 75].x * d[(j * 7 + i) % 75].y;
    }
    out[i] = s;
}
// run: several global=32 local=32
// arg out: float[32]
// arg n: uint = 40
// expect out: sum(j, 0, 40, j + j + 3 + i - j + 3 * (i + j))

#define V1(n) ((n) * (n) + 3) & 1023
#define V8(n) V1(n), V1(n + 1), V1(n + 2), V1(n + 3), V1(n + 4), V1(n + 5), V1(n + 6), V1(n + 7)
#define V64(n) V8(n), V8(n + 8), V8(n + 16), V8(n + 24), V8(n + 32), V8(n + 40), V8(n + 48), V8(n + 56)
#define V512(n) V64(n), V64(n + 64), V64(n + 128), V64(n + 192), V64(n + 256), V64(n + 320), V64(n + 384), V64(n + 448)

constant int table[4096] = { V512(0), V512(512), V512(1024), V512(1536), V512(2048), V512(2560), V512(3072), V512(3584) };

kernel void from_table(global int *out)
{
    uint i = get_global_id(0);
    out[i] = table[i * 61 & 4095];
}
// run: from_table global=64
// arg out: int[64]
// expect out: (((i * 61) % 4096) * ((i * 61) % 4096) + 3) % 1024

kernel void initialised(global int *out)
{
    int t[512] = { V512(0) };
    uint i = get_global_id(0);
    t[i * 3 & 511] = -1;
    int s = 0;
    for (uint j = 0; j < 64; j++) s += t[j];
    out[i] = s;
}
// run: initialised global=32 local=32
// arg out: int[32]
// expect out: sum(j, 0, 64, (j * j + 3) % 1024) - (i * 3 < 64 ? (i * i * 9 + 3) % 1024 + 1 : 0)

// Constants are copied, other values stored: conversions, negative numbers, computed values, overriding designators.
#ifdef cl_khr_fp64
typedef double Wide;
#else
typedef float Wide;
#endif
kernel void mixed(global int *out, global float *fout, int x)
{
    float f[512] = { V512(0) };
    short s[450] = { [3] = x, V64(4), V64(68), V64(132), [300] = -5, x + 1, [3] = 77, [350] = x, 12 };
    struct { char a; int b; } r[200] = { { 1, 2 }, { x, 3 }, { 'a', -1 }, [100 ... 199] = { 7, 8 } };
    Wide d[130] = { [0 ... 128] = -1.5 };
    uint i = get_global_id(0);
    s[i] += i == 3;
    fout[i] = f[i * 31 & 511] + (float)d[i] + (float)d[129];
    switch (i & 3) {
    case 0: out[i] = s[3 + (i >> 5)] + r[1 + (i >> 5)].a; break;
    case 1: out[i] = s[300 + (i >> 4)] * 10 + r[150 + i].b; break;
    case 2: out[i] = s[349 + (i >> 2)] + r[i >> 1].b; break;
    default: out[i] = s[4 + i] + r[2].a; break;
    }
}
// run: mixed global=32 local=32
// arg out: int[32]
// arg fout: float[32]
// arg x: int = 20
// expect fout: ((i * 31) % 512 * ((i * 31) % 512) + 3) % 1024 - 1.5
// expect out if i % 4 == 0: 77 + 20
// expect out if i % 4 == 1: (i < 16 ? -5 : 21) * 10 + 8
// expect out if i % 4 == 2: (i < 4 ? 0 : i < 8 ? 20 : i < 12 ? 12 : 0) + (i / 2 == 1 ? 3 : i / 2 == 2 ? -1 : 0)
// expect out if i % 4 == 3: ((4 + i) * (4 + i) + 3 & 1023) + 97
