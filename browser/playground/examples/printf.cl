// printf needs the interpreter, because shaders for WebGPU cannot print.
kernel void hello(global const float *in)
{
    int i = get_global_id(0);
    printf("work-item %d of group %d: %.2f\n", i, (int)get_group_id(0), in[i]);
}
