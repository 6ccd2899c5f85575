// A variable of the largest size that the device permits.
// build: -cl-std=CL3.0
// requires: wgcl

global uchar big[64 * 1024 * 1024];

kernel void fill(void)
{
    uint i = get_global_id(0);
    big[i * 65521] = i;
}
// run: fill global=1024

kernel void check(global uint *out, uint last)
{
    uint i = get_global_id(0);
    out[i] = big[i * 65521] + big[i * 65521 + 1];
    if (i == 0)
        big[last] = 200;
    if (i == 0)
        out[1024] = big[last];
}
// run: check global=1024
// arg out: uint[1025]
// arg last: uint = 67108863
// expect out: i == 1024 ? 200 : i & 255
