// One step of an N-body simulation in float4 with tiles in local memory; collinear masses, so that the sums are simple.

kernel void forces(global const float4 *position, global float4 *acceleration, local float4 *tile, float softening)
{
    int k = get_local_id(0), n = get_local_size(0);
    float4 me = position[get_global_id(0)];
    float3 sum = 0.0f;
    for (int t = 0; t < (int)get_num_groups(0); t++) {
        tile[k] = position[t * n + k];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < n; j++) {
            float3 d = tile[j].xyz - me.xyz;
            float r2 = dot(d, d) + softening;
            float inverse = rsqrt(r2);
            sum += d * (tile[j].w * inverse * inverse * inverse);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    acceleration[get_global_id(0)] = (float4)(sum, 0.0f);
}
// run: forces global=32 local=8
// arg position: float4[32] = {i / 4, 0, 0, 1}
// arg acceleration: float4[32]
// arg tile: local 128
// arg softening: float = 1
// expect acceleration within 1e-4: {sum(j, 0, 32, (j - i / 4) / pow((j - i / 4) * (j - i / 4) + 1, 1.5)), 0, 0, 0}
