// Pragmas: known extensions, FP_CONTRACT, unroll, and unknown ones, which are ignored.
#pragma OPENCL EXTENSION all : disable
#pragma OPENCL EXTENSION cl_khr_byte_addressable_store : enable
#pragma OPENCL FP_CONTRACT OFF
#pragma an unknown one

kernel void run(global float *a)
{
    int i = get_global_id(0);
    float s = 0;
    #pragma unroll 4
    for (int k = 0; k < 8; k++)
        s += a[i] * k;
    _Pragma("unroll")
    for (int k = 0; k < 2; k++)
        s += 1;
    a[i] = s;
}
// run: run global=4
// arg a: float[4] = i
// expect a: i * 28 + 2
