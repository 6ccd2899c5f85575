// Images that a kernel reads and writes, and one image that is both a read-only and a write-only argument.
// requires: images
// build: -cl-std=CL3.0

kernel void step(read_write image2d_t image)
{
    int2 c = (int2)(get_global_id(0), get_global_id(1));
    for (int k = 0; k < 3; k++) {
        write_imageui(image, c, read_imageui(image, c) + (uint4)(1, 2, 3, 4));
    }
}
// run: step global=4x4
// arg image: image2d 4x4 RGBA UNSIGNED_INT16 = i * 7
// expect image: image + 3 * (i % 4 + 1)

// Within a work-group, the fence makes writes visible.
kernel void reverse(read_write image1d_t image)
{
    int x = get_local_id(0);
    write_imagef(image, x, x * 0.5f);
    work_group_barrier(CLK_IMAGE_MEM_FENCE);
    float other = read_imagef(image, 15 - x).x;
    work_group_barrier(CLK_IMAGE_MEM_FENCE);
    write_imagef(image, x, other);
}
// run: reverse global=16 local=16
// arg image: image1d 16 R FLOAT
// expect image: (15 - i) * 0.5

kernel void both(read_only image2d_array_t from, write_only image2d_array_t to)
{
    int4 c = (int4)(get_global_id(0), get_global_id(1), 0, 0);
    write_imagei(to, (int4)(c.xy, 1, 0), read_imagei(from, c) * 2);
}
// run: both global=4x2
// arg from: image2d_array 4x2x2 R SIGNED_INT32 = i - 3
// arg to: same from
// expect from: i < 8 ? from : 2 * from[i - 8]
