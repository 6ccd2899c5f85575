// convert_ on vectors of every width.
// for: N = 2, 3, 4, 8, 16
// build: -DLOAD=vload$N -DSTORE=vstore$N -DF=float$N -DTO_FLOAT=convert_float$N -DTO_INT=convert_int$N -DTO_SHORT=convert_short$N

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define TO_UCHAR_SAT CAT(CAT(convert_uchar, N), _sat_rte)

kernel void convert(global const float *a, global const uchar *b, global uchar *to_uchar, global float *to_float, global int *to_int, global short *to_short)
{
    F x = LOAD(0, a);
    STORE(TO_UCHAR_SAT(x), 0, to_uchar);
    STORE(TO_FLOAT(LOAD(0, b)), 0, to_float);
    STORE(TO_INT(x), 0, to_int);
    STORE(TO_SHORT(TO_INT(x)), 0, to_short);
}
// run: convert global=1
// arg a: float[$N] = {1.5, -3, 300.5, 2.5, 77.7}
// arg b: uchar[$N] = {0, 255, 128, 7}
// arg to_uchar: uchar[$N]
// arg to_float: float[$N]
// arg to_int: int[$N]
// arg to_short: short[$N]
// expect to_uchar: sat(uchar, rint(a))
// expect to_float: b
// expect to_int: to_int(a)
// expect to_short: to_int(a)
