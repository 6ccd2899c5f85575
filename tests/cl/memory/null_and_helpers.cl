// A null argument that a helper of the kernel does not use. The helper is not inlined.
#define STEP(i) x = x * 1664525u + (y ^ i); y ^= x >> 7; y += x << 3 & i * 77u; x ^= y << 13;
#define FOUR(i) STEP(i) STEP((i + 5u)) STEP((i * 3u)) STEP((i ^ 9u))

uint churn(uint x, uint y)
{
    FOUR(1u) FOUR(2u) FOUR(3u) FOUR(4u)
    return x + y * 0u;
}

kernel void k(global const uint *none, global uint *out)
{
    uint id = get_global_id(0);
    out[id] = churn(id, 3u) - churn(id, 3u) + churn(id + 1u, 2u) - churn(id + 1u, 2u) + (none ? 1u : 7u);
}
// run: k global=16
// arg none: null
// arg out: uint[16]
// expect out: 7
