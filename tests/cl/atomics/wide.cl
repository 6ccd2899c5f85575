// 64-bit atomics in global and local memory.
// for: T = long, ulong
// requires: cl_khr_int64_base_atomics cl_khr_int64_extended_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

kernel void k(global T *sum, global T *most, global T *least)
{
    local T here;
    T x = (T)get_global_id(0) << 33;
    if (get_local_id(0) == 0)
        here = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atom_add(&here, x);
    atom_max(most, x);
    atom_min(least, x - 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atom_add(sum, here);
}
// run: k global=32 local=8
// arg sum: $T[1]
// arg most: $T[1] = 3
// arg least: $T[1] = 3
// expect sum: 496 * 8589934592
// expect most: 31 * 8589934592
// expect least: min($T(-1), 3)

kernel void exchange(global T *a, global T *old)
{
    old[0] = atom_xchg(&a[0], (T)1 << 40);
    old[1] = atom_cmpxchg(&a[1], (T)100, (T)1 << 41);
    old[2] = atom_cmpxchg(&a[2], (T)101, (T)1 << 41);
    old[3] = atom_inc(&a[3]);
    old[4] = atom_dec(&a[4]);
    old[5] = atom_or(&a[5], (T)1 << 42);
    old[6] = atom_and(&a[6], (T)0xf);
    old[7] = atom_xor(&a[7], (T)1 << 43);
    old[8] = atom_sub(&a[8], (T)1);
}
// run: exchange global=1
// arg a: $T[9] = 100
// arg old: $T[9]
// expect a: {1099511627776, 2199023255552, 100, 101, 99, 4398046511204, 4, 8796093022308, 99}
// expect old: 100
