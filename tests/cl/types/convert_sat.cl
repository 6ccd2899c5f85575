// Saturating conversions clamp to the range of the target.
// for: F = char, uchar, short, ushort, int, uint, long, ulong, float

kernel void convert(global const F *a, global char *i8, global uchar *u8, global short *i16, global ushort *u16, global int *i32, global uint *u32)
{
    size_t i = get_global_id(0);
    F x = a[i];
    i8[i] = convert_char_sat(x);
    u8[i] = convert_uchar_sat(x);
    i16[i] = convert_short_sat(x);
    u16[i] = convert_ushort_sat(x);
    i32[i] = convert_int_sat(x);
    u32[i] = convert_uint_sat(x);
}
// run: convert global=16
// arg a: $F[16] = {0, 1, 127, $F(128), $F(255), $F(256), $F(-1), $F(-128), $F(-129), $F(32767), $F(40000), $F(-40000), $F(70000), $F(2147480000), $F(4294960000), $F(-2147480000)}
// arg i8: char[16]
// arg u8: uchar[16]
// arg i16: short[16]
// arg u16: ushort[16]
// arg i32: int[16]
// arg u32: uint[16]
// expect i8: sat(char, a)
// expect u8: sat(uchar, a)
// expect i16: sat(short, a)
// expect u16: sat(ushort, a)
// expect i32: sat(int, a)
// expect u32: sat(uint, a)
