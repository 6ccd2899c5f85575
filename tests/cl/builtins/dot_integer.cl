// Dot products of four bytes, of vectors and packed, signed, unsigned and mixed (cl_khr_integer_dot_product).
// build:
// build: -cl-std=CL3.0

#ifndef cl_khr_integer_dot_product
#error the extension's macro is missing
#endif
#if __OPENCL_C_VERSION__ >= 300 && !(defined(__opencl_c_integer_dot_product_input_4x8bit) && defined(__opencl_c_integer_dot_product_input_4x8bit_packed))
#error a feature's macro is missing
#endif

kernel void k(global const uint *a, global const uint *b, global const int *c, global int *out)
{
    size_t i = get_global_id(0);
    global int *o = out + 16 * i;
    char4 x = as_char4(a[i]), y = as_char4(b[i]);
    uchar4 ux = as_uchar4(a[i]), uy = as_uchar4(b[i]);
    o[0] = dot(x, y);
    o[1] = dot(ux, uy);
    o[2] = dot(ux, y);
    o[3] = dot(x, uy);
    o[4] = dot_acc_sat(x, y, c[i]);
    o[5] = dot_acc_sat(ux, uy, (uint)c[i]);
    o[6] = dot_acc_sat(ux, y, c[i]);
    o[7] = dot_acc_sat(x, uy, c[i]);
    o[8] = dot_4x8packed_ss_int(a[i], b[i]);
    o[9] = dot_4x8packed_uu_uint(a[i], b[i]);
    o[10] = dot_4x8packed_us_int(a[i], b[i]);
    o[11] = dot_4x8packed_su_int(a[i], b[i]);
    o[12] = dot_acc_sat_4x8packed_ss_int(a[i], b[i], c[i]);
    o[13] = dot_acc_sat_4x8packed_uu_uint(a[i], b[i], c[i]);
    o[14] = dot_acc_sat_4x8packed_us_int(a[i], b[i], c[i]);
    o[15] = dot_acc_sat_4x8packed_su_int(a[i], b[i], c[i]);
}
// run: k global=12
// arg a: uint[12] = {0x01020304, 0x80808080, 0x80808080, 0x7f7f7f7f, 0xffffffff, 0xff00ff00, 0x80ff017f, 0, 0x12345678, 0xdeadbeef, 0x7f7f7f7f, 0x80808080}
// arg b: uint[12] = {0x05060708, 0x80808080, 0x7f7f7f7f, 0x7f7f7f7f, 0xffffffff, 0x00ff00ff, 0x017f80ff, 0xffffffff, 0x9abcdef0, 0xcafebabe, 0x80808080, 0xffffffff}
// arg c: int[12] = {1, 0x7fffffff, -0x80000000, 0x7fffff00, -1, 5, -5, 0, 1000, -1000, -0x7fffffff, 0x7ffffff0}
// arg out: int[192]
// expect out if i % 8 == 0: sum(j, 0, 4, char(a[i / 16] >> (8 * j)) * char(b[i / 16] >> (8 * j)))
// expect out if i % 8 == 1: sum(j, 0, 4, uchar(a[i / 16] >> (8 * j)) * uchar(b[i / 16] >> (8 * j)))
// expect out if i % 8 == 2: sum(j, 0, 4, uchar(a[i / 16] >> (8 * j)) * char(b[i / 16] >> (8 * j)))
// expect out if i % 8 == 3: sum(j, 0, 4, char(a[i / 16] >> (8 * j)) * uchar(b[i / 16] >> (8 * j)))
// expect out if i % 8 == 4: sat(int, c[i / 16] + sum(j, 0, 4, char(a[i / 16] >> (8 * j)) * char(b[i / 16] >> (8 * j))))
// expect out if i % 8 == 5: sat(uint, uint(c[i / 16]) + sum(j, 0, 4, uchar(a[i / 16] >> (8 * j)) * uchar(b[i / 16] >> (8 * j))))
// expect out if i % 8 == 6: sat(int, c[i / 16] + sum(j, 0, 4, uchar(a[i / 16] >> (8 * j)) * char(b[i / 16] >> (8 * j))))
// expect out if i % 8 == 7: sat(int, c[i / 16] + sum(j, 0, 4, char(a[i / 16] >> (8 * j)) * uchar(b[i / 16] >> (8 * j))))
