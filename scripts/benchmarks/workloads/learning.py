"""Machine learning: matrix products in the shape of tuned and of generated kernels, quantised weights, histograms of gradients, clusters."""

import numpy as np

from .base import SingleKernel, of_type


class TunedGemm(SingleKernel):
    """A matrix product in the shape of a tuned library: 64 x 64 results per work-group, 8 x 8 per work-item, vectors of four, two tiles in local memory."""

    SOURCE = """
    #define WIDE 64
    #define DEEP 16
    kernel __attribute__((reqd_work_group_size(8, 8, 1)))
    void run(int m, int n, int k, float alpha, float beta, global const float4 *restrict a, global const float4 *restrict b, global float4 *c)
    {
        local float4 left[DEEP * WIDE / 4], right[DEEP * WIDE / 4];
        float4 sum[8][2];
        int i = get_local_id(0), j = get_local_id(1), lane = j * 8 + i, row = get_group_id(0) * WIDE / 4, column = get_group_id(1) * WIDE / 4;
        #pragma unroll
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 2; x++) sum[y][x] = 0;
        for (int p = 0; p < k; p += DEEP) {
            #pragma unroll
            for (int t = 0; t < DEEP * WIDE / 4; t += 64) {
                int at = t + lane, deep = at / (WIDE / 4), wide = at % (WIDE / 4);
                left[at] = a[(p + deep) * (m / 4) + row + wide];
                right[at] = b[(p + deep) * (n / 4) + column + wide];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            #pragma unroll
            for (int q = 0; q < DEEP; q++) {
                float4 l[2], r[2];
                #pragma unroll
                for (int x = 0; x < 2; x++) {
                    l[x] = left[q * (WIDE / 4) + i + 8 * x];
                    r[x] = right[q * (WIDE / 4) + j + 8 * x];
                }
                #pragma unroll
                for (int x = 0; x < 2; x++) {
                    #pragma unroll
                    for (int y = 0; y < 2; y++) {
                        sum[4 * y + 0][x] = mad(l[x], r[y].x, sum[4 * y + 0][x]);
                        sum[4 * y + 1][x] = mad(l[x], r[y].y, sum[4 * y + 1][x]);
                        sum[4 * y + 2][x] = mad(l[x], r[y].z, sum[4 * y + 2][x]);
                        sum[4 * y + 3][x] = mad(l[x], r[y].w, sum[4 * y + 3][x]);
                    }
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        #pragma unroll
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 2; x++) {
                int at = ((column + j + 8 * (y / 4)) * 4 + y % 4) * (m / 4) + row + i + 8 * x;
                c[at] = alpha * sum[y][x] + beta * c[at];
            }
    }"""
    OPTIONS = ("-cl-mad-enable",)

    def side(self):
        return self.pick(384, 4096)

    def work(self):
        return 2 * self.side() ** 3, "GFLOP/s"

    def data(self):
        side, random = self.side(), np.random.default_rng(61)
        # Small whole numbers make all sums exact.
        self.a, self.b = (random.integers(-4, 5, (side, side)).astype(np.float32) for _ in range(2))
        self.c = np.zeros_like(self.a)
        a, b, c = (self.buffer(array) for array in (self.a, self.b, self.c))
        self.arguments = [*(np.int32(side) for _ in range(3)), np.float32(1.5), np.float32(0), a, b, c]
        self.items = (side // 8, side // 8), (8, 8)

    def check(self):
        # The matrices are stored by columns: c[column][row] is the sum of a[k][row] * b[k][column].
        return np.array_equal(self.fetch(self.arguments[7], self.c), np.float32(1.5) * (self.b.T @ self.a))


class GeneratedReduce(SingleKernel):
    """The sums of rows as a graph compiler generates them: 16 work-items with unrolled float4 loads, then one work-item adds the results."""

    def source(self):
        lines = ["float4 acc0 = 0, acc1 = 0;", "for (int ridx0 = 0; ridx0 < STEPS; ridx0++) {", "int alu0 = gidx0 * (STEPS * 512) + ridx0 * 512 + lidx0 * 4;"]
        lines += [f"float4 val{i} = *(global float4 *)(data1 + alu0 + {64 * i});" for i in range(8)]
        lines += [f"acc{i % 2} = acc{i % 2} + val{i} * val{i};" for i in range(8)]
        lines += ["}", "temp0[lidx0] = acc0.x + acc0.y + acc0.z + acc0.w + acc1.x + acc1.y + acc1.z + acc1.w;", "barrier(CLK_LOCAL_MEM_FENCE);"]
        lines += ["if (lidx0 == 0) {", "float acc2 = 0.0f;"]
        lines += [f"acc2 = acc2 + temp0[{i}];" for i in range(16)]
        lines += ["data0[gidx0] = sqrt(acc2 * (1.0f / (STEPS * 512)) + 1e-5f);", "}"]
        return f"#define STEPS {self.columns() // 512}\n" + """
        kernel __attribute__((reqd_work_group_size(16, 1, 1))) void run(global float *data0, global const float *data1)
        {
            local float temp0[16];
            int gidx0 = get_group_id(0), lidx0 = get_local_id(0);
        """ + "\n".join(lines) + "}"

    def rows(self):
        return self.pick(2048, 8192)

    def columns(self):
        return self.pick(2048, 8192)

    def work(self):
        return self.rows() * self.columns() * 4, "GB/s"

    def data(self):
        self.input = np.random.default_rng(62).normal(0, 1, (self.rows(), self.columns())).astype(np.float32)
        self.out = np.zeros(self.rows(), np.float32)
        self.arguments, self.items = [self.buffer(self.out), self.buffer(self.input)], ((self.rows() * 16,), (16,))

    def check(self):
        want = np.sqrt((self.input.astype(np.float64) ** 2).mean(axis=1) + 1e-5)
        return np.allclose(self.fetch(self.arguments[0], self.out), want, rtol=1e-5)


class GeneratedConvolution(SingleKernel):
    """A convolution as a graph compiler generates it: straight code with 16 accumulators, one scalar load per input, all indices as expressions."""

    CHANNELS = 32

    def source(self):
        n, c = self.side(), self.CHANNELS
        wide = n + 4
        lines = [f"float acc{i} = 0.0f;" for i in range(16)]
        lines.append(f"for (int ridx0 = 0; ridx0 < {c}; ridx0++) {{")
        lines.append(f"int alu0 = ridx0 * {(n + 2) * wide} + gidx1 * {wide} + gidx0 * 4, alu1 = gidx2 * {36 * c} + ridx0 * 9;")
        lines += [f"float val{6 * y + x} = *(data1 + alu0 + {y * wide + x});" for y in range(3) for x in range(6)]
        lines += [f"float w{9 * k + t} = *(data2 + alu1 + {9 * c * k + t});" for k in range(4) for t in range(9)]
        for k in range(4):
            for x in range(4):
                sum_ = f"acc{4 * k + x}"
                for t in range(9):
                    sum_ = f"({sum_} + (val{6 * (t // 3) + x + t % 3} * w{9 * k + t}))"
                lines.append(f"acc{4 * k + x} = {sum_};")
        lines.append("}")
        lines += [f"int alu2 = gidx2 * {4 * n * n} + gidx1 * {n} + gidx0 * 4;"]
        lines += [f"*(data0 + alu2 + {k * n * n + x}) = max(acc{4 * k + x} + data3[gidx2 * 4 + {k}], 0.0f);" for k in range(4) for x in range(4)]
        return """
        kernel void run(global float *data0, global const float *data1, global const float *data2, global const float *data3)
        {
            int gidx0 = get_global_id(0), gidx1 = get_global_id(1), gidx2 = get_global_id(2);
        """ + "\n".join(lines) + "}"

    def side(self):
        return self.pick(64, 256)

    def work(self):
        return 18 * self.side() ** 2 * self.CHANNELS**2, "GFLOP/s"

    def data(self):
        n, c, random = self.side(), self.CHANNELS, np.random.default_rng(63)
        self.input, self.weights = random.uniform(-1, 1, (c, n + 2, n + 4)).astype(np.float32), random.uniform(-1, 1, (c, c, 3, 3)).astype(np.float32)
        self.bias, self.out = random.uniform(-1, 1, c).astype(np.float32), np.zeros((c, n, n), np.float32)
        self.arguments = [self.buffer(array) for array in (self.out, self.input, self.weights, self.bias)]
        self.items = (n // 4, n, c // 4), (16, 4, 1)

    def check(self):
        n, input_ = self.side(), self.input.astype(np.float64)
        want = self.bias[:, None, None] + sum(
            np.einsum("oc,cyx->oyx", self.weights[:, :, y, x], input_[:, y : y + n, x : x + n]) for y in range(3) for x in range(3))
        return np.allclose(self.fetch(self.arguments[0], self.out), np.maximum(want, 0), rtol=1e-4, atol=1e-4)


class QuantisedProduct(SingleKernel):
    """A matrix of quantised weights times a vector, one work-group per row: blocks of 32 weights with a half-precision scale, bytes at odd addresses."""

    bits = 4
    SOURCE = """
    #if BITS == 4
    typedef struct { ushort scale; uchar weights[16]; } Block;
    #else
    typedef struct { ushort scale; char weights[32]; } Block;
    #endif
    kernel __attribute__((reqd_work_group_size(32, 1, 1)))
    void run(global const Block *restrict matrix, global const float *restrict vector, global float *result, int columns)
    {
        local float part[32];
        int lane = get_local_id(0), row = get_group_id(0), blocks = columns / 32;
        float sum = 0;
        for (int i = lane; i < blocks; i += 32) {
            global const Block *block = matrix + row * blocks + i;
            global const float *y = vector + 32 * i;
            float one = 0;
            #if BITS == 4
            for (int k = 0; k < 16; k++) {
                int weight = block->weights[k];
                one += ((weight & 15) - 8) * y[k] + ((weight >> 4) - 8) * y[k + 16];
            }
            #else
            for (int k = 0; k < 32; k++) one += block->weights[k] * y[k];
            #endif
            sum += one * vload_half(0, (global const half *)&block->scale);
        }
        part[lane] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int by = 16; by > 0; by /= 2) {
            if (lane < by) part[lane] += part[lane + by];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (lane == 0) result[row] = part[0];
    }"""

    def source(self):
        return f"#define BITS {self.bits}\n" + self.SOURCE

    def shape(self):
        return self.pick(512, 4096), self.pick(4096, 8192)

    def work(self):
        rows, columns = self.shape()
        return 2 * rows * columns, "GFLOP/s"

    def data(self):
        (rows, columns), random = self.shape(), np.random.default_rng(64)
        shape = rows, columns // 32
        scales, packed = random.uniform(0.01, 0.1, shape).astype(np.float16), random.integers(0, 256, (*shape, 16 if self.bits == 4 else 32), np.uint8)
        matrix = np.zeros(shape, np.dtype([("scale", np.float16), ("weights", np.uint8, packed.shape[2])]))
        matrix["scale"], matrix["weights"] = scales, packed
        weights = np.concatenate([packed & 15, packed >> 4], axis=2) - 8.0 if self.bits == 4 else packed.view(np.int8).astype(np.float64)
        self.weights = (weights * scales[..., None]).reshape(rows, columns)
        self.vector, self.result = random.uniform(-1, 1, columns).astype(np.float32), np.zeros(rows, np.float32)
        self.arguments = [*(self.buffer(array) for array in (matrix, self.vector, self.result)), np.int32(columns)]
        self.items = (rows * 32,), (32,)

    def check(self):
        want = self.weights @ self.vector
        return np.allclose(self.fetch(self.arguments[2], self.result), want, rtol=1e-4, atol=1e-5 * abs(self.weights).sum(axis=1).max())


class GradientHistogram(SingleKernel):
    """Histograms for boosted trees: sums of gradients per bin of a feature in local memory, with atomic additions of floats by compare-and-exchange."""

    BINS, FEATURES = 64, 8
    SOURCE = """
    #define BINS 64
    void add(volatile local float *to, float value)
    {
        union { uint bits; float value; } old, next;
        do {
            old.value = *to;
            next.value = old.value + value;
        } while (atomic_cmpxchg((volatile local uint *)to, old.bits, next.bits) != old.bits);
    }
    kernel __attribute__((reqd_work_group_size(256, 1, 1)))
    void run(global const uchar *bins, global const int *rows, global const float2 *gradients, global float *histograms, int count, int all, int groups)
    {
        local float sums[BINS * 2];
        int lane = get_local_id(0), feature = get_group_id(1), part = get_group_id(0);
        if (lane < BINS * 2) sums[lane] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = part * 256 + lane; i < count; i += groups * 256) {
            int row = rows[i], bin = bins[feature * all + row];
            float2 gradient = gradients[row];
            add(&sums[2 * bin], gradient.x);
            add(&sums[2 * bin + 1], gradient.y);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < BINS * 2) histograms[(feature * groups + part) * BINS * 2 + lane] = sums[lane];
    }"""

    def count(self):
        return self.pick(64 << 10, 8 << 20)

    def work(self):
        return self.count() // 2 * self.FEATURES, "Gitem/s"

    def data(self):
        count, random, groups = self.count(), np.random.default_rng(65), self.pick(4, 256)
        self.bins = (random.beta(2, 3, (self.FEATURES, count)) * self.BINS).astype(np.uint8)
        self.rows = np.sort(random.permutation(count)[: count // 2]).astype(np.int32)
        self.gradients = random.uniform(0, 1, (count, 2)).astype(np.float32)
        self.histograms = np.zeros((self.FEATURES, groups, self.BINS, 2), np.float32)
        arrays = self.bins, self.rows, self.gradients, self.histograms
        self.arguments = [*(self.buffer(array) for array in arrays), np.int32(len(self.rows)), np.int32(count), np.int32(groups)]
        self.items = (groups * 256, self.FEATURES), (256, 1)

    def check(self):
        sums = self.fetch(self.arguments[3], self.histograms).sum(axis=1, dtype=np.float64)
        chosen = self.gradients[self.rows].astype(np.float64)
        want = [[np.bincount(bins[self.rows], chosen[:, i], self.BINS) for i in range(2)] for bins in self.bins]
        return np.allclose(sums.transpose(0, 2, 1), want, rtol=1e-4, atol=1e-3)


class KMeans(SingleKernel):
    """The assignment of k-means: the nearest of 16 centres in 8 dimensions, and the sizes of the clusters with atomic additions."""

    CENTRES, DIMENSIONS = 16, 8
    SOURCE = """
    #define CENTRES 16
    #define DIMENSIONS 8
    kernel __attribute__((reqd_work_group_size(128, 1, 1)))
    void run(global const float *points, global const float *centres, global int *labels, global int *sizes, int count)
    {
        local int part[CENTRES];
        int me = get_global_id(0), lane = get_local_id(0), best = 0;
        if (lane < CENTRES) part[lane] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        float least = FLT_MAX;
        for (int k = 0; k < CENTRES; k++) {
            float distance = 0;
            for (int d = 0; d < DIMENSIONS; d++) {
                float differ = points[d * count + me] - centres[k * DIMENSIONS + d];
                distance += differ * differ;
            }
            if (distance < least) { least = distance; best = k; }
        }
        labels[me] = best;
        atomic_inc(&part[best]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < CENTRES) atomic_add(&sizes[get_group_id(0) % 64 * CENTRES + lane], part[lane]);
    }"""

    def work(self):
        return self.pick(256 << 10, 4 << 20), "Gpoint/s"

    def data(self):
        count, random = self.work()[0], np.random.default_rng(66)
        self.centres = random.uniform(-5, 5, (self.CENTRES, self.DIMENSIONS)).astype(np.float32)
        true = random.integers(0, self.CENTRES, count)
        self.points = (self.centres[true] + random.normal(0, 2, (count, self.DIMENSIONS))).T.astype(np.float32).copy()
        self.labels, self.sizes, self.runs = np.zeros(count, np.int32), np.zeros((64, self.CENTRES), np.int32), 0
        self.arguments = [*(self.buffer(array) for array in (self.points, self.centres, self.labels, self.sizes)), np.int32(count)]
        self.items = (count,), (128,)

    def enqueue(self):
        super().enqueue()
        self.runs += 1

    def check(self):
        labels, sizes = self.fetch(self.arguments[2], self.labels), self.fetch(self.arguments[3], self.sizes)
        points = self.points.T[::8].astype(np.float64)
        distances = np.stack([((points - centre) ** 2).sum(axis=1) for centre in self.centres])
        near = distances[labels[::8], np.arange(len(points))] - distances.min(axis=0)
        # The sizes are sums over all runs, modulo 2^32.
        want = np.bincount(labels, minlength=self.CENTRES) * self.runs
        return near.max() < 1e-4 and np.array_equal(sizes.sum(axis=0, dtype=np.int64) & 0xFFFFFFFF, want & 0xFFFFFFFF)


WORKLOADS = {
    "gemm_tuned": TunedGemm, "generated_reduce": GeneratedReduce, "generated_convolution": GeneratedConvolution,
    "matvec_q4_0": QuantisedProduct, "matvec_q8_0": of_type(QuantisedProduct, bits=8), "gradient_histogram": GradientHistogram, "k_means": KMeans,
}
