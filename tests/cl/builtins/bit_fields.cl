// Bit fields and reversal (cl_khr_extended_bit_ops), for every integer type.
// for: T = char, uchar, short, ushort, int, uint, long, ulong
// build:
// build: -DV=1

#ifndef cl_khr_extended_bit_ops
#error the extension's macro is missing
#endif

kernel void k(global const T *a, global const T *b, global const uint *offset, global const uint *count, global T *out)
{
    size_t i = get_global_id(0);
    global T *o = out + 4 * i;
#ifdef V
    // Each lane of vectors.
    typedef T __attribute__((ext_vector_type(4))) T4;
    T4 x = (T4)(1, a[i], 2, 3), y = (T4)(7, b[i], 8, 9);
    o[0] = bitfield_insert(x, y, offset[i], count[i]).y;
    o[1] = (T)bitfield_extract_signed(x, offset[i], count[i]).y;
    o[2] = (T)bitfield_extract_unsigned(x, offset[i], count[i]).y;
    o[3] = bit_reverse(x).y;
#else
    o[0] = bitfield_insert(a[i], b[i], offset[i], count[i]);
    o[1] = (T)bitfield_extract_signed(a[i], offset[i], count[i]);
    o[2] = (T)bitfield_extract_unsigned(a[i], offset[i], count[i]);
    o[3] = bit_reverse(a[i]);
#endif
}
// run: k global=48
// arg a: $T[48] = rand(min_of($T), max_of($T))
// arg b: $T[48] = rand(min_of($T), max_of($T))
// arg offset: uint[48] = i * 5 % (bits_of($T) + 1)
// arg count: uint[48] = i % 3 == 0 ? bits_of($T) - i * 5 % (bits_of($T) + 1) : (i * 7 % (bits_of($T) - i * 5 % (bits_of($T) + 1) + 1))
// arg out: $T[192]
// expect out if i % 4 == 0: (a[i / 4] & ~(((1 << count[i / 4]) - 1) << offset[i / 4])) | ((b[i / 4] & ((1 << count[i / 4]) - 1)) << offset[i / 4])
// expect out if i % 4 == 1: (((a[i / 4] >> offset[i / 4]) & ((1 << count[i / 4]) - 1)) ^ ((1 << count[i / 4]) >> 1)) - ((1 << count[i / 4]) >> 1)
// expect out if i % 4 == 2: (a[i / 4] >> offset[i / 4]) & ((1 << count[i / 4]) - 1)
// expect out if i % 4 == 3: sum(j, 0, 64, j < bits_of($T) ? ((a[i / 4] >> j) & 1) << (bits_of($T) - 1 - j) : 0)
