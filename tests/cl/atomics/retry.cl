// A loop that retries until no other work-item interferes.
// requires: __opencl_c_atomic_scope_device
// build: -cl-std=CL3.0

kernel void relaxed(global atomic_int *c)
{
    int expected = atomic_load_explicit(c, memory_order_relaxed, memory_scope_device);
    while (!atomic_compare_exchange_strong_explicit(c, &expected, expected + 5, memory_order_relaxed, memory_order_relaxed,
                                                    memory_scope_device))
        ;
}
// run: relaxed global=256 local=32
// arg c: int[1] = 1
// expect c: 1281
