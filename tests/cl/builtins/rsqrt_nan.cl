// NaNs whose payload is only in the low word stay NaNs.
// requires: fp64 int64

kernel void roots(global const ulong *bits, global int *out)
{
    size_t i = get_global_id(0);
    out[i] = isnan(rsqrt(as_double(bits[i])));
}
// run: roots global=4
// arg bits: ulong[4] = {0x7ff0000000000200, 0xfff0000000000001, 0x7ff8000000000000, 0x7ff0000000000000}
// arg out: int[4]
// expect out: {1, 1, 1, 0}
