constant uint K[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0xfc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x6ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
};
constant uint H[8] = {
    0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u,
};
#define R(x, n) rotate((x), 32u - (n))
kernel void sha256(global const uchar *messages, global uchar *digests)
{
    uint me = get_global_id(0), w[16], s[8];
    for (uint i = 0; i < 8; i++) w[i] = as_uint(vload4(i, messages + 32 * me).wzyx);
    w[8] = 0x80000000u;
    for (uint i = 9; i < 15; i++) w[i] = 0;
    w[15] = 256;
    for (uint i = 0; i < 8; i++) s[i] = H[i];
    for (uint i = 0; i < 64; i++) {
        if (i >= 16) {
            uint x = w[(i + 1) & 15], y = w[(i + 14) & 15];
            w[i & 15] += (R(x, 7u) ^ R(x, 18u) ^ x >> 3) + w[(i + 9) & 15] + (R(y, 17u) ^ R(y, 19u) ^ y >> 10);
        }
        uint t = s[7] + (R(s[4], 6u) ^ R(s[4], 11u) ^ R(s[4], 25u)) + bitselect(s[6], s[5], s[4]) + K[i] + w[i & 15];
        uint u = (R(s[0], 2u) ^ R(s[0], 13u) ^ R(s[0], 22u)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + t; s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = t + u;
    }
    for (uint i = 0; i < 8; i++) vstore4(as_uchar4(s[i] + H[i]).wzyx, i, digests + 32 * me);
}
