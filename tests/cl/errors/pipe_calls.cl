// Invalid arguments of pipe functions (OpenCL C 6.15.17).
// build: -cl-std=CL3.0
// requires: __opencl_c_pipes wgcl

kernel void wrong(read_only pipe int in, write_only pipe int out, global int *numbers, global float *floats, constant int *fixed)
{
    reserve_id_t id;
    int x;
    const int c = 1;
    write_pipe(in, &x); // error: invalid pipe access modifier (expecting write_only)
    read_pipe(out, &x); // error: expecting read_only
    id = reserve_write_pipe(in, 1); // error: expecting write_only
    commit_read_pipe(out, id); // error: expecting read_only
    work_group_commit_write_pipe(in, id); // error: expecting write_only
    read_pipe(in, floats); // error: expecting 'int *'
    read_pipe(in, id, 0, floats); // error: expecting 'int *'
    read_pipe(in, &c); // error: expecting 'int *'
    read_pipe(in, fixed); // error: expecting 'int *'
    write_pipe(out, x); // error: expecting 'const int *'
    write_pipe(out, fixed);
    write_pipe(out, &c);
    read_pipe(in, id, &x); // error: invalid number of arguments to function: 'read_pipe', expected 2 or 4, have 3
    read_pipe(in); // error: too few arguments
    read_pipe(numbers, &x); // error: first argument to 'read_pipe' must be a pipe type
    get_pipe_num_packets(x); // error: first argument to 'get_pipe_num_packets' must be a pipe type
    read_pipe(in, x, 0, &x); // error: passing 'int' to parameter of incompatible type 'reserve_id_t'
    is_valid_reserve_id(x); // error: passing 'int' to parameter of incompatible type 'reserve_id_t'
}
