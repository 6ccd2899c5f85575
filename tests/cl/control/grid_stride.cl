// Loops that step by the global size: merged iterations must process every element exactly once.
// for: T = uchar, ushort, float
// for: N = 0, 3, 64, 255, 256, 257, 1021

kernel void sum(global const T *in, uint n, global uint *out)
{
    uint total = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) total += (uint)in[i] * (i / get_global_size(0) + 1);
    out[get_global_id(0)] = total;
}
// run: sum global=32 local=8
// arg in: $T[1024] = rand(0, 255)
// arg n: uint = $N
// arg out: uint[32]
// expect out: sum(j, 0, ($N - i + 31) / 32, in[i + 32 * j] * (j + 1))

kernel void shift(global const T *in, long n, global T *out)
{
    for (size_t i = get_global_id(0); (long)i < n; i += get_global_size(0)) out[i + 1] = in[i];
}
// run: shift global=32 local=8
// arg in: $T[1024] = rand(0, 255)
// arg n: long = $N
// arg out: $T[1025]
// expect out if i > 0 && i <= $N: in[i - 1]
