// Long runs of contiguous stores, which some devices do in loops: complete, with remainders, and with fixed order.
// for: T = ulong
// for: N = 16
// build: -DV=$T$N

#define F(k) out[k] = v * (V)(k + 1);
#define F4(k) F(k) F(k + 1) F(k + 2) F(k + 3)
#define F16(k) F4(k) F4(k + 4) F4(k + 8) F4(k + 12)
#define F128 F16(0) F16(16) F16(32) F16(48) F16(64) F16(80) F16(96) F16(112)

// 131 vectors per work-item; 130 of them are a multiple of 64 words.
kernel void rows(global V *a, global V *out)
{
    size_t i = get_global_id(0);
    V v = a[i];
    out += i * 131;
    F128 F(128) F(129) F(130)
}
// run: rows global=19
// arg a: $T$N[19] = i
// arg out: $T$N[2489]
// expect out: (i / 2096 * 16 + i % 16) * (i / 16 % 131 + 1)

// A store to other memory intervenes.
kernel void two(global V *a, global V *out, global V *back)
{
    size_t i = get_global_id(0);
    V v = a[i];
    out += i * 128;
    back += i * 8;
#undef F
#define F(k) out[k] = v + (V)(k);
    F16(0) back[7] = v; F16(16) back[6] = v; F16(32) back[5] = v; F16(48) back[4] = v;
    F16(64) back[3] = v; F16(80) back[2] = v; F16(96) back[1] = v; F16(112) back[0] = v;
}
// run: two global=3
// arg a: $T$N[3] = i
// arg out: $T$N[384]
// arg back: $T$N[24]
// expect out: i / 2048 * 16 + i % 16 + i / 16 % 128
// expect back: i / 128 * 16 + i % 16

// Each block of sixteen vectors depends on the last vector of the previous block, loaded directly or through an alias.
kernel void read_again(global V *out, global const V *other)
{
    size_t i = get_global_id(0);
    out += i * 129;
    other += i * 129;
    V v = out[0];
#undef F
#define F(k) out[k + 1] = v + (V)(k + 1);
#define READ(from, k) v = from[k] - (V)((k) - 1);
    F16(0) READ(out, 16) F16(16) READ(other, 32) F16(32) READ(out, 48) F16(48) READ(other, 64)
    F16(64) READ(out, 80) F16(80) READ(other, 96) F16(96) READ(out, 112) F16(112)
}
// run: read_again global=2
// arg out: $T$N[258] = i / 2064 * 100
// arg other: same out
// expect out if i % 2064 < 16: i / 2064 * 100
// expect out if i % 2064 >= 16: i / 2064 * 100 + i / 16 % 129 + (i / 16 % 129 - 1) / 16

// Other work-items read the local memory after a barrier. Only some work-items store.
kernel void shared(global V *a, global V *out, local V *rows)
{
    size_t l = get_local_id(0);
    V v = a[l];
#undef F
#define F(k) rows[l * 20 + k] = v + (V)(k);
    F16(0) F4(16)
    barrier(CLK_LOCAL_MEM_FENCE);
    local const V *others = rows + (1 - l) * 20;
    global V *to = out + l * 148;
#undef F
#define F(k) to[k] = others[k];
    F16(0) F4(16)
    to += 20;
    if (l) {
#undef F
#define F(k) to[k] = v + (V)(k);
        F128
    }
}
// run: shared global=2 local=2
// arg a: $T$N[2] = i
// arg out: $T$N[296]
// arg rows: local 5120
// expect out if i % 2368 < 320: 16 * (1 - i / 2368) + i % 16 + i % 2368 / 16
// expect out if i >= 2688: 16 + i % 16 + (i - 2688) / 16
