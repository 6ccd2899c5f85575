// The reciprocal of a square root is rounded twice: the root, then its reciprocal.
// requires: fp64 int64

kernel void random(global const double *a, global double *root, global double *reciprocal)
{
    size_t i = get_global_id(0);
    root[i] = sqrt(a[i]);
    reciprocal[i] = 1.0 / sqrt(a[i]);
}
// run: random global=256
// arg a: double[256] = rand(0.001, 1000.0)
// arg root: double[256]
// arg reciprocal: double[256]
// expect root: sqrt(a)
// expect reciprocal: 1.0 / sqrt(a)

// The roots of the first two numbers have significands with all bits set. The reciprocals of the others are powers of
// two, infinite or zero.
kernel void edges(global const ulong *bits, global ulong *out)
{
    size_t i = get_global_id(0);
    out[i] = as_ulong(1.0 / sqrt(as_double(bits[i])));
}
// run: edges global=7
// arg bits: ulong[7] = {0x400ffffffffffffe, 0x400fffffffffffff, 0x4010000000000000, 0x0000000000000000, 0x7ff0000000000000, 0x0000000000000001, 0x7fd0000000000000}
// arg out: ulong[7]
// expect out: {0x3fe0000000000001, 0x3fe0000000000001, 0x3fe0000000000000, 0x7ff0000000000000, 0, 0x6180000000000000, 0x2000000000000000}
