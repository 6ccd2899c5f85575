// Without a local size the driver chooses one that divides the range, also for odd ranges.

kernel void count(global int *out)
{
    size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);
    bool fits = get_global_id(0) == get_group_id(0) * get_local_size(0) + get_local_id(0) && get_local_id(0) < get_local_size(0)
        && get_num_groups(0) * get_local_size(0) == get_global_size(0);
    out[i] = fits ? i : -1;
}
// run: count global=1
// arg out: int[1] = -2
// expect out: i
// run: count global=997
// arg out: int[997] = -2
// expect out: i
// run: count global=33x7
// arg out: int[231] = -2
// expect out: i
// run: count global=1000x3
// arg out: int[3000] = -2
// expect out: i
