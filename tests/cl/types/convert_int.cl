// Plain conversions between integer types keep the low bits.
// for: F = char, uchar, short, ushort, int, uint, long, ulong

kernel void convert(global const F *a, global char *i8, global uchar *u8, global short *i16, global ushort *u16, global int *i32, global uint *u32, global long *i64, global ulong *u64)
{
    size_t i = get_global_id(0);
    F x = a[i];
    i8[i] = convert_char(x);
    u8[i] = (uchar)x;
    i16[i] = convert_short(x);
    u16[i] = (ushort)x;
    i32[i] = convert_int(x);
    u32[i] = (uint)x;
    i64[i] = x;
    u64[i] = convert_ulong(x);
}
// run: convert global=32
// arg a: $F[32] = rand(min_of($F), max_of($F))
// arg i8: char[32]
// arg u8: uchar[32]
// arg i16: short[32]
// arg u16: ushort[32]
// arg i32: int[32]
// arg u32: uint[32]
// arg i64: long[32]
// arg u64: ulong[32]
// expect i8: a
// expect u8: a
// expect i16: a
// expect u16: a
// expect i32: a
// expect u32: a
// expect i64: a
// expect u64: a
