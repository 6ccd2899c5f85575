// Invalid uses of images and samplers (OpenCL C 6.9, 6.15.15).
const sampler_t sampler = CLK_FILTER_NEAREST;
sampler_t bare = CLK_FILTER_NEAREST; // error: global sampler requires a const or constant address space qualifier
constant int flags = 16;
read_only image2d_t global_image; // error: can only be used as a function parameter
image2d_t returned(image2d_t a); // error: function return value of type
struct s { image2d_t a; }; // error: cannot be used to declare a structure or union field
struct t { sampler_t a; }; // error: cannot be used to declare a structure or union field
void pointer(image2d_t *a); // error: pointer to type
void wrong_access(write_only image2d_t a);
kernel void k(read_only image2d_t a, write_only image2d_t b, read_only image3d_t c, sampler_t s, read_only image1d_t d, read_only image2d_depth_t e)
{
    int2 at = (int2)(0);
    float4 x = read_imagef(a, s, at);
    image2d_t local_image = a; // error: can only be used as a function parameter
    sampler_t computed = at.x; // error: incompatible type
    read_imagef(b, s, at); // error: no matching function for call to 'read_imagef'
    write_imagef(a, at, x); // error: no matching function for call to 'write_imagef'
    read_imagef(a, s, (int4)(at, 0, 0)); // error: no matching function
    read_imagef(a, s, (float3)(0)); // error: no matching function
    read_imagef(a, (float2)(0)); // error: no matching function
    read_imagef(c, s, at); // error: no matching function
    read_imagei(e, s, at); // error: no matching function
    read_imagef(a, at, at); // error: no matching function
    read_imagef(at, s, at); // error: no matching function
    read_imagef(a); // error: too few arguments
    write_imagef(b, at, at); // error: no matching function
    get_image_depth(a); // error: no matching function
    get_image_height(d); // error: no matching function
    get_image_array_size(a); // error: no matching function
    a = a; // error: is not assignable
    &a; // error: taking the address
    s + 1; // error: invalid operands
    wrong_access(a); // error: passing
}
