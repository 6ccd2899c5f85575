// as_type between 64-bit integers, doubles and pairs of words.
// requires: int64 fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void cast(global const ulong *a, global uint2 *words, global double *d, global ulong *back)
{
    size_t i = get_global_id(0);
    words[i] = as_uint2(a[i]);
    d[i] = as_double(0x3ff0000000000000UL + (a[i] & 0xfffffffffffffUL));
    back[i] = as_ulong(d[i]) ^ as_ulong((uint2)(1, 2));
}
// run: cast global=4
// arg a: ulong[4] = {0, 0x123456789abcdef0, 0xffffffffffffffff, 0x8000000000000}
// arg words: uint2[4]
// arg d: double[4]
// arg back: ulong[4]
// expect words: a[i / 2] >> (i % 2 * 32)
// expect d: 1 + (a % 0x10000000000000) / 4503599627370496.0
// expect back: (0x3ff0000000000000 + a % 0x10000000000000) ^ 0x200000001
