// Pipes as parameters of functions, and packets in every address space.
// build: -cl-std=CL3.0
// build: -cl-std=CL2.0
// requires: __opencl_c_pipes

typedef int4 Packet;

int put_both(write_only pipe Packet out, global const Packet *from, local Packet *other)
{
    return write_pipe(out, from) + write_pipe(out, other);
}

static uint waiting(pipe Packet in)
{
    return get_pipe_num_packets(in);
}

reserve_id_t reserve_all(read_only pipe Packet in)
{
    return reserve_read_pipe(in, waiting(in));
}

constant Packet fixed = (Packet)(7, 8, 9, 10);

kernel void put(write_only pipe Packet out, global const Packet *from, global int *results)
{
    local Packet shared;
    shared = (Packet)(1, 2, 3, 4);
    results[0] = put_both(out, from, &shared);
    results[1] = write_pipe(out, &fixed);
    Packet own = (Packet)(5);
    Packet *any = get_global_id(0) == 0 ? &own : (Packet *)from;
    // Arguments are evaluated once, also if the pipe is full.
    results[2] = write_pipe(out, any++);
    results[3] = write_pipe(out, any++);
    results[4] = any == &own + 2;
}

kernel void take(read_only pipe Packet in, global Packet *found, global int *results)
{
    results[0] = waiting(in);
    reserve_id_t id = reserve_all(in);
    local Packet shared;
    Packet own;
    read_pipe(in, id, 0, &found[0]);
    read_pipe(in, id, 1, &shared);
    read_pipe(in, id, 2, &own);
    Packet *any = &found[3];
    read_pipe(in, id, 3, any);
    found[1] = shared;
    found[2] = own;
    commit_read_pipe(in, id);
}
// run: put global=1
// arg p: pipe int4[4]
// arg from: int4[1] = i
// arg results: int[5] = 9
// expect results: {0, 0, 0, -1, 1}
// run: take global=1
// arg p: same p
// arg found: int4[4]
// arg results: int[1]
// expect results: 4
// expect found: {0, 1, 2, 3, 1, 2, 3, 4, 7, 8, 9, 10, 5, 5, 5, 5}
