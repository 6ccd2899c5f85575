// Message passing by the fences and atomic functions of OpenCL C 1.x.
// buffers: x flag out
// case:
// forbidden: out[0] = 1, out[1] = 0
// needs: 0 1

kernel void message_passing_mem_fence(global volatile int *x, global volatile int *flag, global int *out)
{
    if (get_group_id(0) == 0) {
        *x = 1;
        write_mem_fence(CLK_GLOBAL_MEM_FENCE);
        *flag = 1;
    } else {
        int seen = *flag;
        read_mem_fence(CLK_GLOBAL_MEM_FENCE);
        out[0] = seen;
        out[1] = *x;
    }
}
