// Each work-item loads a row of memory. The distance between rows is not a power of two. Vectors load pieces of rows
// and transpose them.
// for: T = char, uchar, short, ushort, int, float, long, double
// for: N = 4, 16, 24

#define ROW (N + 5)

kernel void rows(global const T *in, global T *out)
{
    int i = get_global_id(0);
    for (int k = 0; k < N; k++) out[N * i + k] = in[ROW * i + 3 + k];
}
// run: rows global=96 local=32
// arg in: $T[96 * ($N + 5)] = rand(-100, 100)
// arg out: $T[96 * $N]
// expect out: in[($N + 5) * (i / $N) + 3 + i % $N]

// The last row is the first one in memory. Some rows are at the end of the buffer.
kernel void backwards(global const T *in, global T *out)
{
    int i = get_global_id(0);
    global const T *row = in + ROW * (N - 4 + 35 - i);
    for (int k = 0; k < N; k++) out[N * i + k] = row[k];
}
// run: backwards global=36 local=36
// arg in: $T[36 * ($N + 5) + ($N - 4) * ($N + 5)] = rand(-100, 100)
// arg out: $T[36 * $N]
// expect out: in[($N + 5) * ($N - 4 + 35 - i / $N) + i % $N]

// The last iteration has inactive lanes.
kernel void sums(global const T *in, global int *out, int rows)
{
    int sum = 0;
    for (int i = get_global_id(0); i < rows; i += get_global_size(0)) {
        int weighted = 0;
        for (int k = 0; k < N; k++) weighted += (k + 1) * (int)in[ROW * i + k];
        sum += weighted + i;
    }
    out[get_global_id(0)] = sum;
}
// run: sums global=32 local=32
// arg in: $T[75 * ($N + 5)] = i % ($N + 5)
// arg out: int[32]
// arg rows: int = 75
// expect out: (i < 11 ? 3 : 2) * (($N - 1) * $N * ($N + 1) / 3) + (i < 11 ? 3 * i + 96 : 2 * i + 32)

// A store to the row between the loads.
kernel void overwritten(global uchar *bytes, global int *out)
{
    int i = get_global_id(0);
    global uchar *row = bytes + 20 * i;
    int first = row[0] + 256 * row[1];
    row[2] = 77;
    *(global ushort *)(row + 4) = 0x0102;
    out[i] = first + 65536 * (row[2] + row[3] + row[4] + row[5]);
}
// run: overwritten global=64 local=32
// arg bytes: uchar[64 * 20] = i % 20
// arg out: int[64]
// expect bytes if i % 20 == 2: 77
// expect bytes if i % 20 == 4: 2
// expect bytes if i % 20 == 5: 1
// expect out: 256 + 65536 * (77 + 3 + 2 + 1)
