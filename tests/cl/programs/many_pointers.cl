// More pointer arguments than some devices have bindings (32 on lavapipe): the others share one.

kernel void many(global int *p0, global int *p1, global int *p2, global int *p3, global int *p4, global int *p5, global int *p6, global int *p7, global int *p8, global int *p9, global int *p10, global int *p11, global int *p12, global int *p13, global int *p14, global int *p15, global int *p16, global int *p17, global int *p18, global int *p19, global int *p20, global int *p21, global int *p22, global int *p23, global int *p24, global int *p25, global int *p26, global int *p27, global int *p28, global int *p29, global int *p30, global int *p31, global int *p32, global int *p33, global int *p34, global int *p35, global int *p36, global int *p37, global int *p38, global int *p39)
{
    int g = get_global_id(0);
    p0[g] += p3[g] * 0 + 0 + g;
    p1[g] += p10[g] * 0 + 1 + g;
    p2[g] += p17[g] * 0 + 2 + g;
    p3[g] += p24[g] * 0 + 3 + g;
    p4[g] += p31[g] * 0 + 4 + g;
    p5[g] += p38[g] * 0 + 5 + g;
    p6[g] += p5[g] * 0 + 6 + g;
    p7[g] += p12[g] * 0 + 7 + g;
    p8[g] += p19[g] * 0 + 8 + g;
    p9[g] += p26[g] * 0 + 9 + g;
    p10[g] += p33[g] * 0 + 10 + g;
    p11[g] += p0[g] * 0 + 11 + g;
    p12[g] += p7[g] * 0 + 12 + g;
    p13[g] += p14[g] * 0 + 13 + g;
    p14[g] += p21[g] * 0 + 14 + g;
    p15[g] += p28[g] * 0 + 15 + g;
    p16[g] += p35[g] * 0 + 16 + g;
    p17[g] += p2[g] * 0 + 17 + g;
    p18[g] += p9[g] * 0 + 18 + g;
    p19[g] += p16[g] * 0 + 19 + g;
    p20[g] += p23[g] * 0 + 20 + g;
    p21[g] += p30[g] * 0 + 21 + g;
    p22[g] += p37[g] * 0 + 22 + g;
    p23[g] += p4[g] * 0 + 23 + g;
    p24[g] += p11[g] * 0 + 24 + g;
    p25[g] += p18[g] * 0 + 25 + g;
    p26[g] += p25[g] * 0 + 26 + g;
    p27[g] += p32[g] * 0 + 27 + g;
    p28[g] += p39[g] * 0 + 28 + g;
    p29[g] += p6[g] * 0 + 29 + g;
    p30[g] += p13[g] * 0 + 30 + g;
    p31[g] += p20[g] * 0 + 31 + g;
    p32[g] += p27[g] * 0 + 32 + g;
    p33[g] += p34[g] * 0 + 33 + g;
    p34[g] += p1[g] * 0 + 34 + g;
    p35[g] += p8[g] * 0 + 35 + g;
    p36[g] += p15[g] * 0 + 36 + g;
    p37[g] += p22[g] * 0 + 37 + g;
    p38[g] += p29[g] * 0 + 38 + g;
    p39[g] += p36[g] * 0 + 39 + g;
}
// run: many global=4
// arg p0: int[4] = {0, 10, 20, 0}
// arg p1: int[4] = {0, 10, 20, 1}
// arg p2: int[4] = {0, 10, 20, 2}
// arg p3: int[4] = {0, 10, 20, 3}
// arg p4: int[4] = {0, 10, 20, 4}
// arg p5: int[4] = {0, 10, 20, 5}
// arg p6: int[4] = {0, 10, 20, 6}
// arg p7: int[4] = {0, 10, 20, 7}
// arg p8: int[4] = {0, 10, 20, 8}
// arg p9: int[4] = {0, 10, 20, 9}
// arg p10: int[4] = {0, 10, 20, 10}
// arg p11: int[4] = {0, 10, 20, 11}
// arg p12: int[4] = {0, 10, 20, 12}
// arg p13: int[4] = {0, 10, 20, 13}
// arg p14: int[4] = {0, 10, 20, 14}
// arg p15: int[4] = {0, 10, 20, 15}
// arg p16: int[4] = {0, 10, 20, 16}
// arg p17: int[4] = {0, 10, 20, 17}
// arg p18: int[4] = {0, 10, 20, 18}
// arg p19: int[4] = {0, 10, 20, 19}
// arg p20: int[4] = {0, 10, 20, 20}
// arg p21: int[4] = {0, 10, 20, 21}
// arg p22: int[4] = {0, 10, 20, 22}
// arg p23: int[4] = {0, 10, 20, 23}
// arg p24: int[4] = {0, 10, 20, 24}
// arg p25: int[4] = {0, 10, 20, 25}
// arg p26: int[4] = {0, 10, 20, 26}
// arg p27: int[4] = {0, 10, 20, 27}
// arg p28: int[4] = {0, 10, 20, 28}
// arg p29: int[4] = {0, 10, 20, 29}
// arg p30: int[4] = {0, 10, 20, 30}
// arg p31: int[4] = {0, 10, 20, 31}
// arg p32: int[4] = {0, 10, 20, 32}
// arg p33: int[4] = {0, 10, 20, 33}
// arg p34: int[4] = {0, 10, 20, 34}
// arg p35: int[4] = {0, 10, 20, 35}
// arg p36: int[4] = {0, 10, 20, 36}
// arg p37: int[4] = {0, 10, 20, 37}
// arg p38: int[4] = {0, 10, 20, 38}
// arg p39: int[4] = {0, 10, 20, 39}
// expect p0: {0, 11, 22, 3}
// expect p1: {1, 12, 23, 5}
// expect p2: {2, 13, 24, 7}
// expect p3: {3, 14, 25, 9}
// expect p4: {4, 15, 26, 11}
// expect p5: {5, 16, 27, 13}
// expect p6: {6, 17, 28, 15}
// expect p7: {7, 18, 29, 17}
// expect p8: {8, 19, 30, 19}
// expect p9: {9, 20, 31, 21}
// expect p10: {10, 21, 32, 23}
// expect p11: {11, 22, 33, 25}
// expect p12: {12, 23, 34, 27}
// expect p13: {13, 24, 35, 29}
// expect p14: {14, 25, 36, 31}
// expect p15: {15, 26, 37, 33}
// expect p16: {16, 27, 38, 35}
// expect p17: {17, 28, 39, 37}
// expect p18: {18, 29, 40, 39}
// expect p19: {19, 30, 41, 41}
// expect p20: {20, 31, 42, 43}
// expect p21: {21, 32, 43, 45}
// expect p22: {22, 33, 44, 47}
// expect p23: {23, 34, 45, 49}
// expect p24: {24, 35, 46, 51}
// expect p25: {25, 36, 47, 53}
// expect p26: {26, 37, 48, 55}
// expect p27: {27, 38, 49, 57}
// expect p28: {28, 39, 50, 59}
// expect p29: {29, 40, 51, 61}
// expect p30: {30, 41, 52, 63}
// expect p31: {31, 42, 53, 65}
// expect p32: {32, 43, 54, 67}
// expect p33: {33, 44, 55, 69}
// expect p34: {34, 45, 56, 71}
// expect p35: {35, 46, 57, 73}
// expect p36: {36, 47, 58, 75}
// expect p37: {37, 48, 59, 77}
// expect p38: {38, 49, 60, 79}
// expect p39: {39, 50, 61, 81}
