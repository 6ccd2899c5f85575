"""Stencils over arrays of two and three dimensions, and convolutions of bytes."""

import numpy as np

from .base import Workload, of_type


class Stencil2d(Workload):
    """The sum of a point and its four neighbours, weighted. Points at the border are copied."""

    SOURCE = """
    kernel void stencil(global const float *a, global float *b, int width, int height)
    {
        int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
        if (x == 0 || y == 0 || x == width - 1 || y == height - 1) b[i] = a[i];
        else b[i] = 0.5f * a[i] + 0.125f * (a[i - 1] + a[i + 1] + a[i - width] + a[i + width]);
    }"""

    def side(self):
        return self.pick(512, 8192)

    def work(self):
        return self.side() ** 2, "Gpoint/s"

    def data(self):
        self.a = np.random.default_rng(9).integers(0, 1000, (self.side(), self.side()), np.int16).astype(np.float32)
        self.buffers = self.buffer(self.a), self.buffer(np.zeros_like(self.a))

    def set_up(self):
        self.stencil = self.kernel(self.program(self.SOURCE), "stencil", *self.buffers, np.int32(self.side()), np.int32(self.side()))

    def enqueue(self):
        self.launch(self.stencil, (self.side(), self.side()), (32, 8))

    def check(self):
        a, want = self.a, self.a.copy()
        want[1:-1, 1:-1] = 0.5 * a[1:-1, 1:-1] + 0.125 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
        return np.array_equal(self.fetch(self.buffers[1], self.a), want)


class Stencil3d(Workload):
    """A point and its six neighbours."""

    SOURCE = """
    kernel void stencil(global const float *a, global float *b, int n)
    {
        int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), i = (z * n + y) * n + x;
        if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) b[i] = a[i];
        else b[i] = 0.25f * a[i] + 0.125f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] + a[i + n * n]);
    }"""

    def side(self):
        return self.pick(64, 384)

    def work(self):
        return self.side() ** 3, "Gpoint/s"

    def data(self):
        self.a = np.random.default_rng(10).integers(0, 1000, (self.side(),) * 3, np.int16).astype(np.float32)
        self.buffers = self.buffer(self.a), self.buffer(np.zeros_like(self.a))

    def set_up(self):
        self.stencil = self.kernel(self.program(self.SOURCE), "stencil", *self.buffers, np.int32(self.side()))

    def enqueue(self):
        self.launch(self.stencil, (self.side(),) * 3, (32, 4, 2))

    def check(self):
        a, want, i = self.a, self.a.copy(), slice(1, -1)
        sides = a[i, i, :-2] + a[i, i, 2:] + a[i, :-2, i] + a[i, 2:, i] + a[:-2, i, i] + a[2:, i, i]
        want[i, i, i] = 0.25 * a[i, i, i] + 0.125 * sides
        return np.array_equal(self.fetch(self.buffers[1], self.a), want)


class Convolution(Workload):
    """The weighted mean of the neighbourhood of each byte: a 3 x 3 box, or 5 x 5 binomial weights."""

    radius = 1
    BOX = """
    kernel void convolve(global const uchar *from, global uchar *to, int width, int height)
    {
        int x = get_global_id(0), y = get_global_id(1), sum = 4;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum += from[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
        to[y * width + x] = sum / 9;
    }"""
    BINOMIAL = """
    constant uchar weights[5] = {1, 4, 6, 4, 1};
    kernel void convolve(global const uchar *from, global uchar *to, int width, int height)
    {
        int x = get_global_id(0), y = get_global_id(1), sum = 128;
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++)
                sum += weights[dy + 2] * weights[dx + 2] * from[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
        to[y * width + x] = sum >> 8;
    }"""

    def side(self):
        return self.pick(512 if self.radius == 1 else 256, 8192)

    def work(self):
        return self.side() ** 2, "Gpixel/s"

    def data(self):
        self.image = np.random.default_rng(2).integers(0, 256, (self.side(), self.side()), np.uint8)
        self.buffers = self.buffer(self.image), self.buffer(np.zeros_like(self.image))

    def set_up(self):
        program = self.program(self.BOX if self.radius == 1 else self.BINOMIAL)
        self.convolve = self.kernel(program, "convolve", *self.buffers, np.int32(self.side()), np.int32(self.side()))

    def enqueue(self):
        self.launch(self.convolve, (self.side(), self.side()), (16, 8))

    def check(self):
        weights = [1, 1, 1] if self.radius == 1 else [1, 4, 6, 4, 1]
        padded, n = np.pad(self.image.astype(np.int32), self.radius, mode="edge"), self.side()
        rows = sum(weight * padded[:, d : d + n] for d, weight in enumerate(weights))
        total = sum(weight * rows[d : d + n] for d, weight in enumerate(weights))
        want = (total + 4) // 9 if self.radius == 1 else (total + 128) >> 8
        return np.array_equal(self.fetch(self.buffers[1], self.image), want.astype(np.uint8))


WORKLOADS = {"stencil_2d": Stencil2d, "stencil_3d": Stencil3d, "blur_bytes": Convolution, "convolution_bytes": of_type(Convolution, radius=2)}
