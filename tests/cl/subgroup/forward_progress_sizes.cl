// A chain of waiting subgroups of every size that the CPU device has.
// for: SIZE = 4, 8, 16
// requires: cl_khr_subgroups cl_intel_required_subgroup_size
// build: -cl-std=CL3.0

__attribute__((intel_reqd_sub_group_size(SIZE)))
kernel void chain(global int *out)
{
    local atomic_int next;
    if (get_local_id(0) == 0)
        atomic_init(&next, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    int own = get_num_sub_groups() - 1 - get_sub_group_id();
    int spins = 0;
    while (atomic_load(&next) != own)
        ++spins;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (get_sub_group_local_id() == 0)
        atomic_fetch_add(&next, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = atomic_load(&next) - (int)get_num_sub_groups();
}
// run: chain global=1024 local=256
// arg out: int[1024] = 7
// expect out: 0
// run: chain global=37 local=37
// arg out: int[37] = 7
// expect out: 0
