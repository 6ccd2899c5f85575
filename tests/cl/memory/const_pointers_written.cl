// The memory of a pointer to const changes through a pointer loaded from memory.
// requires: int64

kernel void keep(global int *whole, global ulong *table)
{
    for (int i = 0; i < 8; i++)
        ((global int *global *)table)[i] = whole + i * 16;
}
// run: keep global=1
// arg whole: int[128] = i
// arg table: ulong[8]
// expect table: _

kernel void write(global const int *seen, global const ulong *memory, global int *out)
{
    int i = get_global_id(0);
    global int *global const *table = (global int *global const *)memory;
    out[i] = seen[i * 16 + 1];
    table[i][4] = -i;
}
// run: write global=8
// arg seen: same whole
// arg memory: same table
// arg out: int[8] = 7
// expect out: i * 16 + 1
// expect seen: i % 16 == 4 ? -(i / 16) : i
