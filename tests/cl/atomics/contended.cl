// Compare-and-exchange loops that work-items leave at different times, with every order; a lock; divergent fences.
// requires: __opencl_c_atomic_order_acq_rel __opencl_c_atomic_scope_device
// build: -cl-std=CL3.0 -DORDERED=memory_order_$ORDER
// for: ORDER = relaxed, acquire, release, acq_rel

kernel void exchange(global atomic_int *c, global int *tries)
{
    int n = 1;
    int expected = atomic_load_explicit(c, memory_order_relaxed, memory_scope_device);
    while (!atomic_compare_exchange_strong_explicit(c, &expected, expected + 5, ORDERED, memory_order_relaxed, memory_scope_device))
        n++;
    tries[get_global_id(0)] = n > 0;
}
// run: exchange global=256 local=32
// arg c: int[1]
// arg tries: int[256]
// expect c: 1280
// expect tries: 1

kernel void old(global int *c)
{
    int found = c[0], expected;
    do {
        expected = found;
        found = atomic_cmpxchg(c, expected, expected + 5);
    } while (found != expected);
}
// run: old global=256 local=32
// arg c: int[1]
// expect c: 1280

kernel void divergent(global int *c, global int *seen)
{
    int i = get_global_id(0);
    for (int k = 0; k < i % 7; ++k) {
        atomic_inc(&c[k]);
        mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    }
    seen[i] = i;
}
// run: divergent global=70 local=35
// arg c: int[6]
// arg seen: int[70]
// expect c: 60 - 10 * i
// expect seen: i
