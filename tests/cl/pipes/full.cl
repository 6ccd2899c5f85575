// More work-items than packets: as many succeed as the pipe has slots, the others get an error. Slots are reused.
// build: -cl-std=CL3.0
// requires: __opencl_c_pipes

kernel void put(write_only pipe uint out, global int *count)
{
    uint packet = get_global_id(0);
    if (write_pipe(out, &packet) == 0) atomic_inc(&count[0]);
    else atomic_inc(&count[1]);
}

kernel void put_pairs(write_only pipe uint out, global int *count)
{
    reserve_id_t id = reserve_write_pipe(out, 2);
    if (!is_valid_reserve_id(id)) {
        atomic_inc(&count[1]);
        return;
    }
    for (uint i = 0; i < 2; i++) {
        uint packet = get_global_id(0) * 2 + i;
        write_pipe(out, id, i, &packet);
    }
    commit_write_pipe(out, id);
    atomic_inc(&count[0]);
}

kernel void take(read_only pipe uint in, global int *seen, global int *count)
{
    uint packet;
    if (read_pipe(in, &packet) == 0) {
        atomic_inc(&seen[packet % 64]);
        atomic_inc(&count[0]);
    } else {
        atomic_inc(&count[1]);
    }
}
// run: put global=256 local=64
// arg p: pipe uint[70]
// arg count: int[2]
// expect count: {70, 186}
// run: take global=128 local=64
// arg p: same p
// arg seen: int[64]
// arg count: int[2]
// expect seen: _
// expect count: {70, 58}
// run: put_pairs global=32 local=32
// arg p: same p
// arg count: int[2]
// expect count: {32, 0}
// run: put_pairs global=32 local=8
// arg p: same p
// arg count: int[2]
// expect count: {3, 29}
// run: take global=64 local=16
// arg p: same p
// arg seen: int[64]
// arg count: int[2]
// expect seen: _
// expect count: {64, 0}
// run: put global=64 local=32
// arg p: same p
// arg count: int[2]
// expect count: {64, 0}
// run: take global=96 local=32
// arg p: same p
// arg seen: int[64]
// arg count: int[2]
// expect seen: _
// expect count: {70, 26}
// run: put global=64 local=32
// arg p: same p
// arg count: int[2]
// expect count: {64, 0}
// run: take global=64 local=4
// arg p: same p
// arg seen: int[64]
// arg count: int[2]
// expect seen: 1
// expect count: {64, 0}
