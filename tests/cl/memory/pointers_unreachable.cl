// Pointers loaded from memory to objects that the launch does not have: loads return zero and stores have no effect.
// requires: int64 shaders

kernel void keep(global int *whole, global ulong *table)
{
    for (int i = 0; i < 8; i++)
        ((global int *global *)table)[i] = whole + i * 64;
}
// run: keep global=1
// arg whole: int[512] = i
// arg table: ulong[8]
// expect table: _

// Loads from objects outside of the arguments return zero, and stores have no effect.
kernel void lost(global int *out, global ulong *memory)
{
    global int *global *table = (global int *global *)memory;
    out[0] = *table[0];
    *table[0] = 5;
    out[1] = *(volatile global int *)table[0];
    out[2] = table[0] != 0;
}
// run: lost global=1
// arg out: int[3] = 7
// arg memory: same table
// expect out: {0, 0, 1}

// Only a part of the buffer is bound.
kernel void use(global int *some, global ulong *memory, global int *out)
{
    int i = get_global_id(0);
    global int *global *table = (global int *global *)memory;
    out[i] = table[i][3];
    table[i][4] = -i;
}
// run: use global=8
// arg some: same whole[128, 128]
// arg memory: same table
// arg out: int[8] = 7
// expect out: i == 2 || i == 3 ? i * 64 + 3 : 0
// expect some: i % 64 == 4 ? -2 - i / 64 : i + 128
