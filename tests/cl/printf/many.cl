// Work-items print concurrently; the output of runs is in order.

kernel void each(global int *out)
{
    int i = get_global_id(0);
    out[i] = printf("item %d of %d\n", i, (int)get_global_size(0));
}
// run: each global=4 local=2
// arg out: int[4] = 5
// expect out: 0
// prints in any order: item 0 of 4
// prints in any order: item 1 of 4
// prints in any order: item 2 of 4
// prints in any order: item 3 of 4

kernel void some(global int *out)
{
    int i = get_global_id(0);
    for (int k = 0; k < i; ++k)
        if (k & 1)
            printf("%d:%d\n", i, k);
    out[i] = i;
}
// run: some global=5
// arg out: int[5]
// expect out: i
// prints in any order: 2:1
// prints in any order: 3:1
// prints in any order: 4:1
// prints in any order: 4:3
