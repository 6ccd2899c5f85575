// Private arrays with indices that are periodic in the counter of a long loop. On CPUs, the loop is unrolled by the
// period, and divided at the constants with which the counter is compared.

kernel void hash(global const uint *in, global uint *out)
{
    size_t id = get_global_id(0);
    uint w[16], s = 1;
    for (int i = 0; i < 16; i++) w[i] = in[16 * id + i];
    for (int i = 0; i < 512; i++) {
        if (i >= 16) w[i & 15] += rotate(w[(i + 14) & 15], 3u) ^ w[(i + 9) & 15];
        if (i < 256) s = rotate(s ^ w[i & 15], 5u) + i; else s = (s | w[(3 * i + 1) & 15]) - i * s;
    }
    out[id] = s;
}
// run: hash global=32 local=16
// arg in: uint[512] = rand(0, 100000)
// arg out: uint[32]
// expect out: _

// The amounts of shifts, and a branch, depend on the counter.
kernel void amounts(global const uint *in, global uint *out)
{
    size_t id = get_global_id(0);
    uint w[4], s = 1;
    for (int i = 0; i < 4; i++) w[i] = in[4 * id + i];
    for (uint i = 0; i < 1024; i++) {
        s += w[i & 3] >> (i >> 6);
        w[(i ^ 1) & 3] = s;
        if (i % 5 == 2) s ^= 0x55;
    }
    out[id] = s;
}
// run: amounts global=32 local=16
// arg in: uint[128] = rand(0, 100000)
// arg out: uint[32]
// expect out: _

// The counter wraps around in a narrow type, starts at another number, and is compared with a number between periods.
kernel void narrow(global const uint *in, global uint *out)
{
    size_t id = get_global_id(0);
    uint w[8], s = 1;
    for (int i = 0; i < 8; i++) w[i] = in[8 * id + i];
    for (uint i = 8; i < 1032; i++) {
        w[(uchar)(i + 250) & 7] ^= s;
        s = s * 3 + w[(uint)(uchar)(i * 3) & 7] + (i > 99 ? 1 : 2);
    }
    for (ulong i = 0; i < 1024; i++) {
        s = s * 5 + w[(i << 1) & 6] + w[(i + 3) & 7] + (uint)(i >> 3);
        w[i & 7] = s;
    }
    out[id] = s + w[3];
}
// run: narrow global=32 local=16
// arg in: uint[256] = rand(0, 100000)
// arg out: uint[32]
// expect out: _
