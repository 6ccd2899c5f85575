// Reservations of subgroups, some of which reserve nothing.
// build: -cl-std=CL3.0
// build: -cl-std=CL2.0
// requires: __opencl_c_pipes __opencl_c_subgroups

kernel void put(write_only pipe int out, global int *wrote)
{
    if (get_sub_group_id() % 2 != 0) return;
    reserve_id_t id = sub_group_reserve_write_pipe(out, get_sub_group_size());
    if (is_valid_reserve_id(id)) {
        int packet = get_global_id(0);
        write_pipe(out, id, get_sub_group_local_id(), &packet);
        sub_group_commit_write_pipe(out, id);
        wrote[packet] = 1;
    }
}

kernel void take(read_only pipe int in, global int *balance)
{
    if (get_sub_group_id() % 2 != 0) return;
    reserve_id_t id = sub_group_reserve_read_pipe(in, get_sub_group_size());
    if (is_valid_reserve_id(id)) {
        int packet;
        read_pipe(in, id, get_sub_group_local_id(), &packet);
        sub_group_commit_read_pipe(in, id);
        atomic_dec(&balance[packet]);
    }
}
// run: put global=256 local=64
// arg p: pipe int[256]
// arg wrote: int[256]
// expect wrote: _
// run: take global=256 local=64
// arg p: same p
// arg wrote: same wrote
// expect wrote: 0
