// Insertion into sorted private arrays: the work-items leave the inner loop in different iterations, and store to the
// element at which they have left. `bad` counts differences from the ranks of the values.
// for: T = int, float, long, uchar

// The rank of value `i` of `count` values: the number of smaller ones, and of equal ones before it.
uint rank(global const T *values, uint i, uint count)
{
    uint rank = 0;
    for (uint j = 0; j < count; j++) rank += values[j] < values[i] || (values[j] == values[i] && j < i);
    return rank;
}

kernel void with_places(global const T *values, global uint *bad)
{
    T keys[13];
    uchar places[13];
    uint me = get_global_id(0);
    for (int i = 0; i < 13; i++) {
        T key = values[me * 13 + i];
        int at = i;
        for (; at > 0 && keys[at - 1] > key; at--) {
            keys[at] = keys[at - 1];
            places[at] = places[at - 1];
        }
        keys[at] = key;
        places[at] = i;
    }
    bad[me] = 0;
    for (uint i = 0; i < 13; i++) {
        uint at = rank(values + me * 13, i, 13);
        bad[me] += keys[at] != values[me * 13 + i] || places[at] != i;
    }
}
// run: with_places global=67 local=67
// arg values: $T[871] = rand(0, 9)
// arg bad: uint[67]
// expect bad: 0

// The counter is one less than the index of the store. Some work-items insert fewer values.
kernel void below(global const T *values, global uint *bad)
{
    T keys[11];
    uint me = get_global_id(0), count = me % 3 ? 11 : me % 11;
    for (uint i = 0; i < count; i++) {
        T key = values[me * 11 + i];
        int at = (int)i - 1;
        while (at >= 0 && keys[at] > key) {
            keys[at + 1] = keys[at];
            at--;
        }
        keys[at + 1] = key;
    }
    bad[me] = 0;
    for (uint i = 0; i < count; i++) bad[me] += keys[rank(values + me * 11, i, count)] != values[me * 11 + i];
}
// run: below global=64 local=32
// arg values: $T[704] = rand(0, 9)
// arg bad: uint[64]
// expect bad: 0

// The store after the loop is to another element than those in the loop, so it stays after the loop. The second array
// has the same contents, from a search without stores.
kernel void next_to(global const T *values, global uint *bad)
{
    T keys[9], others[9];
    uint me = get_global_id(0);
    for (int i = 0; i < 9; i++) keys[i] = others[i] = i;
    for (int i = 0; i < 8; i++) {
        T key = values[me * 8 + i];
        int at = i, other = i;
        for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at + 1] = key;
        while (other > 0 && others[other - 1] > key) other--;
        for (int j = i; j > other; j--) others[j] = others[j - 1];
        others[other + 1] = key;
    }
    bad[me] = 0;
    for (int i = 0; i < 9; i++) bad[me] += keys[i] != others[i];
}
// run: next_to global=64 local=64
// arg values: $T[512] = rand(0, 9)
// arg bad: uint[64]
// expect bad: 0
