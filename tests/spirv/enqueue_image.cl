// Blocks that capture images and samplers. icd/tests/abi_enqueue.rs builds this source, and the module
// enqueue_image.spv. The module is translated as enqueue.cl is, with optimisation. At -O0, the translator fails.
//
// The kernels pass images to helper functions in both orders, to blocks as captured variables, and to children of
// children. These have other parameter indices.

constant sampler_t fixed = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

#ifdef __clang__
// clang 15 crashes if a block captures a sampler variable.
constant sampler_t own = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#endif

void add(global int *out, read_only image1d_t a, read_only image1d_t b, sampler_t given)
{
#ifndef __clang__
    const sampler_t own = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#endif
    void (^read)(local void *) = ^(local void *m) {
        int i = (int)get_global_id(0);
        local float *own_memory = m;
        own_memory[0] = read_imagef(b, given, i + 1.0f).x;
        atomic_add(out + i, (int)(0.25f + 100 * read_imagef(a, fixed, i).x + 10 * read_imagef(a, own, -5).x + own_memory[0] + 1000 * get_image_width(b)));
    };
    // Both commands use the same block.
    for (int i = 0; i < 2; i++)
        if (enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(2, 1), read, 4) != CLK_SUCCESS)
            out[0] = -1;
}

kernel void start(global int *out, read_only image1d_t a, sampler_t given, write_only image2d_t c, read_only image1d_t b)
{
    add(out, a, b, given);
    add(out + 2, b, a, given);
    int2 place = (int2)(1, 0);
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{
        write_imagef(c, place, read_imagef(b, 1));
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{
            write_imagef(c, (int2)(get_image_width(c) - 1, 2), read_imagef(a, given, 1.0f));
        });
    });
}
