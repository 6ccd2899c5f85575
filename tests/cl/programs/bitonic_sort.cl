// Bitonic sort of one group in local memory: barriers in two nested loops.

kernel void sort(global uint *data, local uint *l)
{
    uint k = get_local_id(0), n = get_local_size(0);
    l[k] = data[get_global_id(0)];
    for (uint size = 2; size <= n; size <<= 1)
        for (uint stride = size >> 1; stride > 0; stride >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint other = k ^ stride;
            if (other > k) {
                bool up = (k & size) == 0;
                if ((l[k] > l[other]) == up) {
                    uint t = l[k];
                    l[k] = l[other];
                    l[other] = t;
                }
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = l[k];
}
// run: sort global=128 local=64
// arg data: uint[128] = i * 37 % 64 * 3 + i / 64
// arg l: local 256
// expect data: i % 64 * 3 + i / 64
