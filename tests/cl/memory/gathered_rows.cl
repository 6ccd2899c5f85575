// Rows of 12 to 32 bytes at addresses without a constant stride: each lane loads pieces of 16 bytes. Inactive lanes
// have invalid addresses.

typedef struct { int a, b, c, d, e, f, g, h; } Node;

kernel void vectors(global const float4 *from, global const int *at, global float4 *out)
{
    size_t i = get_global_id(0);
    if (at[i] >= 0) out[i] = from[at[i]];
}
// run: vectors global=100 local=20
// arg from: float[400] = rand(-100, 100)
// arg at: int[100] = rand(-10, 99)
// arg out: float[400]
// expect out: _

// The last row ends with the buffer.
kernel void triples(global const float3 *from, global const int *at, global float *out)
{
    size_t i = get_global_id(0);
    float3 v = from[at[i]];
    out[i] = v.x + 2 * v.y + 4 * v.z;
}
// run: triples global=96 local=32
// arg from: float[256] = rand(-100, 100)
// arg at: int[96] = rand(0, 63)
// arg out: float[96]
// expect out: _

kernel void structures(global const Node *nodes, global const int *at, global int *out, int steps)
{
    size_t i = get_global_id(0);
    int n = at[i];
    int sum = 0;
    for (int step = 0; step < steps && n >= 0; step++) {
        global const Node *node = nodes + n;
        sum += node->a + node->b * node->c - node->d;
        n = step % 3 == (int)(i % 3) ? node->e : node->f;
        sum += node->g - node->h;
    }
    out[i] = sum;
}
// run: structures global=128 local=64
// arg nodes: int[512] = rand(-4, 63)
// arg at: int[128] = rand(-3, 63)
// arg out: int[128]
// arg steps: int = 9
// expect out: _

kernel void doubles(global const long4 *from, global const int *at, global long4 *out)
{
    size_t i = get_global_id(0);
    if (i & 2) out[i] = from[at[i]] * 3;
}
// run: doubles global=64 local=32
// arg from: long[256] = rand(-100, 100)
// arg at: int[64] = rand(0, 63)
// arg out: long[256]
// expect out: _

kernel void bytes(global const uchar16 *from, global const int *at, global uchar16 *out)
{
    size_t i = get_global_id(0);
    if (at[i] < 60) out[i] = from[at[i]] + (uchar16)(i);
}
// run: bytes global=64 local=32
// arg from: uchar[1024] = rand(0, 255)
// arg at: int[64] = rand(0, 63)
// arg out: uchar[1024]
// expect out: _

// No lane of a vector is active.
kernel void never(global const float4 *from, global const int *at, global float4 *out, int limit)
{
    size_t i = get_global_id(0);
    float4 v = (float4)(1);
    if (at[i] > limit) v = from[at[i] * 1000000];
    out[i] = v;
}
// run: never global=64 local=64
// arg from: float[256] = rand(-100, 100)
// arg at: int[64] = rand(0, 63)
// arg out: float[256]
// arg limit: int = 63
// expect out: _
