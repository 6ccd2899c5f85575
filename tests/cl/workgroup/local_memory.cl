// __local variables and arguments: arrays in the kernel, several arguments, structures, two-dimensional tiles.

kernel void reverse(global int *a, local int *l)
{
    int k = get_local_id(0), n = get_local_size(0);
    l[k] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = l[n - 1 - k];
}
// run: reverse global=64 local=16
// arg a: int[64] = i
// arg l: local 64
// expect a: i / 16 * 16 + 15 - i % 16

#define TILE 8
kernel void transpose(global const float *in, global float *out, int width, int height)
{
    local float tile[TILE][TILE + 1];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[(get_group_id(1) * TILE + y) * width + get_group_id(0) * TILE + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * TILE + y) * height + get_group_id(1) * TILE + x] = tile[x][y];
}
// run: transpose global=16x24 local=8x8
// arg in: float[384] = i
// arg out: float[384]
// arg width: int = 16
// arg height: int = 24
// expect out: in[i % 24 * 16 + i / 24]

typedef struct { int key; float value; } pair;
kernel void structures(global int *out, local pair *pairs, local float4 *vectors)
{
    local int shared;
    local pair single;
    int k = get_local_id(0), n = get_local_size(0);
    if (k == 0) {
        shared = 1000;
        single.key = 7;
        single.value = 0.5f;
    }
    pairs[k].key = k * 2;
    pairs[k].value = k * 0.5f;
    vectors[k] = (float4)(k, k + 1, k + 2, k + 3);
    barrier(CLK_LOCAL_MEM_FENCE);
    pair p = pairs[(k + 1) % n];
    out[get_global_id(0)] = shared + p.key + (int)(p.value * 2) + (int)vectors[(k + 2) % n].z + single.key + (int)(single.value * 4);
}
// run: structures global=16 local=8
// arg out: int[16]
// arg pairs: local 64
// arg vectors: local 128
// expect out: 1009 + (i + 1) % 8 * 3 + (i + 2) % 8 + 2
