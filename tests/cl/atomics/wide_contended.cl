// Contended 64-bit atomics: no value is lost, torn or returned to two work-items.
// for: T = long, ulong
// requires: cl_khr_int64_base_atomics cl_khr_int64_extended_atomics

// Each old value belongs to one work-item; the lower word carries at every second one.
kernel void tickets(global T *next, global int *taken)
{
    T step = 0x80000001;
    T ticket = atom_add(next, step);
    atomic_inc(&taken[(int)(ticket / step)]);
}
// run: tickets global=2048 local=64
// arg next: $T[1]
// arg taken: int[2048]
// expect next: 2048 * 0x80000001
// expect taken: 1

// Sums whose old value is unused.
kernel void sums(global T *sum)
{
    size_t i = get_global_id(0);
    atom_add(&sum[i % 3], (T)0xffffffff);
    atom_sub(&sum[i % 3], (T)1 << (i % 40));
    atom_inc(&sum[3]);
    atom_dec(&sum[4]);
}
// run: sums global=1920 local=64
// arg sum: $T[5]
// expect sum: i < 3 ? 640 * 0xffffffff - 16 * ((1 << 40) - 1) : i == 3 ? 1920 : -1920

// A compare-and-exchange loop, and other accesses to the same and adjacent addresses.
kernel void mixed(global T *a, global T *most, global T *least)
{
    size_t i = get_global_id(0);
    T seen = 0, expected;
    do {
        expected = seen;
        seen = atom_cmpxchg(&a[i & 1], expected, expected + ((T)1 << 32) + 1);
    } while (seen != expected);
    if (i % 5 == 0)
        atom_add(&a[i & 1], (T)3 << 33);
    atom_max(most, (T)i << 31);
    atom_min(least, (T)(1000 - i) << 31);
}
// run: mixed global=1000 local=50
// arg a: $T[2]
// arg most: $T[1] = 5
// arg least: $T[1] = 1 << 62
// expect a: 500 * ((1 << 32) + 1) + 100 * (3 << 33)
// expect most: 999 << 31
// expect least: 1 << 31

// The accessed buffer, or part of a buffer, is known only at run time.
kernel void chosen(global T *a, global T *b, global int *taken)
{
    size_t i = get_global_id(0);
    global T *p = i & 1 ? a + (i >> 1) % 2 : b;
    T ticket = atom_add(p, (T)1 << 32 | 1);
    taken[i] = (ticket >> 32) == (ticket & 0xffffffff);
}
// run: chosen global=512 local=64
// arg a: $T[2]
// arg b: $T[1]
// arg taken: int[512]
// expect a: 128 * ((1 << 32) + 1)
// expect b: 256 * ((1 << 32) + 1)
// expect taken: 1

kernel void within(global T *sums, global int *taken)
{
    local T next[2];
    size_t l = get_local_id(0);
    if (l < 2)
        next[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    T ticket = atom_add(&next[l & 1], (T)0xc0000000);
    atomic_inc(&taken[32 * (l & 1) + (int)(ticket / 0xc0000000)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 2)
        sums[2 * get_group_id(0) + l] = next[l];
}
// run: within global=512 local=64
// arg sums: $T[16]
// arg taken: int[64]
// expect sums: 32 * 0xc0000000
// expect taken: 8

// Work-items set bits one by one, and each sees those set before; then they clear them.
kernel void bits(global T *a, global int *found)
{
    size_t i = get_local_id(0), group = get_group_id(0);
    T before = atom_or(&a[group], (T)1 << i);
    atomic_inc(&found[popcount(before)]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    atom_and(&a[group], ~((T)1 << i));
    atom_xor(&a[8], (T)1 << i);
}
// run: bits global=512 local=64
// arg a: $T[9]
// arg found: int[64]
// expect a: 0
// expect found: 8
