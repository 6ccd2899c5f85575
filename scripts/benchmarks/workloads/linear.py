"""Linear algebra: products of matrices, dense and sparse, transposition, Fourier transforms."""

import numpy as np

from .base import Workload, of_type


class Sgemm(Workload):
    variant = "naive"
    SOURCES = {
        "naive": """
    kernel void sgemm(global const float *a, global const float *b, global float *c, int n)
    {
        int x = get_global_id(0), y = get_global_id(1);
        float sum = 0;
        for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
        c[y * n + x] = sum;
    }""",
        "tiled": """
    #define T 16
    kernel __attribute__((reqd_work_group_size(T, T, 1))) void sgemm(global const float *a, global const float *b, global float *c, int n)
    {
        local float ta[T][T], tb[T][T];
        int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
        float sum = 0;
        for (int t = 0; t < n; t += T) {
            ta[ly][lx] = a[y * n + t + lx];
            tb[ly][lx] = b[(t + ly) * n + x];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int k = 0; k < T; k++) sum += ta[ly][k] * tb[k][lx];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        c[y * n + x] = sum;
    }""",
        # A group of 16 x 16 work-items computes a tile of 64 x 64 elements. Each work-item keeps 4 x 4 sums in registers.
        "registers": """
    #define T 64
    #define D 16
    kernel __attribute__((reqd_work_group_size(16, 16, 1))) void sgemm(global const float *a, global const float *b, global float *c, int n)
    {
        local float ta[D][T], tb[D][T];
        int lx = get_local_id(0), ly = get_local_id(1), lane = ly * 16 + lx;
        int left = get_group_id(0) * T, top = get_group_id(1) * T;
        float sum[4][4] = {{0}};
        for (int t = 0; t < n; t += D) {
            for (int i = 0; i < 4; i++) {
                int at = lane + i * 256;
                ta[at % D][at / D] = a[(top + at / D) * n + t + at % D];
                tb[at / T][at % T] = b[(t + at / T) * n + left + at % T];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int k = 0; k < D; k++) {
                float p[4], q[4];
                for (int i = 0; i < 4; i++) {
                    p[i] = ta[k][ly * 4 + i];
                    q[i] = tb[k][lx + i * 16];
                }
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 4; j++) sum[i][j] += p[i] * q[j];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) c[(top + ly * 4 + i) * n + left + lx + j * 16] = sum[i][j];
    }""",
    }

    def n(self):
        return self.pick(256, 2048)

    def work(self):
        return 2 * self.n() ** 3, "GFLOP/s"

    def data(self):
        random = np.random.default_rng(1)
        self.a, self.b = (random.integers(-4, 5, (self.n(), self.n())).astype(np.float32) for _ in range(2))
        self.buffers = [self.buffer(m) for m in (self.a, self.b, np.zeros_like(self.a))]

    def set_up(self):
        self.sgemm = self.kernel(self.program(self.SOURCES[self.variant]), "sgemm", *self.buffers, np.int32(self.n()))

    def twin(self):
        groups = self.n() // 16
        return None if self.variant == "registers" else [(f"sgemm_{self.variant}", (groups, groups, 1), self.buffers, [self.n()])]

    def enqueue(self):
        items = self.n() // 4 if self.variant == "registers" else self.n()
        self.launch(self.sgemm, (items, items), (16, 16))

    def check(self):
        return np.array_equal(self.fetch(self.buffers[2], self.a), self.a @ self.b)


class SparseProduct(Workload):
    """y = A x for a CSR matrix with 1 to 32 elements per row, one row per work-item."""

    SOURCE = """
    kernel void spmv(global const uint *start, global const uint *column, global const float *value, global const float *x, global float *y)
    {
        uint row = get_global_id(0);
        float sum = 0;
        for (uint i = start[row]; i < start[row + 1]; i++) sum += value[i] * x[column[i]];
        y[row] = sum;
    }"""

    def rows(self):
        return self.pick(1 << 15, 2 << 20)

    def work(self):
        return 2 * 16.5 * self.rows(), "GFLOP/s"

    def data(self):
        random, rows = np.random.default_rng(7), self.rows()
        self.start = np.concatenate([[0], np.cumsum(random.integers(1, 33, rows))]).astype(np.uint32)
        self.column = random.integers(0, rows, self.start[-1], np.uint32)
        self.value = random.integers(-8, 9, self.start[-1], np.int8).astype(np.float32)
        self.x = random.integers(-8, 9, rows, np.int8).astype(np.float32)
        self.buffers = [self.buffer(array) for array in (self.start, self.column, self.value, self.x, np.zeros_like(self.x))]

    def set_up(self):
        self.spmv = self.kernel(self.program(self.SOURCE), "spmv", *self.buffers)

    def enqueue(self):
        self.launch(self.spmv, (self.rows(),), (64,))

    def check(self):
        want = np.add.reduceat(self.value * self.x[self.column], self.start[:-1].astype(np.int64))
        return np.array_equal(self.fetch(self.buffers[4], self.x), want)


class Transpose(Workload):
    tiled = False
    NAIVE = """
    kernel void transpose(global const float *a, global float *b, int n)
    {
        int x = get_global_id(0), y = get_global_id(1);
        b[x * n + y] = a[y * n + x];
    }"""
    # The tile has one extra column, so that the elements of a column are in different banks of local memory.
    TILED = """
    kernel __attribute__((reqd_work_group_size(16, 16, 1))) void transpose(global const float *a, global float *b, int n)
    {
        local float tile[16][17];
        int lx = get_local_id(0), ly = get_local_id(1), gx = get_group_id(0) * 16, gy = get_group_id(1) * 16;
        tile[ly][lx] = a[(gy + ly) * n + gx + lx];
        barrier(CLK_LOCAL_MEM_FENCE);
        b[(gx + ly) * n + gy + lx] = tile[lx][ly];
    }"""

    def n(self):
        return self.pick(512, 8192)

    def work(self):
        return 8 * self.n() ** 2, "GB/s"

    def data(self):
        self.a = (np.arange(self.n() ** 2) % 65521).astype(np.float32).reshape(self.n(), self.n())
        self.buffers = self.buffer(self.a), self.buffer(np.zeros_like(self.a))

    def set_up(self):
        self.transpose = self.kernel(self.program(self.TILED if self.tiled else self.NAIVE), "transpose", *self.buffers, np.int32(self.n()))

    def twin(self):
        return [("transpose_tiled", (self.n() // 16, self.n() // 16, 1), list(self.buffers), [self.n()])] if self.tiled else None

    def enqueue(self):
        self.launch(self.transpose, (self.n(), self.n()), (16, 16))

    def check(self):
        return np.array_equal(self.fetch(self.buffers[1], self.a), self.a.T)


class Fourier(Workload):
    """FFTs of 1,024 complex numbers, one per work-group in local memory: five radix-4 steps (Stockham)."""

    SOURCE = """
    float2 times(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
    kernel __attribute__((reqd_work_group_size(256, 1, 1))) void fft(global const float2 *from, global float2 *to)
    {
        local float2 shared[1024];
        uint j = get_local_id(0), base = get_group_id(0) * 1024;
        float2 v[4];
        for (uint r = 0; r < 4; r++) v[r] = from[base + j + r * 256];
        for (uint ns = 1; ns < 1024; ns *= 4) {
            uint k = j & (ns - 1);
            float angle = k * (-1.57079633f / ns);
            for (uint r = 1; r < 4; r++) v[r] = times(v[r], (float2)(native_cos(angle * r), native_sin(angle * r)));
            float2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = (v[1] - v[3]).yx * (float2)(1, -1);
            v[0] = a + c; v[1] = b + d; v[2] = a - c; v[3] = b - d;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint r = 0; r < 4; r++) shared[(j - k) * 4 + k + r * ns] = v[r];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint r = 0; r < 4; r++) v[r] = shared[j + r * 256];
        }
        for (uint r = 0; r < 4; r++) to[base + j + r * 256] = v[r];
    }"""

    def batches(self):
        return self.pick(64, 32 << 10)

    def work(self):
        return self.batches() * 1024 * 50, "GFLOP/s"

    def data(self):
        random = np.random.default_rng(8)
        some = random.uniform(-1, 1, (64, 1024)) + 1j * random.uniform(-1, 1, (64, 1024))
        self.values = np.tile(some.astype(np.complex64), (self.batches() // 64, 1))
        self.buffers = self.buffer(self.values), self.buffer(np.zeros_like(self.values))

    def set_up(self):
        self.fft = self.kernel(self.program(self.SOURCE), "fft", *self.buffers)

    def enqueue(self):
        self.launch(self.fft, (self.batches() * 256,), (256,))

    def check(self):
        result = self.fetch(self.buffers[1], self.values)
        sample = np.r_[: 64, self.batches() - 64 : self.batches()]
        return np.allclose(result[sample], np.fft.fft(self.values[sample], axis=1), rtol=0, atol=2e-3)


WORKLOADS = {
    "sgemm_naive": Sgemm,
    "sgemm_tiled": of_type(Sgemm, variant="tiled"),
    "sgemm_registers": of_type(Sgemm, variant="registers"),
    "spmv_csr": SparseProduct,
    "transpose_naive": Transpose,
    "transpose_tiled": of_type(Transpose, tiled=True),
    "fft_1024": Fourier,
}
