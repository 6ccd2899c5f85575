// Accesses past a sub-buffer, within its parent: undefined, but programs rely on drivers whose pointers are addresses.

kernel void keep(global uint *whole)
{
    whole[get_global_id(0)] = get_global_id(0) * 3;
}
// run: keep global=1024
// arg whole: uint[1024]
// expect whole: i * 3

kernel void fill(global uint *part)
{
    part[get_global_id(0)] = get_global_id(0) + 1;
}
// run: fill global=512
// arg part: same whole[256, 64]
// expect part: i + 1

kernel void copy(global uint *to, global const uint *from)
{
    to[get_global_id(0)] = from[get_global_id(0)];
}
// run: copy global=512
// arg to: uint[512]
// arg from: same whole[256, 64]
// expect to: i + 1

kernel void copy_whole(global uint *to, global const uint *from, global const uint *whole)
{
    to[get_global_id(0)] = from[get_global_id(0) & 63] * 0 + whole[get_global_id(0)];
}
// run: copy_whole global=1024
// arg to: uint[1024]
// arg from: same whole[256, 64]
// arg whole: same whole
// expect to if i < 256 || i >= 768: i * 3
// expect to if i >= 256 && i < 768: i - 255
