"""Arithmetic from physics and finance: forces, fractals, options, random numbers."""

import numpy as np

from .base import Workload, spread


class NBody(Workload):
    SOURCE = """
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
    }"""

    def count(self):
        return self.pick(1024, 32 << 10)

    def work(self):
        return self.count() ** 2 * 20, "GFLOP/s"

    def data(self):
        self.body = np.random.default_rng(3).uniform(-1, 1, (self.count(), 4)).astype(np.float32)
        self.buffers = self.buffer(self.body), self.buffer(np.zeros_like(self.body))

    def set_up(self):
        self.forces = self.kernel(self.program(self.SOURCE), "forces", *self.buffers)

    def twin(self):
        return [("nbody", (self.count() // 64, 1, 1), list(self.buffers), [])]

    def enqueue(self):
        self.launch(self.forces, (self.count(),), (64,))

    def check(self):
        force = self.fetch(self.buffers[1], self.body)
        body = self.body.astype(np.float64)
        for me in range(0, self.count(), self.count() // 16):
            away = body[:, :3] - body[me, :3]
            want = (away * (body[:, 3] * ((away**2).sum(axis=1) + 0.01) ** -1.5)[:, None]).sum(axis=0)
            if not np.allclose(force[me, :3], want, rtol=1e-3, atol=0.05):
                return False
        return True


class Mandelbrot(Workload):
    LIMIT = 256
    SOURCE = """
    kernel void mandelbrot(global int *out, float pixel, int limit)
    {
        int x = get_global_id(0), y = get_global_id(1);
        float cx = -2.0f + x * pixel, cy = -1.25f + y * pixel, zx = 0, zy = 0;
        int n = 0;
        while (n < limit && zx * zx + zy * zy <= 4) {
            float t = zx * zx - zy * zy + cx;
            zy = 2 * zx * zy + cy;
            zx = t;
            n++;
        }
        out[y * get_global_size(0) + x] = n;
    }"""

    def side(self):
        return self.pick(256, 4096)

    def work(self):
        return self.side() ** 2, "Gpixel/s"

    def data(self):
        self.out = np.zeros((self.side(), self.side()), np.int32)
        self.target = self.buffer(self.out)
        self.step = np.float32(2.5 / self.side())

    def set_up(self):
        self.mandelbrot = self.kernel(self.program(self.SOURCE), "mandelbrot", self.target, self.step, np.int32(self.LIMIT))

    def twin(self):
        groups = self.side() // 8
        return [("mandelbrot", (groups, groups, 1), [self.target], [self.step.view(np.uint32), self.LIMIT])]

    def enqueue(self):
        self.launch(self.mandelbrot, self.out.shape, (8, 8))

    def check(self):
        step = self.side() // 64
        result = self.fetch(self.target, self.out)[::step, ::step]
        axis = (np.arange(64) * step * 2.5 / self.side()).astype(np.float32)
        c = (axis - 2.0)[None, :] + 1j * (axis - 1.25)[:, None]
        z, count = np.zeros_like(c), np.zeros(c.shape, np.int32)
        for _ in range(self.LIMIT):
            alive = np.abs(z) <= 2
            count[alive] += 1
            z[alive] = z[alive] ** 2 + c[alive]
        # Single and double precision give different counts near the border.
        return np.count_nonzero(result != count) < count.size // 50


class BlackScholes(Workload):
    """Prices of European options: calls and puts."""

    RATE, VOLATILITY = 0.02, 0.3
    SOURCE = """
    float normal(float d)
    {
        float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
        float tail = 0.39894228f * exp(-0.5f * d * d)
            * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
        return d > 0 ? 1.0f - tail : tail;
    }
    kernel void price(global const float *spot, global const float *strike, global const float *years, global float *call, global float *put, float r, float v)
    {
        uint i = get_global_id(0);
        float s = spot[i], x = strike[i], t = years[i], root = sqrt(t);
        float d1 = (log(s / x) + (r + 0.5f * v * v) * t) / (v * root), d2 = d1 - v * root;
        float n1 = normal(d1), n2 = normal(d2), discounted = x * exp(-r * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }"""

    def count(self):
        return self.pick(64 << 10, 32 << 20)

    def work(self):
        return self.count(), "Goption/s"

    def data(self):
        random = np.random.default_rng(16)
        self.spot, self.strike, self.years = (random.uniform(*ends, self.count()).astype(np.float32) for ends in ((5, 30), (1, 100), (0.25, 10)))
        self.prices = np.zeros(self.count(), np.float32)
        self.buffers = [self.buffer(array) for array in (self.spot, self.strike, self.years, self.prices, self.prices)]
        self.constants = np.float32(self.RATE), np.float32(self.VOLATILITY)

    def set_up(self):
        self.price = self.kernel(self.program(self.SOURCE), "price", *self.buffers, *self.constants)

    def twin(self):
        return [("black_scholes", spread(self.count() // 64), self.buffers, [value.view(np.uint32) for value in self.constants])]

    def enqueue(self):
        self.launch(self.price, (self.count(),), (64,))

    def check(self):
        every = slice(None, None, max(1, self.count() >> 18))
        s, x, t = (array[every].astype(np.float64) for array in (self.spot, self.strike, self.years))
        root, v = np.sqrt(t), self.VOLATILITY
        d1 = (np.log(s / x) + (self.RATE + v * v / 2) * t) / (v * root)

        def normal(d):
            k = 1 / (1 + 0.2316419 * abs(d))
            tail = 0.39894228 * np.exp(-d * d / 2) * np.polyval([1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153, 0], k)
            return np.where(d > 0, 1 - tail, tail)

        n1, n2, discounted = normal(d1), normal(d1 - v * root), x * np.exp(-self.RATE * t)
        call, put = (self.fetch(buffer, self.prices)[every] for buffer in self.buffers[3:])
        return np.allclose(call, s * n1 - discounted * n2, atol=1e-4) and np.allclose(put, discounted * (1 - n2) - s * (1 - n1), atol=1e-4)


def philox(counter, key):
    """Philox 4x32-10 of Salmon and others, for arrays of counters (their first word; the others are 0)."""
    c = [counter.astype(np.uint64)] + [np.zeros_like(counter, np.uint64) for _ in range(3)]
    k0, k1 = key
    mask = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [q >> np.uint64(32) ^ c[1] ^ np.uint64(k0), q & mask, p >> np.uint64(32) ^ c[3] ^ np.uint64(k1), p & mask]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=1).astype(np.uint32)


class Philox(Workload):
    """Random numbers from a counter."""

    KEY = 0x12345678, 0x9ABCDEF0
    SOURCE = """
    kernel void philox(global uint4 *out, uint2 key)
    {
        uint4 c = (uint4)(get_global_id(0), 0, 0, 0);
        for (int i = 0; i < 10; i++) {
            c = (uint4)(mul_hi(c.z, 0xCD9E8D57u) ^ c.y ^ key.x, c.z * 0xCD9E8D57u, mul_hi(c.x, 0xD2511F53u) ^ c.w ^ key.y, c.x * 0xD2511F53u);
            key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
        }
        out[get_global_id(0)] = c;
    }"""

    def count(self):
        return self.pick(128 << 10, 32 << 20)

    def work(self):
        return self.count() * 4, "Gnumber/s"

    def data(self):
        self.out = np.zeros((self.count(), 4), np.uint32)
        self.target = self.buffer(self.out)

    def set_up(self):
        self.philox = self.kernel(self.program(self.SOURCE), "philox", self.target, np.array(self.KEY, np.uint32))

    def enqueue(self):
        self.launch(self.philox, (self.count(),), (64,))

    def check(self):
        sample = np.arange(0, self.count(), max(1, self.count() >> 16))
        return np.array_equal(self.fetch(self.target, self.out)[sample], philox(sample, self.KEY))


class MonteCarlo(Workload):
    """The price of an option from random paths, in double precision."""

    needs = ("cl_khr_fp64",)
    PATHS, STEPS = 32, 12
    SOURCE = """
    kernel void paths(global double *sums, double spot, double strike, double drift, double volatility)
    {
        uint state = (uint)get_global_id(0) * 2654435769u + 1u;
        double sum = 0;
        for (int path = 0; path < 32; path++) {
            // The sum of twelve uniform numbers is close to a normal one.
            double z = -6;
            for (int i = 0; i < 12; i++) {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                z += state * (1.0 / 4294967296.0);
            }
            sum += fmax(spot * exp(drift + volatility * z) - strike, 0.0);
        }
        sums[get_global_id(0)] = sum;
    }"""
    PARAMETERS = 100.0, 105.0, 0.03, 0.25

    def count(self):
        return self.pick(4 << 10, 1 << 20)

    def work(self):
        return self.count() * self.PATHS, "Gpath/s"

    def data(self):
        self.sums = np.zeros(self.count())
        self.target = self.buffer(self.sums)

    def set_up(self):
        self.paths = self.kernel(self.program(self.SOURCE), "paths", self.target, *map(np.float64, self.PARAMETERS))

    def enqueue(self):
        self.launch(self.paths, (self.count(),), (64,))

    def check(self):
        sample = np.arange(0, self.count(), max(1, self.count() >> 12))
        state = sample.astype(np.uint32) * np.uint32(2654435769) + np.uint32(1)
        spot, strike, drift, volatility = self.PARAMETERS
        want = np.zeros(sample.size)
        for _ in range(self.PATHS):
            z = np.full(sample.size, -6.0)
            for _ in range(self.STEPS):
                state = state ^ state << np.uint32(13)
                state = state ^ state >> np.uint32(17)
                state = state ^ state << np.uint32(5)
                z += state / 2**32
            want += np.maximum(spot * np.exp(drift + volatility * z) - strike, 0)
        return np.allclose(self.fetch(self.target, self.sums)[sample], want, rtol=1e-11)


WORKLOADS = {
    "nbody": NBody, "mandelbrot": Mandelbrot, "black_scholes": BlackScholes, "philox": Philox, "monte_carlo_double": MonteCarlo,
}
