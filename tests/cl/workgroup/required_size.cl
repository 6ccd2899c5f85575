// reqd_work_group_size must match the launch; hints have no effect.

__attribute__((reqd_work_group_size(4, 2, 1)))
kernel void required(global int *out)
{
    local int tmp[8];
    int k = get_local_id(1) * 4 + get_local_id(0);
    tmp[k] = k;
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = tmp[7 - k] + 100 * get_local_size(0);
}
// run: required global=8x2 local=4x2
// arg out: int[16]
// expect out: 400 + 7 - (i / 8 * 4 + i % 4)

kernel __attribute__((work_group_size_hint(8, 1, 1), vec_type_hint(float4)))
void hinted(global int *out)
{
    out[get_global_id(0)] = get_global_id(0);
}
// run: hinted global=8
// arg out: int[8]
// expect out: i
