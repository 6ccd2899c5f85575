// Atomic operations: one for all lanes if the address is uniform, otherwise one per lane.

kernel void count_all(global int *counter) {
    atomic_inc(counter);
}

kernel void tickets(global int *counter, global int *z) {
    z[get_global_id(0)] = atomic_add(counter, 2);
}

kernel void histogram(global const uint *x, global int *bins) {
    atomic_inc(&bins[x[get_global_id(0)] & 255]);
}

kernel void local_histogram(global const uint *x, global int *bins) {
    local int part[64];
    int i = get_local_id(0);
    part[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&part[x[get_global_id(0)] & 63]);
    barrier(CLK_LOCAL_MEM_FENCE);
    bins[get_global_id(0)] = part[i];
}

// In the loop, the lanes run without a loop over lanes while all of them are active.
kernel void guarded_histogram(global const uint *x, global int *bins, uint size) {
    local int part[64];
    part[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < size; i += get_global_size(0)) atomic_inc(&part[x[i] & 63]);
    barrier(CLK_LOCAL_MEM_FENCE);
    bins[get_global_id(0)] = part[get_local_id(0)];
}
