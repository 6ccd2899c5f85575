// More pointer arguments than bindings, some with elements smaller than a word: async copies check their alignment.

kernel void copies(global const int *p0, global const int *p1, global const int *p2, global const int *p3, global const int *p4, global const int *p5, global const int *p6, global const int *p7, global const int *p8, global const int *p9, global const int *p10, global const int *p11, global const int *p12, global const int *p13, global const int *p14, global const int *p15, global const int *p16, global const int *p17, global const int *p18, global const int *p19, global const int *p20, global const int *p21, global const int *p22, global const int *p23, global const int *p24, global const int *p25, global const int *p26, global const int *p27, global const int *p28, global const int *p29, global const int *p30, global const int *p31, global const int *p32, global const int *p33,
    global const char *in, global char *out, global const short *in2, global short *out2, global int *sum, int offset, int n)
{
    local char l[64];
    local short l2[64];
    event_t e = async_work_group_copy(l, in + offset, n, 0);
    e = async_work_group_copy(l2, in2 + offset, n, e);
    wait_group_events(1, &e);
    e = async_work_group_copy(out + offset, l, n, 0);
    e = async_work_group_copy(out2 + offset, l2, n, e);
    int i = get_global_id(0);
    sum[i] = p0[i] + p1[i] + p2[i] + p3[i] + p4[i] + p5[i] + p6[i] + p7[i] + p8[i] + p9[i] + p10[i] + p11[i] + p12[i] + p13[i] + p14[i] + p15[i] + p16[i] + p17[i] + p18[i] + p19[i] + p20[i] + p21[i] + p22[i] + p23[i] + p24[i] + p25[i] + p26[i] + p27[i] + p28[i] + p29[i] + p30[i] + p31[i] + p32[i] + p33[i];
    wait_group_events(1, &e);
}
// run: copies global=8 local=8
// arg p0: int[8] = i
// arg p1: same p0
// arg p2: same p0
// arg p3: same p0
// arg p4: same p0
// arg p5: same p0
// arg p6: same p0
// arg p7: same p0
// arg p8: same p0
// arg p9: same p0
// arg p10: same p0
// arg p11: same p0
// arg p12: same p0
// arg p13: same p0
// arg p14: same p0
// arg p15: same p0
// arg p16: same p0
// arg p17: same p0
// arg p18: same p0
// arg p19: same p0
// arg p20: same p0
// arg p21: same p0
// arg p22: same p0
// arg p23: same p0
// arg p24: same p0
// arg p25: same p0
// arg p26: same p0
// arg p27: same p0
// arg p28: same p0
// arg p29: same p0
// arg p30: same p0
// arg p31: same p0
// arg p32: same p0
// arg p33: same p0
// arg in: char[64] = i
// arg out: char[64] = 100
// arg in2: short[64] = 1000 * i
// arg out2: short[64] = 100
// arg sum: int[8]
// arg offset: int = 0
// arg n: int = 40
// expect out: i >= 0 && i < 40 ? i : 100
// expect out2: i >= 0 && i < 40 ? 1000 * i : 100
// expect sum: 34 * i
// run: copies global=8 local=8
// arg p0: int[8] = i
// arg p1: same p0
// arg p2: same p0
// arg p3: same p0
// arg p4: same p0
// arg p5: same p0
// arg p6: same p0
// arg p7: same p0
// arg p8: same p0
// arg p9: same p0
// arg p10: same p0
// arg p11: same p0
// arg p12: same p0
// arg p13: same p0
// arg p14: same p0
// arg p15: same p0
// arg p16: same p0
// arg p17: same p0
// arg p18: same p0
// arg p19: same p0
// arg p20: same p0
// arg p21: same p0
// arg p22: same p0
// arg p23: same p0
// arg p24: same p0
// arg p25: same p0
// arg p26: same p0
// arg p27: same p0
// arg p28: same p0
// arg p29: same p0
// arg p30: same p0
// arg p31: same p0
// arg p32: same p0
// arg p33: same p0
// arg in: char[64] = i
// arg out: char[64] = 100
// arg in2: short[64] = 1000 * i
// arg out2: short[64] = 100
// arg sum: int[8]
// arg offset: int = 3
// arg n: int = 41
// expect out: i >= 3 && i < 44 ? i : 100
// expect out2: i >= 3 && i < 44 ? 1000 * i : 100
// expect sum: 34 * i
// run: copies global=8 local=8
// arg p0: int[8] = i
// arg p1: same p0
// arg p2: same p0
// arg p3: same p0
// arg p4: same p0
// arg p5: same p0
// arg p6: same p0
// arg p7: same p0
// arg p8: same p0
// arg p9: same p0
// arg p10: same p0
// arg p11: same p0
// arg p12: same p0
// arg p13: same p0
// arg p14: same p0
// arg p15: same p0
// arg p16: same p0
// arg p17: same p0
// arg p18: same p0
// arg p19: same p0
// arg p20: same p0
// arg p21: same p0
// arg p22: same p0
// arg p23: same p0
// arg p24: same p0
// arg p25: same p0
// arg p26: same p0
// arg p27: same p0
// arg p28: same p0
// arg p29: same p0
// arg p30: same p0
// arg p31: same p0
// arg p32: same p0
// arg p33: same p0
// arg in: char[64] = i
// arg out: char[64] = 100
// arg in2: short[64] = 1000 * i
// arg out2: short[64] = 100
// arg sum: int[8]
// arg offset: int = 2
// arg n: int = 7
// expect out: i >= 2 && i < 9 ? i : 100
// expect out2: i >= 2 && i < 9 ? 1000 * i : 100
// expect sum: 34 * i
