// Invalid uses of cl_intel_subgroups and cl_intel_required_subgroup_size.
// requires: cl_intel_subgroups cl_intel_required_subgroup_size images

__attribute__((intel_reqd_sub_group_size(7))) kernel void size(global int *a) { a[0] = 0; } // error: subgroups of 7 work-items are not supported by this device
__attribute__((intel_reqd_sub_group_size(8, 1))) kernel void sizes(global int *a) { a[0] = 0; } // error: 'intel_reqd_sub_group_size' attribute requires exactly 1 argument

kernel void blocks(global uint *a, global const uint *b, local uint *c, global float *d, read_only image2d_t image)
{
    a[0] = intel_sub_group_block_read(c); // error: no matching function for call to 'intel_sub_group_block_read'
    a[1] = intel_sub_group_block_read(d); // error: no matching function for call to 'intel_sub_group_block_read'
    intel_sub_group_block_write(b, a[0]); // error: no matching function for call to 'intel_sub_group_block_write'
    intel_sub_group_block_write(image, (int2)(0, 0), a[0]); // error: no matching function for call to 'intel_sub_group_block_write'
    a[2] = intel_sub_group_shuffle_down(a[0], 1u); // error: too few arguments to function call 'intel_sub_group_shuffle_down'
}
