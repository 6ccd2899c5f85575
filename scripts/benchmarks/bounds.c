/* Kernels of the benchmark, written by hand for one thread with vectors of the processor. `scripts/bench --bounds`
 * compiles this file with `cc -O3 -march=native` and compares wgcl with it (bounds.py). The types use the vector
 * extension of GCC and Clang, so that each operator is one instruction of the widest vectors. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define LANES 16
#else
#define LANES 8
#endif

typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef uint32_t Words __attribute__((vector_size(4 * LANES)));
/* The same vectors at any address of an element. */
typedef float LooseFloats __attribute__((vector_size(4 * LANES), aligned(4)));
typedef uint32_t LooseWords __attribute__((vector_size(4 * LANES), aligned(4)));

static Floats load(const float *from) { return (Floats)*(const LooseFloats *)from; }
static void store(float *to, Floats value) { *(LooseFloats *)to = (LooseFloats)value; }
static Floats splat(float value) { return (Floats){0} + value; }

int lanes(void) { return LANES; }

/* `steps` times 12 independent multiply-adds of vectors: enough for their latency, and few enough for 16 registers.
 * Returns a value that depends on all of them. */
float peak(size_t steps) {
    Floats sums[12];
    for (int i = 0; i < 12; i++) sums[i] = splat(i * 0.01f);
    Floats factor = splat(0.999f), term = splat(0.001f);
    for (size_t step = 0; step < steps; step++) {
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++) sums[i] = sums[i] * factor + term;
    }
    for (int i = 1; i < 12; i++) sums[0] += sums[i];
    return sums[0][0];
}

void triad(const float *restrict a, const float *restrict b, float *restrict c, size_t count) {
    for (size_t i = 0; i < count; i += LANES) store(c + i, load(a + i) + 3.0f * load(b + i));
}

void sum(const float *values, float *result, size_t count) {
    Floats sums[8] = {0};
    for (size_t i = 0; i < count; i += 8 * LANES) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) sums[k] += load(values + i + k * LANES);
    }
    for (int k = 1; k < 8; k++) sums[0] += sums[k];
    float total = 0;
    for (int lane = 0; lane < LANES; lane++) total += sums[0][lane];
    *result = total;
}

/* The exclusive prefix sum. */
void scan(const uint32_t *restrict from, uint32_t *restrict to, size_t count) {
    Words before = {0}, zero = {0};
    for (size_t i = 0; i < count; i += LANES) {
        Words own = (Words)*(const LooseWords *)(from + i), value = own;
#if LANES == 16
        value += __builtin_shufflevector(zero, value, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
        value += __builtin_shufflevector(zero, value, 0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
        value += __builtin_shufflevector(zero, value, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
        value += __builtin_shufflevector(zero, value, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        Words total = __builtin_shufflevector(value, value, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15);
#else
        value += __builtin_shufflevector(zero, value, 0, 8, 9, 10, 11, 12, 13, 14);
        value += __builtin_shufflevector(zero, value, 0, 1, 8, 9, 10, 11, 12, 13);
        value += __builtin_shufflevector(zero, value, 0, 1, 2, 3, 8, 9, 10, 11);
        Words total = __builtin_shufflevector(value, value, 7, 7, 7, 7, 7, 7, 7, 7);
#endif
        *(LooseWords *)(to + i) = (LooseWords)(value - own + before);
        before += total;
    }
}

/* Radix sort in three passes of 11 bits. `other` has space for the keys twice. */
void sort(const uint32_t *from, uint32_t *keys, uint32_t *other, size_t count) {
    static uint32_t places[3][2048];
    memset(places, 0, sizeof places);
    for (size_t i = 0; i < count; i++)
        for (int pass = 0; pass < 3; pass++) places[pass][from[i] >> 11 * pass & 2047]++;
    for (int pass = 0; pass < 3; pass++) {
        uint32_t before = 0;
        for (int digit = 0; digit < 2048; digit++) {
            uint32_t here = places[pass][digit];
            places[pass][digit] = before;
            before += here;
        }
    }
    const uint32_t *source = from;
    uint32_t *targets[3] = {other, other + count, keys};
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < count; i++) targets[pass][places[pass][source[i] >> 11 * pass & 2047]++] = source[i];
        source = targets[pass];
    }
}

static Words rotate(Words x, int by) { return x >> by | x << (32 - by); }

/* SHA-256 of messages of 32 bytes. `constants` are the 64 round constants, then the 8 initial values. */
void sha256(const uint32_t *messages, uint32_t *digests, const uint32_t *constants, size_t count) {
    for (size_t first = 0; first < count; first += LANES) {
        Words w[16] = {0}, s[8];
        for (int lane = 0; lane < LANES; lane++)
            for (int i = 0; i < 8; i++) w[i][lane] = __builtin_bswap32(messages[8 * (first + lane) + i]);
        w[8] += 0x80000000u;
        w[15] += 256;
        for (int i = 0; i < 8; i++) s[i] = (Words){0} + constants[64 + i];
        Words a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma GCC unroll 64
        for (int i = 0; i < 64; i++) {
            if (i >= 16) {
                Words x = w[(i + 1) & 15], y = w[(i + 14) & 15];
                w[i & 15] += (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[(i + 9) & 15] + (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
            }
            Words t = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i & 15];
            Words u = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
            h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
        }
        s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
        for (int lane = 0; lane < LANES; lane++)
            for (int i = 0; i < 8; i++) digests[8 * (first + lane) + i] = __builtin_bswap32(s[i][lane]);
    }
}

static Floats inverse_root(Floats x) {
#if defined(__AVX512F__)
    Floats y = (Floats)_mm512_rsqrt14_ps((__m512)x);
#elif defined(__AVX__)
    Floats y = (Floats)_mm256_rsqrt_ps((__m256)x);
#else
    Floats y;
    for (int lane = 0; lane < LANES; lane++) y[lane] = 1 / sqrtf(x[lane]);
    return y;
#endif
    return y * (1.5f - 0.5f * x * y * y);
}

/* Forces between `count` bodies of (x, y, z, mass). */
void nbody(const float *bodies, float *forces, size_t count) {
    enum { PER_STEP = 2 };
    for (size_t first = 0; first < count; first += PER_STEP * LANES) {
        Floats x[PER_STEP], y[PER_STEP], z[PER_STEP], fx[PER_STEP] = {0}, fy[PER_STEP] = {0}, fz[PER_STEP] = {0};
        for (int k = 0; k < PER_STEP; k++)
            for (int lane = 0; lane < LANES; lane++) {
                const float *body = bodies + 4 * (first + k * LANES + lane);
                x[k][lane] = body[0], y[k][lane] = body[1], z[k][lane] = body[2];
            }
        for (size_t i = 0; i < count; i++) {
            const float *other = bodies + 4 * i;
#pragma GCC unroll 2
            for (int k = 0; k < PER_STEP; k++) {
                Floats dx = other[0] - x[k], dy = other[1] - y[k], dz = other[2] - z[k];
                Floats inverse = inverse_root(dx * dx + dy * dy + dz * dz + 0.01f), scale = other[3] * inverse * inverse * inverse;
                fx[k] += dx * scale, fy[k] += dy * scale, fz[k] += dz * scale;
            }
        }
        for (int k = 0; k < PER_STEP; k++)
            for (int lane = 0; lane < LANES; lane++) {
                float *force = forces + 4 * (first + k * LANES + lane);
                force[0] = fx[k][lane], force[1] = fy[k][lane], force[2] = fz[k][lane], force[3] = 0;
            }
    }
}

/* A 3 x 3 convolution of `channels` planes of (n + 2) rows of n + 4 floats, with a bias and a maximum with 0. n is a
 * multiple of 64. */
void convolution(float *out, const float *in, const float *weights, const float *bias, int channels, int n) {
    /* 16 sums for 32 registers, or 8 sums for 16 registers. */
    enum { WIDE = LANES / 4, OUTPUTS = 4, BLOCK = WIDE * LANES };
    for (int channel = 0; channel < channels; channel += OUTPUTS)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x += BLOCK) {
                Floats sums[OUTPUTS][WIDE];
                for (int k = 0; k < OUTPUTS; k++)
                    for (int i = 0; i < WIDE; i++) sums[k][i] = splat(bias[channel + k]);
                for (int c = 0; c < channels; c++) {
                    const float *plane = in + ((size_t)c * (n + 2) + y) * (n + 4) + x, *weight = weights + (channel * channels + c) * 9;
#pragma GCC unroll 9
                    for (int tap = 0; tap < 9; tap++) {
                        Floats values[WIDE];
#pragma GCC unroll 8
                        for (int i = 0; i < WIDE; i++) values[i] = load(plane + tap / 3 * (n + 4) + tap % 3 + i * LANES);
#pragma GCC unroll 4
                        for (int k = 0; k < OUTPUTS; k++)
#pragma GCC unroll 8
                            for (int i = 0; i < WIDE; i++) sums[k][i] += values[i] * weight[k * channels * 9 + tap];
                    }
                }
                for (int k = 0; k < OUTPUTS; k++)
                    for (int i = 0; i < WIDE; i++)
                        for (int lane = 0; lane < LANES; lane++) {
                            float value = sums[k][i][lane];
                            out[((size_t)(channel + k) * n + y) * n + x + i * LANES + lane] = value > 0 ? value : 0;
                        }
            }
}

/* A sparse matrix (CSR) times a vector. */
void spmv(const uint32_t *starts, const uint32_t *columns, const float *values, const float *x, float *y, size_t rows) {
    for (size_t row = 0; row < rows; row++) {
        uint32_t i = starts[row], end = starts[row + 1];
        float even = 0, odd = 0;
        for (; i + 2 <= end; i += 2) {
            even += values[i] * x[columns[i]];
            odd += values[i + 1] * x[columns[i + 1]];
        }
        if (i < end) even += values[i] * x[columns[i]];
        y[row] = even + odd;
    }
}
