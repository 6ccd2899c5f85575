// Functions of work-groups and subgroups.
// options: -cl-std=CL3.0

kernel void group_sum(global const float *x, global float *z) {
    z[get_global_id(0)] = work_group_reduce_add(x[get_global_id(0)]);
}

kernel void group_scan(global const int *x, global int *z) {
    z[get_global_id(0)] = work_group_scan_inclusive_add(x[get_global_id(0)]);
}

kernel void group_any(global const int *x, global int *z) {
    z[get_global_id(0)] = work_group_any(x[get_global_id(0)] > 3);
}
