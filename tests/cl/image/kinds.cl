// An image of every kind is read at integer coordinates and written; writes outside of it have no effect.
// requires: images cl_khr_3d_image_writes
// build: -cl-std=CL1.2
// build: -cl-std=CL3.0

kernel void line(read_only image1d_t in, write_only image1d_t out)
{
    int x = get_global_id(0);
    write_imageui(out, x, read_imageui(in, x) + 1);
}
// run: line global=9
// arg in: image1d 7 RGBA UNSIGNED_INT8 = i * 9
// arg out: image1d 7 RGBA UNSIGNED_INT8
// expect out: in + 1

kernel void of_buffer(read_only image1d_buffer_t in, write_only image1d_buffer_t out)
{
    int x = get_global_id(0);
    write_imagei(out, x, read_imagei(in, x).yxwz);
}
// run: of_buffer global=6
// arg in: image1d_buffer 6 RG SIGNED_INT16 = i * 1000 - 5000
// arg out: image1d_buffer 6 RG SIGNED_INT16
// expect out: in[i ^ 1]

kernel void lines(read_only image1d_array_t in, write_only image1d_array_t out)
{
    int2 c = (int2)(get_global_id(0), get_global_id(1));
    write_imagei(out, c, -read_imagei(in, (int2)(c.x, 2 - c.y)));
}
// run: lines global=6x4
// arg in: image1d_array 5x3 R SIGNED_INT32 = i * 1000000 - 7
// arg out: image1d_array 5x3 R SIGNED_INT32
// expect out: -in[(2 - i / 5) * 5 + i % 5]

kernel void plane(read_only image2d_t in, write_only image2d_t out)
{
    int2 c = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, c.yx, read_imagef(in, c) * 2.0f);
}
// run: plane global=4x4
// arg in: image2d 4x3 RGBA FLOAT = i * 0.5 - 3
// arg out: image2d 3x4 RGBA FLOAT
// expect out: 2 * in[(i / 4 % 3 * 4 + i / 12) * 4 + i % 4]

kernel void planes(read_only image2d_array_t in, write_only image2d_array_t out)
{
    int4 c = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 77);
    write_imageui(out, c, read_imageui(in, c) ^ 0xf0f0);
}
// run: planes global=4x3x4
// arg in: image2d_array 4x2x3 RG UNSIGNED_INT16 = rand(0, 65535)
// arg out: image2d_array 4x2x3 RG UNSIGNED_INT16
// expect out: in ^ 0xf0f0

#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
kernel void volume(read_only image3d_t in, write_only image3d_t out)
{
    int4 c = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imagef(out, (int4)(c.z, c.y, c.x, 0), read_imagef(in, c));
}
// run: volume global=3x3x3
// arg in: image3d 3x2x3 R HALF_FLOAT = i * 0.25 - 2
// arg out: image3d 3x2x3 R HALF_FLOAT
// expect out: in[i % 3 * 6 + i / 3 % 2 * 3 + i / 6]
