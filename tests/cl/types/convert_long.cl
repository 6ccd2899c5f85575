// Conversions between 64-bit integers and float.
// requires: int64

kernel void convert(global const long *a, global const float *f, global float *fa, global float *fu, global long *la, global ulong *ul, global long *sat)
{
    size_t i = get_global_id(0);
    fa[i] = a[i];
    fu[i] = (ulong)a[i];
    la[i] = f[i];
    ul[i] = fabs(f[i]);
    sat[i] = convert_long_sat_rte(f[i]);
}
// run: convert global=8
// arg a: long[8] = {0, -1, 1099511627777, 9223372036854775807, -9223372036854775807, 123456789012345, 16777217, -5}
// arg f: float[8] = {0, 1.5, -2.5, 1e12, -1e15, 4294967296, 8e18, -123456.7}
// arg fa: float[8]
// arg fu: float[8]
// arg la: long[8]
// arg ul: ulong[8]
// arg sat: long[8]
// expect fa: a
// expect fu: ulong(a)
// expect la: to_int(f)
// expect ul: to_int(abs(f))
// expect sat: to_int(rint(f))
