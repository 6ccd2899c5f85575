// A Monte Carlo count with a per-item xorshift state, 64-bit arithmetic in the generator.
// requires: int64

ulong next(ulong *state)
{
    ulong x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

kernel void inside(global int *count, global ulong *last, int tries)
{
    size_t i = get_global_id(0);
    ulong state = 88172645463325252UL + i;
    int n = 0;
    for (int k = 0; k < tries; k++) {
        ulong r = next(&state);
        int x = (int)(r & 0xffff), y = (int)(r >> 16 & 0xffff);
        n += x * (long)x + y * (long)y < 0xffffffffL;
    }
    count[i] = n;
    last[i] = state;
}
// run: inside global=4
// arg count: int[4]
// arg last: ulong[4]
// arg tries: int = 500
// expect count: {386, 392, 387, 392}
// expect last: {14688815388083067605, 134429902040547270, 12402027313773951147, 7356747294845869496}
