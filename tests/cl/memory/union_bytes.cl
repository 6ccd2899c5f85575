// A byte of a union chosen at run time: a value loaded before the store does not change.

typedef union { int i; uchar b[4]; } U;

kernel void write_one(global int *before, global int *after, global const int *at)
{
    size_t i = get_global_id(0);
    U un;
    un.i = 77;
    before[i] = (uchar)i > un.b[2] ? 1 : 2;
    int k = at[i] & 3;
    for (int n = 0; n < 5; n++) un.b[k] += (uchar)250;
    after[i] = un.i;
}
// run: write_one global=8 local=4
// arg before: int[8]
// arg after: int[8]
// arg at: int[8] = i % 4
// expect before: i > 0 ? 1 : 2
// expect after: i % 4 == 0 ? 47 : 77 + (226 << (8 * (i % 4)))
