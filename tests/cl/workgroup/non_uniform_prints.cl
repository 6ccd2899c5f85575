// The output of groups of several sizes is complete, also for statements that only some groups execute.
// build: -cl-std=CL3.0
// prints in any order: group 0 of 4
// prints in any order: group 1 of 4
// prints in any order: group 2 of 2
// prints in any order: the last one is small

kernel void speak(global int *out)
{
    if (get_local_size(0) < get_enqueued_local_size(0) && get_local_id(0) == 0)
        printf("the last %s is small\n", "one");
    if (get_local_id(0) == 0)
        printf("group %d of %d\n", (int)get_group_id(0), (int)get_local_size(0));
    out[get_global_id(0)] = get_local_size(0);
}
// run: speak global=10 local=4
// arg out: int[10]
// expect out: i < 8 ? 4 : 2
