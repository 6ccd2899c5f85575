// Unions: the same bytes accessed through several types.

typedef union {
    uint word;
    float number;
    uchar bytes[4];
    ushort halves[2];
} view;

kernel void views(global const uint *a, global uint *out)
{
    size_t i = get_global_id(0);
    view v;
    v.word = a[i];
    uint sum = 0;
    for (int k = 0; k < 4; k++)
        sum += v.bytes[k];
    v.halves[1] = v.halves[0];
    out[3 * i] = sum;
    out[3 * i + 1] = v.word;
    v.number = 1.0f;
    out[3 * i + 2] = v.word;
}
// run: views global=8
// arg a: uint[8] = rand(0, UINT_MAX)
// arg out: uint[24]
// expect out if i % 3 == 0: a[i / 3] % 256 + (a[i / 3] >> 8) % 256 + (a[i / 3] >> 16) % 256 + (a[i / 3] >> 24)
// expect out if i % 3 == 1: a[i / 3] % 65536 * 65537
// expect out if i % 3 == 2: 0x3f800000

typedef struct { int kind; union { int i; float f; } value; } variant;

kernel void in_memory(global variant *v, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = v[i].kind ? v[i].value.f : v[i].value.i;
}
// run: in_memory global=4
// arg v: int[8] = {0, 5, 1, bits(2.5), 0, -3, 1, bits(-0.25)}
// arg out: float[4]
// expect out: {5, 2.5, -3, -0.25}
