// Functions of subgroups: a subgroup is a gang.
// options: -cl-std=CL3.0

kernel void subgroup_sum(global const int *x, global int *z) {
    z[get_global_id(0)] = sub_group_reduce_add(x[get_global_id(0)]);
}

kernel void subgroup_first(global const int *x, global int *z) {
    z[get_global_id(0)] = sub_group_broadcast(x[get_global_id(0)], 0) + get_sub_group_local_id();
}
