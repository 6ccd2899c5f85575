// The counters of the first and of the last lane are less than the bound, but not those of the lanes between: they are
// before the point where the counters wrap around.
// for: T = uint, ulong

kernel void wraps(global const T *from, global int *out, T n)
{
    int count = 0;
    for (T k = from[0] + (T)get_global_id(0); k < n; k += count++ ? (T)-1 : (T)8)
        ;
    out[get_global_id(0)] = count;
}
// run: wraps global=16 local=16
// arg from: $T[1] = max_of($T) - 7
// arg out: int[16]
// arg n: $T = max_of($T) - 5
// expect out: i < 2 || i >= 8 ? 2 + i : 0
// run: wraps global=16 local=8
// arg from: $T[1] = max_of($T) - 3
// arg out: int[16]
// arg n: $T = max_of($T) - 1
// expect out: i < 2 || i >= 4 ? 6 + i : 0
// run: wraps global=16 local=4
// arg from: $T[1] = max_of($T) - 2
// arg out: int[16]
// arg n: $T = max_of($T) - 0
// expect out: i < 2 || i >= 3 ? 7 + i : 0
