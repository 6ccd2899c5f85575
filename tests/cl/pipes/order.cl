// Reservations have program order in the pipe, whatever the commit order; a packet appears after all earlier ones.
// build: -cl-std=CL3.0
// requires: __opencl_c_pipes

kernel void put(write_only pipe int out, global int *results)
{
    reserve_id_t ids[3];
    ids[0] = reserve_write_pipe(out, 2);
    ids[1] = reserve_write_pipe(out, 3);
    // One reservation too many.
    ids[2] = reserve_write_pipe(out, 4);
    for (int i = 0; i < 3; i++) results[i] = is_valid_reserve_id(ids[i]);
    results[3] = is_valid_reserve_id(CLK_NULL_RESERVE_ID);
    results[4] = is_valid_reserve_id(reserve_write_pipe(out, 0)) || is_valid_reserve_id(reserve_write_pipe(out, ~0u));
    // Backwards, and one of them twice.
    for (int i = 2; i >= 0; i--) {
        int packet = 12 + i;
        write_pipe(out, ids[1], i, &packet);
    }
    int first = 12;
    write_pipe(out, ids[1], 0, &first);
    commit_write_pipe(out, ids[1]);
    results[5] = get_pipe_num_packets(out);
    for (int i = 0; i < 2; i++) {
        int packet = 10 + i;
        write_pipe(out, ids[0], i, &packet);
    }
    commit_write_pipe(out, ids[0]);
    results[6] = get_pipe_num_packets(out);
    results[7] = get_pipe_max_packets(out);
    for (int i = 15; i < 20; i++) results[8] += write_pipe(out, &i);
}

kernel void take(read_only pipe int in, global int *found, global int *results)
{
    reserve_id_t a = reserve_read_pipe(in, 5), b = reserve_read_pipe(in, 3), c = reserve_read_pipe(in, 1);
    results[0] = is_valid_reserve_id(a) + is_valid_reserve_id(b) * 2 + is_valid_reserve_id(c) * 4;
    results[1] = get_pipe_num_packets(in);
    for (int i = 0; i < 3; i++) read_pipe(in, b, i, &found[5 + i]);
    for (int i = 0; i < 5; i++) read_pipe(in, a, i, &found[i]);
    commit_read_pipe(in, b);
    commit_read_pipe(in, a);
    int packet;
    results[2] = read_pipe(in, &packet);
}
// Three rounds over the same slots.
// run: put global=1
// arg p: pipe int[8]
// arg results: int[9]
// expect results: {1, 1, 0, 0, 0, 0, 5, 8, -2}
// run: take global=1
// arg p: same p
// arg found: int[8]
// arg results: int[3]
// expect found: 10 + i
// expect results: {3, 0, -1}
// run: put global=1
// arg p: same p
// arg results: int[9]
// expect results: {1, 1, 0, 0, 0, 0, 5, 8, -2}
// run: take global=1
// arg p: same p
// arg found: int[8]
// arg results: int[3]
// expect found: 10 + i
// expect results: {3, 0, -1}
