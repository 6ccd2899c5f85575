// Work-items of a group take a lock in sequence. This terminates only if each runs to its end before the next.
// requires: one_by_one

kernel void add(global int *lock, global int *sum)
{
    while (atomic_cmpxchg(lock, 0, 1) != 0)
        ;
    *sum += 1 + get_global_id(0);
    atomic_xchg(lock, 0);
}
// run: add global=64 local=64
// arg lock: int[1] = 0
// arg sum: int[1] = 0
// expect lock: 0
// expect sum: 64 + 63 * 64 / 2
