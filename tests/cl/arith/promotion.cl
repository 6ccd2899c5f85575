// The usual arithmetic conversions: small types become int, mixed signs become unsigned, long wins over uint.

kernel void mixed(global const uchar *u8, global const char *i8, global const uint *u32, global const int *i32, global long *out)
{
    size_t i = get_global_id(0);
    global long *o = out + i * 10;
    o[0] = u8[i] + u8[i];           // int: no wrap at 256
    o[1] = i8[i] * i8[i];           // int
    o[2] = (uchar)(u8[i] + u8[i]);  // wrapped by the cast
    o[3] = i32[i] + u32[i];         // uint
    o[4] = (long)i32[i] + u32[i];   // long
    o[5] = i8[i] + u32[i];          // uint, the char sign-extended
    o[6] = i32[i] < u32[i];         // compared as uint
    o[7] = -u32[i];                 // uint
    o[8] = ~u8[i];                  // int
    o[9] = (i8[i] < 0) - (i8[i] > 0);
}
// requires: int64
// run: mixed global=8
// arg u8: uchar[8] = {0, 1, 127, 128, 200, 255, 3, 77}
// arg i8: char[8] = {0, -1, 127, -128, 100, -100, 3, -77}
// arg u32: uint[8] = {0, 1, 4294967295, 2147483648, 5, 10, 100, 4000000000}
// arg i32: int[8] = {-1, 1, -5, 2147483647, -2147483648, 10, -100, 0}
// arg out: long[80]
// expect out if i % 10 == 0: u8[i / 10] * 2
// expect out if i % 10 == 1: i8[i / 10] * i8[i / 10]
// expect out if i % 10 == 2: uchar(u8[i / 10] * 2)
// expect out if i % 10 == 3: uint(i32[i / 10] + u32[i / 10])
// expect out if i % 10 == 4: i32[i / 10] + u32[i / 10]
// expect out if i % 10 == 5: uint(i8[i / 10] + u32[i / 10])
// expect out if i % 10 == 6: uint(i32[i / 10]) < u32[i / 10]
// expect out if i % 10 == 7: uint(-u32[i / 10])
// expect out if i % 10 == 8: ~u8[i / 10]
// expect out if i % 10 == 9: (i8[i / 10] < 0) - (i8[i / 10] > 0)
