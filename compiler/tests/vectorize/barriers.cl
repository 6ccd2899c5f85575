// Barriers in work-groups of several vectors.

kernel void reverse_group(global const float *x, global float *z) {
    local float tile[64];
    int i = get_local_id(0);
    tile[i] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    z[get_global_id(0)] = tile[63 - i];
}

kernel void tree_sum(global const float *x, global float *z) {
    local float part[64];
    int i = get_local_id(0);
    part[i] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = 32; half_size > 0; half_size /= 2) {
        if (i < half_size) part[i] += part[i + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0) z[get_group_id(0)] = part[0];
}

kernel void live_across(global const float *x, global float *z) {
    local float tile[64];
    int i = get_local_id(0);
    float own = x[get_global_id(0)] * 3;
    tile[i] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    z[get_global_id(0)] = own + tile[i ^ 1];
}

kernel void global_fence(global float *x) {
    int i = get_global_id(0);
    x[i] += 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    x[i + 64] = x[i];
}
