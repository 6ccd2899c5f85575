// text: avx2
// Products of 64-bit integers and of bytes consist of products of halves, where one instruction is not better. The
// parts of constants and of uniform operands are computed outside of the loop.

kernel void long_by_constant(global ulong *z) {
    z[get_global_id(0)] *= 0x9E3779B97F4A7C15UL;
}

kernel void long_by_uniform(global ulong *z, ulong by, int n) {
    ulong x = z[get_global_id(0)];
    for (int i = 0; i < n; i++) x = x * by ^ x;
    z[get_global_id(0)] = x;
}

kernel void short_by_short(global const uint *x, global ulong *z) {
    z[get_global_id(0)] = (ulong)x[get_global_id(0)] * 1000000007UL;
}

kernel void bytes_by_uniform(global const uchar *x, global uchar *z, uchar by) {
    z[get_global_id(0)] = x[get_global_id(0)] * by;
}
