kernel void philox(global uint4 *out, uint2 key)
{
    uint4 c = (uint4)(get_global_id(0), 0, 0, 0);
    for (int i = 0; i < 10; i++) {
        c = (uint4)(mul_hi(c.z, 0xCD9E8D57u) ^ c.y ^ key.x, c.z * 0xCD9E8D57u, mul_hi(c.x, 0xD2511F53u) ^ c.w ^ key.y, c.x * 0xD2511F53u);
        key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
    }
    out[get_global_id(0)] = c;
}
