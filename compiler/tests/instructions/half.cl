#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void axpy(global const half *x, global half *y, half a)
{
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
