// Loops that repeat atomic_cmpxchg until it succeeds, as programs write them for floats: with a union, with the
// previous result as the next expected value, and in code that not all work-items execute.

void add_with_union(volatile local float *to, float value)
{
    union { uint bits; float value; } old, next;
    do {
        old.value = *to;
        next.value = old.value + value;
    } while (atomic_cmpxchg((volatile local uint *)to, old.bits, next.bits) != old.bits);
}

float add_with_result(volatile global float *to, float value)
{
    uint old = as_uint(*to), seen;
    for (;;) {
        seen = atomic_cmpxchg((volatile global uint *)to, old, as_uint(as_float(old) + value));
        if (seen == old) break;
        old = seen;
    }
    return as_float(old);
}

kernel void sums(global float *out, global float *total, global uint *order)
{
    local float bins[9];
    uint id = get_local_id(0);
    if (id < 9) bins[id] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    add_with_union(&bins[id % 8], id);
    if (id % 3 == 0) add_with_union(&bins[8], 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < 9) out[9 * get_group_id(0) + id] = bins[id];
    // Each old value is returned once.
    atomic_inc(&order[(uint)add_with_result(total, 1)]);
}
// run: sums global=512 local=256
// arg out: float[18]
// arg total: float[1] = 0
// arg order: uint[512] = 0
// expect out: i % 9 == 8 ? 172 : 3968 + 32 * (i % 9)
// expect total: 512
// expect order: 1

// Other operations. A difference with the old value on the right side stays a loop.
kernel void other_operations(global int *a, global float *f, global uint *bits)
{
    int id = get_global_id(0), old, next;
    do {
        old = a[0];
        next = 1 - old;
    } while (atomic_cmpxchg(a, old, next) != old);
    do old = a[1]; while (atomic_cmpxchg(a + 1, old, old - 3) != old);
    do old = a[2]; while (atomic_cmpxchg(a + 2, old, max(id, old)) != old);
    do old = a[3]; while (atomic_cmpxchg(a + 3, old, old * 2 - old + 1) != old);
    do old = a[4]; while (atomic_cmpxchg(a + 4, old, old ^ 1 << id % 7) != old);
    uint seen, expected = as_uint(f[0]);
    while ((seen = atomic_cmpxchg((volatile global uint *)f, expected, as_uint(as_float(expected) - 0.5f))) != expected) expected = seen;
    // The last stored value is used after the loop.
    float largest;
    do {
        expected = as_uint(f[1]);
        largest = fmax(as_float(expected), (float)id);
    } while (atomic_cmpxchg((volatile global uint *)f + 1, expected, as_uint(largest)) != expected);
    if (largest >= id) atomic_inc(bits);
}
// run: other_operations global=64 local=32
// arg a: int[5] = {0, 192, 0, 0, 0}
// arg f: float[2] = {100, -1}
// arg bits: uint[1] = 0
// expect a: {0, 0, 63, 64, 126}
// expect f: {68, 63}
// expect bits: 64

// One exchange without a loop: for each bin, the first work-item finds 0.
kernel void claims(global uint *out, global uint *found)
{
    local uint owner[16];
    uint id = get_local_id(0);
    if (id < 16) owner[id] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = atomic_cmpxchg(&owner[id % 13], 0u, id + 1);
    atomic_add(&found[id % 13], before == 0);
    if (id % 5 < 3) atomic_add(&found[13], atomic_cmpxchg(&owner[13 + id % 3], 0u, 1u) == 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < 16) out[id] = owner[id] != 0 && (id > 12 || (owner[id] - 1) % 13 == id);
}
// run: claims global=64 local=64
// arg out: uint[16]
// arg found: uint[14] = 0
// expect out: 1
// expect found: i < 13 ? 1 : 3
