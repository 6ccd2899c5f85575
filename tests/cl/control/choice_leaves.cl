// Branches of which one side leaves the loop and the other computes a uniform value: a load from one address.

kernel void extremum(global int *values, global uint *index)
{
    uint id = get_global_id(0), best = *index;
    int old = values[best], own = values[id];
    while (own < old || (own == old && id < best)) {
        if (atomic_cmpxchg(index, best, id) == best)
            break;
        else
            best = *index;
        old = values[best];
    }
}
// run: extremum global=256 local=64
// arg values: int[256] = (i * 37 + 11) % 256
// arg index: uint[1] = 0
// expect index: 145

// Each element of the list holds the index of the next: work-items leave it at different ones.
kernel void list(global int *next, global int *o)
{
    int id = get_global_id(0), at = 0, steps = 0;
    for (;;) {
        int here = at;
        if (atomic_or(&o[id], 0) + id == here)
            break;
        else
            at = next[here];
        steps += at;
    }
    o[id] = steps;
}
// run: list global=40 local=40
// arg next: int[64] = i + 1
// arg o: int[40] = 0
// expect o: i * (i + 1) / 2

kernel void chosen(global int *next, global int *o)
{
    int id = get_global_id(0), at = 0, steps = 0;
    for (;;) {
        int way = atomic_or(&o[id], 0) + id - at;
        switch (way) {
        case 0: o[id] = steps; return;
        case 1: at = next[at + 64]; break;
        default: at = next[at + 64]; steps++; break;
        }
        steps += at;
    }
}
// run: chosen global=40 local=40
// arg next: int[128] = i - 63
// arg o: int[40] = 0
// expect o: i == 0 ? 0 : i * (i + 1) / 2 + i - 1
