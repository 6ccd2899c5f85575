// Elements are packed with alpha in the highest bits and red in the lowest (cl_ext_image_unorm_int_2_101010).
// requires: images cl_ext_image_unorm_int_2_101010
// build: -cl-std=CL3.0

#ifndef __opencl_c_ext_image_unorm_int_2_101010
#error the macro is missing
#endif

kernel void load(read_only image1d_t in, global float4 *out, global int *type)
{
    out[get_global_id(0)] = read_imagef(in, (int)get_global_id(0));
    type[0] = get_image_channel_data_type(in) == CLK_UNORM_INT_2_101010_EXT;
}
// run: load global=5
// arg in: image1d 5 ABGR UNORM_INT_2_101010 = i * 900000007 + 77
// arg out: float4[5]
// arg type: int[1]
// expect out within 2 ulp: i % 4 == 3 ? (in[i / 4] >> 30) / 3.0 : (in[i / 4] >> i % 4 * 10 & 1023) / 1023.0
// expect type: 1

kernel void store(global const float4 *in, write_only image1d_t out) { write_imagef(out, (int)get_global_id(0), in[get_global_id(0)]); }
// run: store global=3
// arg in: float4[3] = {0, 0.25, 1, 1, 1, 2, -1, 0.3, inf, 0.5, 0.125, 0.6}
// arg out: image1d 3 ABGR UNORM_INT_2_101010
// expect out: {0xfff40000, 0x400fffff, 0x880803ff}
