// Each form of an access.
// arguments: --isa avx512
kernel void forms(global const float *x, global const int *index, global float *out, constant float *factor, int n)
{
    int i = get_global_id(0);
    float contiguous = x[i];
    float uniform = x[n];
    float strided = x[i * 4];
    float gathered = x[index[i]];
    float sum = contiguous + uniform + strided + gathered * factor[0];
    if (sum > 0.0f)
        out[i] = sum;
    out[index[i] + n] = uniform;
}

kernel void atomics(global int *counters, global const uchar *data)
{
    atomic_inc(&counters[data[get_global_id(0)]]);
}
