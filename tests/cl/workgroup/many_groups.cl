// More groups in one dimension than a dispatch supports: split into two dimensions, evenly or not.

kernel void mark(global uint *seen, global uint *wrong)
{
    uint id = get_global_id(0), group = get_group_id(0);
    atomic_inc(&seen[id % 7]);
    if (id != group * get_local_size(0) + get_local_id(0) + get_global_offset(0) || get_group_id(1) != 0 || get_global_id(1) != 0
        || get_num_groups(0) * get_local_size(0) != get_global_size(0))
        atomic_inc(wrong);
}
// run: mark global=140000 local=1
// arg seen: uint[7] = 0
// arg wrong: uint[1] = 0
// expect seen: {20000, 20000, 20000, 20000, 20000, 20000, 20000}
// expect wrong: {0}

// run: mark global=99991 local=1
// arg seen: uint[7] = 0
// arg wrong: uint[1] = 0
// expect seen: {14285, 14285, 14285, 14284, 14284, 14284, 14284}
// expect wrong: {0}
