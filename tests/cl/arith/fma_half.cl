// fma of half rounds once: each product lies halfway between two halves, and the addend decides.
// requires: cl_khr_fp16

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void once(global const ushort *a, global ushort *out)
{
    size_t i = get_global_id(0);
    half x = as_half(a[3 * i]), y = as_half(a[3 * i + 1]), z = as_half(a[3 * i + 2]);
    out[i] = as_ushort(fma(x, y, z));
}
// run: once global=4
// arg a: ushort[12] = {0x3c20, 0x3c10, 0x0001,  0x3c20, 0x3c10, 0x8001,  0x3c20, 0x3c10, 0,  0xbc20, 0x3c10, 0x8001}
// arg out: ushort[4]
// expect out: {0x3c31, 0x3c30, 0x3c30, 0xbc31}
