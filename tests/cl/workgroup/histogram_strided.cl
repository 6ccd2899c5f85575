// Histograms of each group, counted by loops that step by the global size: every element is counted once, by its group.
// build: -cl-std=CL3.0
// for: T = uchar, ushort, uint
// for: N = 0, 5, 63, 64, 511, 1023, 1024, 1031

#define LOOP for (uint i = get_global_id(0); i < n; i += get_global_size(0))

kernel void groups(global const T *in, uint n, global uint *out)
{
    local uint counts[32];
    for (uint b = get_local_id(0); b < 32; b += get_local_size(0)) counts[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    LOOP atomic_inc(&counts[in[i] & 31]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < 32; b += get_local_size(0)) out[get_group_id(0) * 32 + b] = counts[b];
}
// run: groups global=64 local=16
// arg in: $T[1040] = rand(0, 255)
// arg n: uint = $N
// arg out: uint[128]
// expect out: sum(j, 0, $N, (in[j] & 31) == i % 32 && j / 16 % 4 == i / 32)

// The last group is smaller than the others.
// run: groups global=56 local=16
// arg in: same in
// arg n: uint = $N
// arg out: uint[128]
// expect out: sum(j, 0, $N, (in[j] & 31) == i % 32 && j % 56 / 16 == i / 32)

// A number of work-items that is a multiple of two, but not of four.
// run: groups global=36 local=12
// arg in: same in
// arg n: uint = $N
// arg out: uint[128]
// expect out if i < 96: sum(j, 0, $N, (in[j] & 31) == i % 32 && j % 36 / 12 == i / 32)

// The loop starts after the first elements.
// run: groups global=64 local=16 offset=1
// arg in: same in
// arg n: uint = $N
// arg out: uint[128]
// expect out: sum(j, 1, $N, (in[j] & 31) == i % 32 && (j - 1) / 16 % 4 == i / 32)

kernel void whole(global const T *in, uint n, global uint *out, global uint *most)
{
    LOOP {
        uint x = in[i] & 31;
        if (x > 3) atomic_add(&out[x], i);
        atomic_max(most, in[i] + i * 2);
    }
}
// run: whole global=64 local=16
// arg in: same in
// arg n: uint = $N
// arg out: uint[32]
// arg most: uint[1]
// expect out if i > 3: sum(j, 0, $N, ((in[j] & 31) == i) * j)
// expect most: _

// A part of a buffer.
// run: whole global=64 local=16
// arg in: same in[256, 784]
// arg n: uint = min($N, 784)
// arg out: uint[32]
// arg most: uint[1]
// expect out if i > 3: sum(j, 0, min($N, 784), ((in[j] & 31) == i) * j)
// expect most: _
