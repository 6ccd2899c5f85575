// Half arithmetic, if the device supports it.
// requires: fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void ops(global const half *a, global const half *b, global half *add, global half *mul, global float *wide)
{
    size_t i = get_global_id(0);
    add[i] = a[i] + b[i];
    mul[i] = a[i] * b[i];
    wide[i] = a[i] - 1.0h;
}
// run: ops global=32
// arg a: half[32] = rand(-100.0, 100.0)
// arg b: half[32] = rand(-10.0, 10.0)
// arg add: half[32]
// arg mul: half[32]
// arg wide: float[32]
// expect add: a + b
// expect mul: a * b
// expect wide: half(a - 1)

kernel void vectors(global const half4 *a, global half4 *out)
{
    size_t i = get_global_id(0);
    half4 x = a[i];
    out[i] = x.wzyx + (half)2;
}
// run: vectors global=4
// arg a: half4[4] = i
// arg out: half4[4]
// expect out: i / 4 * 4 + 3 - i % 4 + 2
