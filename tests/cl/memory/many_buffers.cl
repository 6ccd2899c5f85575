// More buffer arguments than the eight that the least capable devices bind.
#define P(n) global const int *a##n

kernel void gather(P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), P(9), P(10), P(11), P(12), P(13), P(14), P(15), global int *out)
{
    size_t i = get_global_id(0);
    out[i] = a0[i] + a1[i] + a2[i] + a3[i] + a4[i] + a5[i] + a6[i] + a7[i] + a8[i] + a9[i] + a10[i] + a11[i] + a12[i] + a13[i] + a14[i] + a15[i];
}
// run: gather global=4
// arg a0: int[4] = 1
// arg a1: int[4] = 2
// arg a2: int[4] = 4
// arg a3: int[4] = 8
// arg a4: int[4] = 16
// arg a5: int[4] = 32
// arg a6: int[4] = 64
// arg a7: int[4] = 128
// arg a8: int[4] = 256
// arg a9: int[4] = 512
// arg a10: int[4] = 1024
// arg a11: int[4] = 2048
// arg a12: int[4] = 4096
// arg a13: int[4] = 8192
// arg a14: int[4] = 16384
// arg a15: int[4] = 32768
// arg out: int[4]
// expect out: 65535
