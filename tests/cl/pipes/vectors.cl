// Packets of vectors, written and read without reservations.
// for: S = char, short, int, long, float, double, half
// for: N = 2, 4, 8, 16
// build: -cl-std=CL3.0
// requires: __opencl_c_pipes

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

#define JOIN(a, b) a##b
#define VECTOR(s, n) JOIN(s, n)
typedef VECTOR(S, N) T;

kernel void put(global const T *packets, write_only pipe T out, global int *failures)
{
    if (write_pipe(out, &packets[get_global_id(0)]) != 0) atomic_inc(failures);
}

kernel void take(read_only pipe T in, global T *found, global int *failures)
{
    T packet;
    if (read_pipe(in, &packet) != 0) atomic_inc(failures);
    else found[(int)packet.s1] = packet;
}
// run: put global=100
// arg packets: $S$N[100] = i / $N
// arg p: pipe $S$N[100]
// arg failures: int[1]
// run: take global=100
// arg p: same p
// arg found: $S$N[100]
// arg failures: int[1]
// expect found: i / $N
