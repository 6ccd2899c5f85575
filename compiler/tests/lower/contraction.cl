kernel void k(global float *out, float a, float b, float c)
{
    out[0] = a * b + c;
    out[1] = c - a * b;
    out[2] = a * b - c * a;
    out[3] += a * b;
#pragma OPENCL FP_CONTRACT OFF
    out[4] = a * b + c;
}
