// Signed and unsigned minima and maxima on one object in local memory, which a shader declares with one type.

kernel void k(global int *out)
{
    local int place[4];
    int i = get_local_id(0);
    if (i < 4)
        place[i] = i & 1 ? 5 : -5;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_min(&place[0], i - 8);
    atomic_min((local uint *)&place[1], (uint)(i - 8));
    atomic_max(&place[2], i - 8);
    atomic_max((local uint *)&place[3], (uint)(i - 8));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 4)
        out[i] = place[i];
}
// run: k global=16 local=16
// arg out: int[4]
// expect out: {-8, 0, 7, -1}
