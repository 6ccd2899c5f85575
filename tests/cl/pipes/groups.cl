// Reservations of work-groups, also of smaller groups at the edge.
// build: -cl-std=CL3.0
// requires: __opencl_c_pipes

kernel void put(write_only pipe int out, global const int *packets, global int *failures)
{
    local reserve_id_t id;
    id = work_group_reserve_write_pipe(out, get_local_size(0));
    if (is_valid_reserve_id(id)) {
        write_pipe(out, id, get_local_id(0), &packets[get_global_id(0)]);
        work_group_commit_write_pipe(out, id);
    } else {
        atomic_inc(failures);
    }
}

kernel void take(read_only pipe int in, global int *found, global int *failures)
{
    reserve_id_t id = work_group_reserve_read_pipe(in, get_local_size(0));
    if (is_valid_reserve_id(id)) {
        int packet;
        read_pipe(in, id, get_local_id(0), &packet);
        work_group_commit_read_pipe(in, id);
        found[packet] = packet;
    } else {
        atomic_inc(failures);
    }
}

// Two at a time, committed in the reverse order.
kernel void put_two(write_only pipe int out)
{
    int n = get_local_size(0);
    reserve_id_t a = work_group_reserve_write_pipe(out, n);
    reserve_id_t b = work_group_reserve_write_pipe(out, n);
    if (!is_valid_reserve_id(a) || !is_valid_reserve_id(b)) return;
    int packet = get_group_id(0) * n * 2 + get_local_id(0);
    write_pipe(out, a, get_local_id(0), &packet);
    packet += n;
    write_pipe(out, b, get_local_id(0), &packet);
    work_group_commit_write_pipe(out, b);
    work_group_commit_write_pipe(out, a);
}
// run: put global=100 local=16
// arg p: pipe int[100]
// arg packets: int[100] = i
// arg failures: int[1]
// run: put global=16 local=16
// arg p: same p
// arg packets: int[100] = i
// arg failures: int[1]
// expect failures: 16
// run: take global=100 local=32
// arg p: same p
// arg found: int[100] = -1
// arg failures: int[1]
// expect found: i
// run: put_two global=48 local=12
// arg p: same p
// run: take global=96 local=8
// arg p: same p
// arg found: int[100] = -1
// arg failures: int[1]
// expect found if i < 96: i
