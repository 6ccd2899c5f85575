// The exclusive prefix sum of a value of each of 256 work-items; *total is the sum of all.
uint scan_group(uint mine, local uint *shared, uint *total)
{
    uint lane = get_local_id(0);
    shared[lane] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < 256; distance *= 2) {
        uint other = lane >= distance ? shared[lane - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[lane] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint result = shared[lane] - mine;
    *total = shared[255];
    barrier(CLK_LOCAL_MEM_FENCE);
    return result;
}

// Scans blocks of 1,024 separately.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void scan_blocks(global const uint4 *from, global uint4 *to, global uint *sums)
{
    local uint shared[256];
    uint4 v = from[get_global_id(0)];
    v.y += v.x; v.z += v.y; v.w += v.z;
    uint total, before = scan_group(v.w, shared, &total);
    to[get_global_id(0)] = (uint4)(0, v.xyz) + before;
    if (get_local_id(0) == 0) sums[get_group_id(0)] = total;
}
