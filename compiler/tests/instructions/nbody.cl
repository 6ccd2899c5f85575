kernel void forces(global const float4 *body, global float4 *force)
{
    local float4 tile[64];
    uint me = get_global_id(0), lane = get_local_id(0);
    float4 mine = body[me], sum = 0.0f;
    for (uint first = 0; first < get_global_size(0); first += 64) {
        tile[lane] = body[first + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < 64; i++) {
            float4 away = tile[i] - mine;
            float mass = tile[i].w;
            away.w = 0;
            float inverse = rsqrt(dot(away, away) + 0.01f);
            sum += away * (mass * inverse * inverse * inverse);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    force[me] = sum;
}
