// cl_khr_kernel_clock: clock values never decrease, and both forms read the same clock.
// requires: cl_khr_kernel_clock
// for: S = device, work_group, sub_group
// build: -DREAD=clock_read_$S -DWORDS=clock_read_hilo_$S

kernel void order(global const uint *a, global uint *out)
{
    ulong first = READ();
    uint x = a[get_global_id(0)];
    for (uint i = 0; i < 100; i++)
        x = x * 1664525u + 1013904223u;
    ulong second = READ();
    uint2 third = WORDS();
    // Bits 0 and 1: the clock did not decrease. Bit 2: the readings are less than 2^40 apart.
    uint order = (second >= first) | (as_ulong(third) >= second) << 1 | (READ() - first < (1ul << 40)) << 2;
    out[get_global_id(0)] = order | (x == 5u && second == 7ul) << 3;
}
// run: order global=64 local=16
// arg a: uint[64] = i
// arg out: uint[64]
// expect out: 7
