// Long runs of contiguous stores: complete, interrupted by stores to other memory, and by loads from the same memory.
// for: T = ulong
// for: N = 16
// build: -DV=$T$N

#define F(k) out[k] = v * (V)(k + 1);
#define F4(k) F(k) F(k + 1) F(k + 2) F(k + 3)
#define F16(k) F4(k) F4(k + 4) F4(k + 8) F4(k + 12)

// 19 vectors per work-item.
kernel void rows(global V *a, global V *out)
{
    size_t i = get_global_id(0);
    V v = a[i];
    out += i * 19;
    F16(0) F(16) F(17) F(18)
}
// run: rows global=19
// arg a: $T$N[19] = i
// arg out: $T$N[361]
// expect out: (i / 304 * 16 + i % 16) * (i / 16 % 19 + 1)

// A store to other memory intervenes.
kernel void two(global V *a, global V *out, global V *back)
{
    size_t i = get_global_id(0);
    V v = a[i];
    out += i * 16;
    back += i * 4;
#undef F
#define F(k) out[k] = v + (V)(k);
    F4(0) back[3] = v; F4(4) back[2] = v; F4(8) back[1] = v; F4(12) back[0] = v;
}
// run: two global=3
// arg a: $T$N[3] = i
// arg out: $T$N[48]
// arg back: $T$N[12]
// expect out: i / 256 * 16 + i % 16 + i / 16 % 16
// expect back: i / 64 * 16 + i % 16

// Each block of four vectors depends on the last vector of the previous block, loaded directly or through an alias.
kernel void read_again(global V *out, global const V *other)
{
    size_t i = get_global_id(0);
    out += i * 17;
    other += i * 17;
    V v = out[0];
#undef F
#define F(k) out[k + 1] = v + (V)(k + 1);
#define READ(from, k) v = from[k] - (V)((k) - 1);
    F4(0) READ(out, 4) F4(4) READ(other, 8) F4(8) READ(out, 12) F4(12)
}
// run: read_again global=2
// arg out: $T$N[34] = i / 272 * 100
// arg other: same out
// expect out if i % 272 < 16: i / 272 * 100
// expect out if i % 272 >= 16: i / 272 * 100 + i / 16 % 17 + (i / 16 % 17 - 1) / 4

// Other work-items read the local memory after a barrier. Only some work-items store.
kernel void shared(global V *a, global V *out, local V *rows)
{
    size_t l = get_local_id(0);
    V v = a[l];
#undef F
#define F(k) rows[l * 5 + k] = v + (V)(k);
    F4(0) F(4)
    barrier(CLK_LOCAL_MEM_FENCE);
    local const V *others = rows + (1 - l) * 5;
    global V *to = out + l * 21;
#undef F
#define F(k) to[k] = others[k];
    F4(0) F(4)
    to += 5;
    if (l) {
#undef F
#define F(k) to[k] = v + (V)(k);
        F16(0)
    }
}
// run: shared global=2 local=2
// arg a: $T$N[2] = i
// arg out: $T$N[42]
// arg rows: local 1280
// expect out if i % 336 < 80: 16 * (1 - i / 336) + i % 16 + i % 336 / 16
// expect out if i >= 416: 16 + i % 16 + (i - 416) / 16
