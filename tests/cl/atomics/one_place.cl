// All work-items of a vector access one address: each must get a distinct old value.
// for: T = int, uint

kernel void slots(global T *counter, global T *taken, global T *left)
{
    size_t i = get_global_id(0);
    if (i % 3 != 1) {
        T slot = atomic_inc(&counter[0]);
        atomic_inc(&taken[slot]);
    }
    // A different amount for each work-item, decrements, and separate addresses.
    T size = (T)(i % 4 + 1);
    T end = atomic_sub(&counter[1], size);
    for (T k = 1; k <= size; k++) atomic_add(&left[end - k], (T)1);
}
// run: slots global=300 local=100
// arg counter: $T[2] = {0, 750}
// arg taken: $T[200] = 0
// arg left: $T[750] = 0
// expect counter: {200, 0}
// expect taken: 1
// expect left: 1
// run: slots global=300 local=30
// arg counter: $T[2] = {0, 750}
// arg taken: $T[200] = 0
// arg left: $T[750] = 0
// expect counter: {200, 0}
// expect taken: 1
// expect left: 1
// run: slots global=300 local=3
// arg counter: $T[2] = {0, 750}
// arg taken: $T[200] = 0
// arg left: $T[750] = 0
// expect counter: {200, 0}
// expect taken: 1
// expect left: 1

kernel void combined(global T *a, global T *found)
{
    T i = (T)get_global_id(0);
    if ((i & 1) == 0) {
        atomic_or(&a[0], (T)1 << (i % 31));
        atomic_and(&a[1], ~((T)1 << (i % 31)));
        atomic_xor(&a[2], i);
        atomic_min(&a[3], i + 5);
        atomic_max(&a[4], i + 5);
        atomic_sub(&a[5], i);
    }
    // Each result is at least the previous one.
    T old = atomic_max(&a[6], i);
    found[i] = old <= (T)255;
    // Uniform and varying operands.
    atomic_add(&a[7], (T)2);
}
// run: combined global=256 local=64
// arg a: $T[8] = {0, 0x7fffffff, 0, 1000, 3, 100000, 0, 0}
// arg found: $T[256]
// expect a: {0x7fffffff, 0, 0, 5, 259, 83744, 255, 512}
// expect found: 1

kernel void inside(global T *sums, global T *taken)
{
    local T sum, next;
    if (get_local_id(0) == 0) sum = next = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, (T)get_local_id(0));
    T slot = atomic_inc(&next);
    taken[get_group_id(0) * get_local_size(0) + slot] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) sums[get_group_id(0)] = sum;
}
// run: inside global=200 local=50
// arg sums: $T[4]
// arg taken: $T[200] = 0
// expect sums: 1225
// expect taken: 1
