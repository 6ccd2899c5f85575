// The last work-item reads beyond the end of the buffer. The checker reports the line and the work-item.
kernel void difference(global const int *in, global int *out)
{
    int i = get_global_id(0);
    out[i] = in[i + 1] - in[i];
}
