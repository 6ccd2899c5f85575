// Loops that count from the id of the work-item to a bound. All lanes of a vector iterate together until the last
// iteration, in which some of them may have left the loop.
// for: T = int, uint, long, ulong

kernel void sums(global const int *in, global int *out, T n, T step)
{
    int sum = 0, count = 0;
    T i = get_global_id(0);
    for (; i < n; i += step) {
        sum += in[i];
        count++;
    }
    out[3 * get_global_id(0)] = sum;
    out[3 * get_global_id(0) + 1] = count;
    out[3 * get_global_id(0) + 2] = i;
}
// run: sums global=32 local=32
// arg in: int[1000] = i
// arg out: int[96]
// arg n: $T = 139
// arg step: $T = 32
// expect out if i % 3 == 0: i / 3 < 11 ? 320 + 5 * (i / 3) : 192 + 4 * (i / 3)
// expect out if i % 3 == 1: i / 3 < 11 ? 5 : 4
// expect out if i % 3 == 2: i / 3 < 11 ? i / 3 + 160 : i / 3 + 128
// run: sums global=32 local=8
// arg in: int[1000] = i
// arg out: int[96]
// arg n: $T = 5
// arg step: $T = 32
// expect out if i % 3 == 0: i / 3 < 5 ? i / 3 : 0
// expect out if i % 3 == 1: i / 3 < 5
// expect out if i % 3 == 2: i / 3 < 5 ? i / 3 + 32 : i / 3
// run: sums global=32 local=32
// arg in: int[1000] = i
// arg out: int[96]
// arg n: $T = 0
// arg step: $T = 32
// expect out if i % 3 < 2: 0
// expect out if i % 3 == 2: i / 3

// Loops in the loop, accesses with a stride, and a loop whose lanes leave it in different iterations in its first part.
kernel void nested(global const int *in, global int *out, global int *marks, int n, int m)
{
    int id = get_global_id(0), total = 0;
    for (int i = id; i < n; i += 32) {
        int sum = 0;
        for (int k = 0; k < m; k++) sum += in[4 * i + k];
        for (int k = i; k < 40; k += 16) sum += 1000;
        if (sum & 1) marks[2 * i + 1] = sum;
        total += sum;
    }
    out[id] = total;
    for (int i = id; i < m; i++) out[id] += 1 << 20;
}
// run: nested global=32 local=32
// arg in: int[400] = i & 3
// arg out: int[32]
// arg marks: int[200] = -1
// arg n: int = 75
// arg m: int = 3
// expect out: (i < 11 ? 9 : 6) + 1000 * ((39 - i + 16) / 16 + max((39 - i - 32 + 16) / 16 * (i < 8), 0)) + (i < 3 ? 3 - i << 20 : 0)
// expect marks if i % 2 == 1 && i < 150: 3 + 1000 * (i / 2 < 40 ? (39 - i / 2 + 16) / 16 : 0)
