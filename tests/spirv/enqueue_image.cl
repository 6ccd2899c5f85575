// A block that captures an image, which is refused. Translated as enqueue.cl is, with optimisation.

kernel void reads(global float4 *out, read_only image2d_t image)
{
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[0] = read_imagef(image, (int2)(1, 2)); });
}
