// Private arrays whose positions come from constant tables, so that they are constant after loops are unrolled.

constant int LANES[8] = {3, 6, 1, 4, 7, 2, 5, 0};
constant uchar NEXT[8] = {5, 0, 7, 2, 1, 4, 3, 6};
constant uint AMOUNTS[8] = {1, 9, 17, 25, 33, 41, 49, 57};
constant int LISTS[2][4] = {{7, 5, 3, 1}, {0, 2, 4, 6}};

kernel void moved(global const ulong *in, global ulong *out)
{
    size_t id = get_global_id(0);
    ulong s[8];
    for (int i = 0; i < 8; i++) s[i] = in[8 * id + i];
    ulong t = s[0];
    for (int i = 0; i < 8; i++) {
        ulong u = s[LANES[i]];
        s[LANES[i]] = t + AMOUNTS[i];
        t = u;
    }
    for (int i = 0; i < 8; i++) out[8 * id + i] = s[i];
}
// run: moved global=32 local=16
// arg in: ulong[256] = rand(0, 1000)
// arg out: ulong[256]
// expect out if i % 8 == 3: in[i - 3] + 1
// expect out if i % 8 == 6: in[i - 3] + 9
// expect out if i % 8 == 1: in[i + 5] + 17
// expect out if i % 8 == 4: in[i - 3] + 25
// expect out if i % 8 == 7: in[i - 3] + 33
// expect out if i % 8 == 2: in[i + 5] + 41
// expect out if i % 8 == 5: in[i - 3] + 49
// expect out if i % 8 == 0: in[i + 5] + 57

// The position is an element of a table at a position from another table, and of a private table.
kernel void chained(global const int *in, global int *out)
{
    size_t id = get_global_id(0);
    const int order[4] = {2, 0, 3, 1};
    int s[8], sum = 0;
    for (int i = 0; i < 8; i++) s[LANES[NEXT[i]]] = in[8 * id + i];
    for (int i = 0; i < 4; i++) sum += s[LISTS[0][order[i]]] << i;
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 4; i++) s[LISTS[j][i]] += 10 * i;
    for (int i = 0; i < 8; i++) out[8 * id + i] = s[i] + (i == 0 ? sum : 0);
}
// run: chained global=32 local=16
// arg in: int[256] = rand(0, 1000)
// arg out: int[256]
// expect out if i % 8 > 0: in[i ^ 2] + (i % 8 == 1 || i % 8 == 6 ? 30 : i % 8 == 3 || i % 8 == 4 ? 20 : i % 8 == 7 ? 0 : 10)
// expect out if i % 8 == 0: in[i + 2] + in[i + 1] + 2 * in[i + 5] + 4 * in[i + 3] + 8 * in[i + 7]

// Positions that stay unknown, beyond a table with a constant length.
kernel void unknown(global const int *in, global int *out, int n)
{
    size_t id = get_global_id(0);
    int s[8];
    for (int i = 0; i < 8; i++) s[i] = in[8 * id + i];
    for (int i = 0; i < n; i++) s[LANES[i]] -= s[NEXT[i + n & 7]];
    for (int i = 0; i < 8; i++) out[8 * id + i] = s[i];
}
// run: unknown global=32 local=16
// arg in: int[256] = rand(0, 1000)
// arg out: int[256]
// arg n: int = 7
// expect out if i % 8 == 0: in[i]
// expect out if i % 8 == 1: in[i] - in[i - 1]
// expect out if i % 8 == 2: in[i] - in[i - 1] + in[i - 2]
// expect out if i % 8 == 3: in[i] - in[i + 3]
// expect out if i % 8 == 4: in[i] - in[i + 3]
// expect out if i % 8 == 5: in[i] - in[i - 1] + in[i + 2]
// expect out if i % 8 == 6: in[i] - in[i - 1]
// expect out if i % 8 == 7: in[i] - in[i - 5]
