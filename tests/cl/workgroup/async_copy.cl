// async_work_group_copy, plain and strided, and waiting for it.

kernel void copy(global const float *in, global float *out, local float *l, int n)
{
    event_t e = async_work_group_copy(l, in + get_group_id(0) * n, n, 0);
    wait_group_events(1, &e);
    for (int k = get_local_id(0); k < n; k += get_local_size(0))
        l[k] *= 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + get_group_id(0) * n, l, n, 0);
    wait_group_events(1, &e);
}
// run: copy global=16 local=8
// arg in: float[40] = i
// arg out: float[40]
// arg l: local 80
// arg n: int = 20
// expect out: 2 * i

kernel void strided(global const int *in, global int *out, local int *l)
{
    event_t e = async_work_group_strided_copy(l, in, 10, 3, 0);
    wait_group_events(1, &e);
    out[get_local_id(0)] = l[get_local_id(0)];
}
// run: strided global=10 local=10
// arg in: int[30] = i
// arg out: int[10]
// arg l: local 40
// expect out: 3 * i
