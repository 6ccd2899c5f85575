// 64-bit atomics where the device has them.
// requires: int64 cl_khr_int64_base_atomics cl_khr_int64_extended_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

kernel void every(volatile global long *c)
{
    long i = get_global_id(0);
    atom_add(&c[0], i << 30);
    atom_max(&c[1], i << 40);
    atom_or(&c[2], 1L << (i % 64));
}
// run: every global=64
// arg c: long[3]
// expect c: {2016 << 30, 63 << 40, -1}
