// Before OpenCL C 2.0 the keyword `pipe` and the names of pipe functions are ordinary identifiers.
// build: -cl-std=CL1.2
// build: -cl-std=CL1.1

int read_pipe(int pipe, int *reserve_read_pipe)
{
    return pipe + *reserve_read_pipe;
}

kernel void plain(global int *out)
{
    int pipe = 3, id = 4;
    out[0] = read_pipe(pipe, &id);
#ifdef CLK_NULL_RESERVE_ID
    out[0] = 0;
#endif
}
// run: plain global=1
// arg out: int[1]
// expect out: 7
