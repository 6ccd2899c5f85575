// The size of images and samplers is left to the implementation (OpenCL C 6.3): a handle is as large as a pointer.
// requires: cl_khr_3d_image_writes

kernel void sizes(global uint *out)
{
    out[0] = sizeof(image2d_t);
    out[1] = sizeof(image3d_t);
    out[2] = sizeof(sampler_t);
    out[3] = sizeof(void *);
}
// run: sizes global=1
// arg out: uint[4]
// expect out: {8, 8, 8, 8}
