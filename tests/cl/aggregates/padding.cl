// The bytes between the members of a structure are padding, and do not change with the members.

typedef struct {
    char a;
    int b;
    short c[3];
    float4 d;
} Record;

typedef struct {
    uchar bytes[32];
} __attribute__((aligned(16))) Bytes;

kernel void put(global Bytes *out)
{
    int i = get_global_id(0);
    Record record;
    record.a = i;
    record.b = -i;
    for (int k = 0; k < 3; k++) record.c[k] = i + 1 + k;
    record.d = (float4)(i, 1, 2, 3);
    out[i] = *(Bytes *)&record;
}

kernel void take(global const Record *in, global int *out)
{
    Record record = in[get_global_id(0)];
    out[get_global_id(0)] = record.a + record.b * 100 + record.c[0] * 10000 + record.c[2];
}
// run: put global=8
// arg out: uchar[256]
// expect out: _
// run: take global=8
// arg in: same out
// arg out: int[8]
// expect out: i - i * 100 + (i + 1) * 10000 + i + 3
