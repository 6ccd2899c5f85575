// Packets of structures, of three lanes, and of odd numbers of bytes.
// build: -cl-std=CL3.0
// requires: __opencl_c_pipes

typedef struct {
    char a;
    int b;
    short c[3];
    float4 d;
} Record;

typedef struct {
    uchar bytes[7];
} Odd;

kernel void put(write_only pipe Record records, write_only pipe Odd odds, write_only pipe int3 threes, global int *failures)
{
    int i = get_global_id(0);
    Record record = {i, -i, {i + 1, i + 2, i + 3}, (float4)(i, i * 0.5f, i * 0.25f, 1)};
    Odd odd = {{i, 1, 2, 3, 4, 5, i}};
    int3 three = (int3)(i, i * 2, i * 3);
    int failed = write_pipe(records, &record) + write_pipe(odds, &odd) + write_pipe(threes, &three);
    if (failed != 0) atomic_inc(failures);
}

kernel void take(read_only pipe Record records, pipe Odd odds, read_only pipe int3 threes, global int *good)
{
    Record record;
    Odd odd;
    int3 three;
    if (read_pipe(records, &record) != 0 || read_pipe(odds, &odd) != 0 || read_pipe(threes, &three) != 0) return;
    int i = record.a;
    bool same = record.b == -i && record.c[0] == i + 1 && record.c[1] == i + 2 && record.c[2] == i + 3;
    same = same && all(record.d == (float4)(i, i * 0.5f, i * 0.25f, 1));
    if (same) atomic_add(&good[i], 1);
    i = odd.bytes[0];
    same = odd.bytes[6] == i;
    for (int at = 1; at < 6; at++) same = same && odd.bytes[at] == at;
    if (same) atomic_add(&good[i], 10);
    i = three.x;
    if (three.y == i * 2 && three.z == i * 3) atomic_add(&good[i], 100);
}
// run: put global=64 local=64
// arg records: pipe 32[64]
// arg odds: pipe 7[64]
// arg threes: pipe int3[64]
// arg failures: int[1]
// run: take global=64 local=8
// arg records: same records
// arg odds: same odds
// arg threes: same threes
// arg good: int[64]
// expect good: 111
