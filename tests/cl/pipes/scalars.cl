// Packets of every scalar type, each written and read by a separate reservation.
// for: T = char, uchar, short, ushort, int, uint, long, ulong, float, double, half
// build: -cl-std=CL3.0
// requires: __opencl_c_pipes

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

kernel void put(write_only pipe T out, global int *failures)
{
    T packet = (T)get_global_id(0);
    reserve_id_t id = reserve_write_pipe(out, 1);
    if (is_valid_reserve_id(id)) {
        if (write_pipe(out, id, 0, &packet) != 0) atomic_inc(failures);
        commit_write_pipe(out, id);
    } else {
        atomic_inc(failures);
    }
}

kernel void take(read_only pipe T in, global T *found, global int *failures)
{
    reserve_id_t id = reserve_read_pipe(in, 1);
    if (is_valid_reserve_id(id)) {
        T packet;
        if (read_pipe(in, id, 0, &packet) != 0) atomic_inc(failures);
        commit_read_pipe(in, id);
        // The order is unspecified.
        found[(int)packet] = packet;
    } else {
        atomic_inc(failures);
    }
}
// run: put global=96 local=32
// arg p: pipe $T[99]
// arg failures: int[1]
// run: take global=96 local=16
// arg p: same p
// arg found: $T[97] = 99
// arg failures: int[1]
// expect found if i < 96: i
