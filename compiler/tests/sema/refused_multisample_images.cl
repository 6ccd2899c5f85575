// Invalid uses of multisample images (cl_khr_gl_msaa_sharing).
kernel void k(read_only image2d_msaa_t a, read_only image2d_array_msaa_t b, read_only image2d_msaa_depth_t c, write_only image2d_msaa_t d,
    read_only image2d_t e, sampler_t s)
{
    int2 at = (int2)(0);
    int4 layer = (int4)(0);
    float4 x = read_imagef(a, at, 0) + read_imagef(b, layer, 0);
    read_imagef(a, at); // error: no matching function for call to 'read_imagef'
    read_imagef(a, s, at); // error: no matching function
    read_imagef(a, layer, 0); // error: no matching function
    read_imagef(b, at, 0); // error: no matching function
    read_imagef(a, (float2)(0), 0); // error: no matching function
    read_imagef(d, at, 0); // error: no matching function
    read_imagef(e, at, 0); // error: no matching function
    read_imagei(c, at, 0); // error: no matching function
    read_imageh(a, at, 0); // error: no matching function
    write_imagef(d, at, x); // error: no matching function for call to 'write_imagef'
    get_image_num_samples(e); // error: no matching function for call to 'get_image_num_samples'
    get_image_num_mip_levels(a); // error: no matching function
    get_image_depth(a); // error: no matching function
    get_image_array_size(a); // error: no matching function
    image2d_msaa_t local_image = a; // error: can only be used as a function parameter
}
