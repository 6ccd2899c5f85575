// Atomic floats: exchange, load, store and compare, which every device supports.
// build: -cl-std=CL2.0

kernel void k(global atomic_float *a, global float *out)
{
    out[0] = atomic_exchange(&a[0], 2.5f);
    out[1] = atomic_load(&a[1]);
    atomic_store(&a[1], 3.5f);
    float expected = 1.5f;
    out[2] = atomic_compare_exchange_strong(&a[2], &expected, 4.5f);
    out[3] = atomic_xchg((volatile global float *)&out[3], 5.5f) + 1;
}
// run: k global=1
// arg a: float[3] = 1.5
// arg out: float[4] = 7
// expect a: {2.5, 3.5, 4.5}
// expect out: {1.5, 1.5, 1, 8}
