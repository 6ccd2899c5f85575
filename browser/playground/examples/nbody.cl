// One time step of bodies that attract each other. The mass of a body is in w.
kernel void step(global const float4 *from, global float4 *to, global float4 *velocity, float dt, int n)
{
    int i = get_global_id(0);
    float4 self = from[i];
    float3 force = 0;
    for (int k = 0; k < n; k++) {
        float4 other = from[k];
        float3 d = other.xyz - self.xyz;
        float inverse = rsqrt(dot(d, d) + 0.01f);
        force += d * (other.w * inverse * inverse * inverse);
    }
    float3 v = velocity[i].xyz + force * dt;
    velocity[i] = (float4)(v, 0);
    to[i] = (float4)(self.xyz + v * dt, self.w);
}
