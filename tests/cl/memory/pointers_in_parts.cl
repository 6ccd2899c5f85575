// Pointers in memory to arguments that are split across bindings: each access uses the binding with its bytes.
// requires: int64

kernel void keep(global int *whole, global ulong *table)
{
    global int *global *out = (global int *global *)table;
    for (int i = 0; i < 8; i++)
        out[i] = whole + i * 64;
}
// run: keep global=1
// arg whole: int[512] = i
// arg table: ulong[8]
// expect table: _

kernel void use(global int *low, global ulong *memory, global int *high, global int *out)
{
    global int *global *table = (global int *global *)memory;
    int i = get_global_id(0);
    out[i] = table[i][3];
    table[i][4] = -i;
    out[i + 8] = table[i] >= low && table[i] < low + 256;
    out[i + 16] = table[i] - high;
}
// run: use global=8
// arg low: same whole[0, 256]
// arg memory: same table
// arg high: same whole[256, 256]
// arg out: int[24]
// expect out if i < 8: i * 64 + 3
// expect out if i >= 8 && i < 16: i < 12
// expect out if i >= 16: (i - 16) * 64 - 256
// expect low: i % 64 == 4 ? -(i / 64) : i
// expect high: i % 64 == 4 ? -(i / 64) - 4 : i + 256
