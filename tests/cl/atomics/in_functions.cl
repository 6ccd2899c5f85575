// Atomic operations of functions, on pointers to global and local memory. `WGCL_INLINE=0` keeps the functions.
// requires: cl_khr_int64_base_atomics cl_khr_int64_extended_atomics

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

static long count(volatile global long *sums, volatile local long *shared, int k)
{
    atom_max(shared + 1, (long)k << 33);
    atom_add(k & 1 ? sums : sums + 1, (long)k << 32);
    return atom_add(shared, 1L << 40);
}

static int any(volatile local long *shared, volatile global int *narrow, int k)
{
    atomic_or(narrow + (k & 1), 1 << k);
    return atom_cmpxchg(shared + 2, 0, k + 1) == 0;
}

kernel void functions(global long *sums, global int *narrow, global int *first)
{
    local long shared[3];
    int l = get_local_id(0);
    if (l < 3)
        shared[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    long before = count(sums, shared, l);
    atomic_add(first, any(shared, narrow, l));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        sums[2] = shared[0];
        sums[3] = shared[1];
        sums[4] = before >= 0 && before <= 15L << 40;
    }
}
// run: functions global=16 local=16
// arg sums: long[5]
// arg narrow: int[2]
// arg first: int[1]
// expect sums: {64 << 32, 56 << 32, 16 << 40, 15 << 33, 1}
// expect narrow: {0x5555, 0xaaaa}
// expect first: {1}
