// Atomics on local memory, and a histogram that uses them.

kernel void histogram(global const uchar *a, volatile global uint *bins, int each)
{
    local uint mine[16];
    int k = get_local_id(0);
    if (k < 16) mine[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 0; n < each; n++)
        atomic_inc(&mine[a[get_global_id(0) * each + n] >> 4]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < 16)
        atomic_add(&bins[k], mine[k]);
}
// run: histogram global=128 local=32
// arg a: uchar[1024] = rand(0, 255)
// arg bins: uint[16]
// arg each: int = 8
// expect bins: sum(k, 0, 1024, a[k] / 16 == i)

kernel void kinds(global int *out, local int *c)
{
    int k = get_local_id(0);
    if (k < 6) c[k] = k == 0 ? 1000 : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_min(&c[0], k - 5);
    atomic_max(&c[1], k * 3);
    atomic_or(&c[2], 1 << k);
    atomic_xor(&c[3], k);
    atomic_sub(&c[4], k);
    if (k == 3) atomic_xchg(&c[5], 33);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < 6) out[k] = c[k];
}
// run: kinds global=16 local=16
// arg out: int[6]
// arg c: local 24
// expect out: {-5, 45, 65535, 0, -120, 33}

kernel void float_exchange(global float *a)
{
    int i = get_global_id(0);
    a[i] = atomic_xchg(&a[i], 1.5f) + 1;
}
// run: float_exchange global=4
// arg a: float[4] = i
// expect a: i + 1
