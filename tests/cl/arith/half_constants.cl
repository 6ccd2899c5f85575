// Constants of type double are rounded to half once, as at run time.
// requires: fp16 fp64

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void k(global ushort *out, double above, double below)
{
    out[0] = as_ushort((half)(1.0 + 0x1p-11 + 0x1p-40));
    out[1] = as_ushort((half)above);
    half initialised = 1.0 + 0x1p-11 - 0x1p-40;
    out[2] = as_ushort(initialised);
    out[3] = as_ushort((half)below);
    out[4] = as_ushort((half)(1.0 + 0x1p-11));
}
// run: k global=1
// arg out: ushort[5]
// arg above: double = 1.00048828125090949
// arg below: double = 1.00048828124909051
// expect out: {15361, 15361, 15360, 15360, 15360}
