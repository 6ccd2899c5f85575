"""Kernels of photo and video programs on buffers: demosaicing, denoising, warps, edges, pyramids, and the encoders of JPEG and BC1."""

import numpy as np
import pyopencl as cl

from .base import SingleKernel

# A kernel's tile of N x N pixels, with a border of B pixels that repeats the border of the picture.
TILE = """
#define TILE(NAME, TYPE, FROM, N, B) \\
    local TYPE NAME[N + 2 * B][N + 2 * B]; \\
    for (int i = get_local_id(1) * N + get_local_id(0); i < (N + 2 * B) * (N + 2 * B); i += N * N) { \\
        int tx = i % (N + 2 * B), ty = i / (N + 2 * B); \\
        int px = clamp((int)get_group_id(0) * N + tx - B, 0, width - 1), py = clamp((int)get_group_id(1) * N + ty - B, 0, height - 1); \\
        NAME[ty][tx] = FROM[py * width + px]; \\
    } \\
    barrier(CLK_LOCAL_MEM_FENCE);
"""


def picture(side, seed, channels=()):
    """A picture of bytes with smooth areas, edges and noise."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side]
    wave = np.sin(x / 17) * np.cos(y / 23) * 60 + 128 + ((x // 24 + y // 40) % 2) * 40
    base = wave[(..., *(None for _ in channels))] + random.normal(0, 6, (side, side, *channels))
    return np.clip(base, 0, 255).astype(np.uint8)


def around(array, dy, dx):
    """The array, moved by (dy, dx), with the border repeated."""
    height, width = array.shape[:2]
    return array[np.clip(np.arange(height) + dy, 0, height - 1)][:, np.clip(np.arange(width) + dx, 0, width - 1)]


class Photo(SingleKernel):
    small, large_side = 512, 4096

    def side(self):
        return self.pick(self.small, self.large_side)

    def work(self):
        return self.side() ** 2, "Gpixel/s"


class Demosaic(Photo):
    """The green channel of a raw photo: gradients of a tile in local memory decide between two interpolations."""

    SOURCE = TILE + """
    kernel __attribute__((reqd_work_group_size(16, 16, 1))) void run(global const float *raw, global float4 *out, int width, int height)
    {
        TILE(t, float, raw, 16, 3)
        int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0) + 3, j = get_local_id(1) + 3;
        float c = t[j][i], green = c;
        int channel = (y & 1) ? ((x & 1) ? 2 : 1) : ((x & 1) ? 1 : 0);
        if (channel != 1) {
            float u1 = t[j - 1][i], u2 = t[j - 2][i], u3 = t[j - 3][i], d1 = t[j + 1][i], d2 = t[j + 2][i], d3 = t[j + 3][i];
            float l1 = t[j][i - 1], l2 = t[j][i - 2], l3 = t[j][i - 3], r1 = t[j][i + 1], r2 = t[j][i + 2], r3 = t[j][i + 3];
            float guess_y = (u1 + c + d1) * 2 - d2 - u2, guess_x = (l1 + c + r1) * 2 - r2 - l2;
            float differ_y = (fabs(u2 - c) + fabs(c - d2) + fabs(u1 - d1)) * 3 + (fabs(d3 - d1) + fabs(u3 - u1)) * 2;
            float differ_x = (fabs(l2 - c) + fabs(c - r2) + fabs(l1 - r1)) * 3 + (fabs(r3 - r1) + fabs(l3 - l1)) * 2;
            if (differ_x > differ_y) green = fmax(fmin(guess_y * 0.25f, fmax(u1, d1)), fmin(u1, d1));
            else green = fmax(fmin(guess_x * 0.25f, fmax(l1, r1)), fmin(l1, r1));
        }
        out[y * width + x] = (float4)(channel == 0 ? c : 0, green, channel == 2 ? c : 0, 0);
    }"""

    def data(self):
        side = self.side()
        # Whole numbers make all sums exact.
        self.raw = picture(side, 51).astype(np.float32) * 16
        self.out = np.zeros((side, side, 4), np.float32)
        self.arguments = [self.buffer(self.raw), self.buffer(self.out), np.int32(side), np.int32(side)]
        self.items = (side, side), (16, 16)

    def check(self):
        c, side = self.raw, self.side()
        greens = []
        for dy, dx in ((0, 1), (1, 0)):
            a1, a2, a3 = (around(c, -n * dy, -n * dx) for n in (1, 2, 3))
            b1, b2, b3 = (around(c, n * dy, n * dx) for n in (1, 2, 3))
            guess = ((a1 + c + b1) * 2 - a2 - b2) / 4
            differ = (abs(a2 - c) + abs(c - b2) + abs(a1 - b1)) * 3 + (abs(b3 - b1) + abs(a3 - a1)) * 2
            greens.append((np.clip(guess, np.minimum(a1, b1), np.maximum(a1, b1)), differ))
        (across, differ_x), (down, differ_y) = greens
        y, x = np.mgrid[:side, :side]
        want = np.zeros((side, side, 4), np.float32)
        want[..., 1] = np.where((x + y) % 2 == 1, c, np.where(differ_x > differ_y, down, across))
        want[::2, ::2, 0], want[1::2, 1::2, 2] = c[::2, ::2], c[1::2, 1::2]
        return np.array_equal(self.fetch(self.arguments[1], self.out), want)


class NonLocalMeans(Photo):
    """Denoising by weights of similar patches: 7 x 7 patches of 3 x 3 pixels around each pixel, read from an image."""

    needs = ("images",)
    small, large_side = 128, 512
    SOURCE = """
    constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    kernel void run(read_only image2d_t from, global float4 *out, int width, float strength)
    {
        int x = get_global_id(0), y = get_global_id(1);
        float4 sum = 0;
        for (int dy = -3; dy <= 3; dy++)
            for (int dx = -3; dx <= 3; dx++) {
                float distance = 0;
                for (int py = -1; py <= 1; py++)
                    for (int px = -1; px <= 1; px++) {
                        float4 d = read_imagef(from, nearest, (int2)(x + px, y + py)) - read_imagef(from, nearest, (int2)(x + dx + px, y + dy + py));
                        distance += d.x * d.x + d.y * d.y + d.z * d.z;
                    }
                float weight = native_exp(-distance * strength);
                float4 pixel = read_imagef(from, nearest, (int2)(x + dx, y + dy));
                sum += (float4)(pixel.xyz * weight, weight);
            }
        out[y * width + x] = (float4)(sum.xyz / sum.w, sum.w);
    }"""
    STRENGTH = 20.0

    def data(self):
        side = self.side()
        self.pixels = np.zeros((side, side, 4), np.float32)
        self.pixels[..., :3] = picture(side, 52, (3,)) / np.float32(255)
        self.out = np.zeros_like(self.pixels)
        self.items = (side, side), (16, 8)

    def set_up(self):
        make = getattr(cl, "create_image", cl.Image)  # pyopencl has `create_image` since version 2024.3.
        pixel = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
        image = make(self.context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, pixel, shape=(self.side(),) * 2, hostbuf=self.pixels)
        self.arguments = [image, self.buffer(self.out), np.int32(self.side()), np.float32(self.STRENGTH)]
        super().set_up()

    def check(self):
        pixels = self.pixels.astype(np.float64)
        sums = np.zeros_like(pixels)
        for dy in range(-3, 4):
            for dx in range(-3, 4):
                # Clamping applies to the sum of both offsets, so that a patch at the border is not a moved copy.
                distance = sum(
                    ((around(pixels, py, px) - around(pixels, dy + py, dx + px)) ** 2).sum(axis=2) for py in (-1, 0, 1) for px in (-1, 0, 1))
                weight = np.exp(-distance * self.STRENGTH)
                sums += np.concatenate([around(pixels, dy, dx)[..., :3] * weight[..., None], weight[..., None]], axis=2)
        sums[..., :3] /= sums[..., 3:]
        return np.allclose(self.fetch(self.arguments[1], self.out), sums, rtol=1e-3, atol=1e-4)


class Bilateral(Photo):
    """Smoothing that keeps edges: 7 x 7 pixels with a table of distances and the exponential of the difference of colours."""

    small, large_side = 192, 1024
    SOURCE = """
    kernel void run(global const float4 *from, global float4 *out, constant float *distances, int width, int height, float strength)
    {
        int x = get_global_id(0), y = get_global_id(1);
        float4 centre = from[y * width + x], sum = 0;
        float weights = 0;
        for (int dy = -3; dy <= 3; dy++)
            for (int dx = -3; dx <= 3; dx++) {
                float4 pixel = from[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)], differ = pixel - centre;
                float weight = distances[(dy + 3) * 7 + dx + 3] * exp(-dot(differ, differ) * strength);
                sum += pixel * weight;
                weights += weight;
            }
        out[y * width + x] = sum / weights;
    }"""
    STRENGTH = 30.0

    def data(self):
        side = self.side()
        self.pixels = picture(side, 53, (4,)) / np.float32(255)
        offsets = np.arange(-3, 4)
        self.distances = np.exp(-np.add.outer(offsets**2, offsets**2) / 8).astype(np.float32)
        self.out = np.zeros_like(self.pixels)
        arrays = self.pixels, self.out, self.distances
        self.arguments = [*(self.buffer(array) for array in arrays), np.int32(side), np.int32(side), np.float32(self.STRENGTH)]
        self.items = (side, side), (16, 8)

    def check(self):
        pixels = self.pixels.astype(np.float64)
        sums, weights = np.zeros_like(pixels), np.zeros(pixels.shape[:2])
        for dy in range(-3, 4):
            for dx in range(-3, 4):
                moved = around(pixels, dy, dx)
                weight = self.distances[dy + 3, dx + 3] * np.exp(-((moved - pixels) ** 2).sum(axis=2) * self.STRENGTH)
                sums += moved * weight[..., None]
                weights += weight
        return np.allclose(self.fetch(self.arguments[1], self.out), sums / weights[..., None], rtol=1e-4, atol=1e-5)


class WarpAffine(Photo):
    """An affine warp of a picture of bytes with bilinear weights in fixed point; pixels outside are black."""

    small, large_side = 1024, 4096
    MATRIX = [820, -573, 301_000, 573, 820, -151_000]
    SOURCE = """
    int at(global const uchar *from, int x, int y, int width, int height) { return x >= 0 && x < width && y >= 0 && y < height ? from[y * width + x] : 0; }
    kernel void run(global const uchar *from, global uchar *to, int width, int height, constant int *m)
    {
        int x = get_global_id(0);
        for (int y = get_global_id(1) * 4, end = y + 4; y < end; y++) {
            int u = m[0] * x + m[1] * y + m[2] >> 5, v = m[3] * x + m[4] * y + m[5] >> 5;
            int sx = u >> 5, sy = v >> 5, a = u & 31, b = v & 31;
            int upper = at(from, sx, sy, width, height) * (32 - a) + at(from, sx + 1, sy, width, height) * a;
            int lower = at(from, sx, sy + 1, width, height) * (32 - a) + at(from, sx + 1, sy + 1, width, height) * a;
            to[y * width + x] = upper * (32 - b) + lower * b + 512 >> 10;
        }
    }"""

    def data(self):
        side = self.side()
        self.pixels = picture(side, 54)
        self.matrix = np.array(self.MATRIX, np.int32)
        arrays = self.pixels, np.zeros_like(self.pixels)
        self.arguments = [*(self.buffer(array) for array in arrays), np.int32(side), np.int32(side), self.buffer(self.matrix)]
        self.items = (side, side // 4), (64, 1)

    def check(self):
        side, m = self.side(), self.matrix.astype(np.int64)
        rows = np.arange(0, side, 7)
        y, x = np.meshgrid(rows, np.arange(side), indexing="ij")
        u, v = m[0] * x + m[1] * y + m[2] >> 5, m[3] * x + m[4] * y + m[5] >> 5
        # The frame of zeros is where coordinates outside of the picture are moved to.
        framed = np.pad(self.pixels.astype(np.int64), 1)

        def at(dy, dx):
            return framed[np.clip((v >> 5) + dy + 1, 0, side + 1), np.clip((u >> 5) + dx + 1, 0, side + 1)]

        a, b = u & 31, v & 31
        want = ((at(0, 0) * (32 - a) + at(0, 1) * a) * (32 - b) + (at(1, 0) * (32 - a) + at(1, 1) * a) * b + 512) >> 10
        return np.array_equal(self.fetch(self.arguments[1], self.pixels)[rows], want)


def sobel(pixels):
    """The horizontal and vertical gradients, as 32-bit integers."""
    p = pixels.astype(np.int32)
    ends = [(around(p, i, 1), around(p, i, -1), around(p, 1, i), around(p, -1, i)) for i in (-1, 0, 1)]
    dx = sum(weight * (right - left) for weight, (right, left, _, _) in zip((1, 2, 1), ends))
    dy = sum(weight * (lower - upper) for weight, (_, _, lower, upper) in zip((1, 2, 1), ends))
    return dx, dy


class CannyGradient(Photo):
    """The first stage of Canny's edges: Sobel gradients of a tile in local memory, and their magnitudes."""

    small, large_side = 1024, 4096
    SOURCE = TILE + """
    kernel __attribute__((reqd_work_group_size(16, 16, 1)))
    void run(global const uchar *from, global short2 *gradient, global int *magnitude, int width, int height)
    {
        TILE(t, int, from, 16, 1)
        int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0) + 1, j = get_local_id(1) + 1;
        int dx = t[j - 1][i + 1] + 2 * t[j][i + 1] + t[j + 1][i + 1] - t[j - 1][i - 1] - 2 * t[j][i - 1] - t[j + 1][i - 1];
        int dy = t[j + 1][i - 1] + 2 * t[j + 1][i] + t[j + 1][i + 1] - t[j - 1][i - 1] - 2 * t[j - 1][i] - t[j - 1][i + 1];
        gradient[y * width + x] = (short2)(dx, dy);
        magnitude[y * width + x] = abs(dx) + abs(dy);
    }"""

    def data(self):
        side = self.side()
        self.pixels = picture(side, 55)
        self.gradient, self.magnitude = np.zeros((side, side, 2), np.int16), np.zeros((side, side), np.int32)
        arrays = self.pixels, self.gradient, self.magnitude
        self.arguments = [*(self.buffer(array) for array in arrays), np.int32(side), np.int32(side)]
        self.items = (side, side), (16, 16)

    def check(self):
        dx, dy = sobel(self.pixels)
        return np.array_equal(self.fetch(self.arguments[1], self.gradient), np.stack([dx, dy], axis=2)) and np.array_equal(
            self.fetch(self.arguments[2], self.magnitude), abs(dx) + abs(dy))


class CannySuppress(Photo):
    """The second stage of Canny's edges: keeps maxima along the gradient, with nested branches on its direction, and applies two thresholds."""

    small, large_side = 1024, 4096
    LOW, HIGH = 120, 260
    SOURCE = TILE + """
    kernel __attribute__((reqd_work_group_size(16, 16, 1)))
    void run(global const short2 *gradient, global const int *magnitude, global uchar *out, int width, int height, int low, int high)
    {
        TILE(t, int, magnitude, 16, 1)
        int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0) + 1, j = get_local_id(1) + 1;
        int m = t[j][i], kind = 0;
        if (m > low) {
            short2 g = gradient[y * width + x];
            int ax = abs(g.x), ay = abs(g.y) << 15, flat = ax * 13573;
            bool kept;
            if (ay < flat) kept = m > t[j][i - 1] && m >= t[j][i + 1];
            else if (ay > flat + (ax << 16)) kept = m > t[j - 1][i] && m >= t[j + 1][i];
            else {
                int s = (g.x ^ g.y) < 0 ? -1 : 1;
                kept = m > t[j - 1][i - s] && m > t[j + 1][i + s];
            }
            if (kept) kind = m > high ? 2 : 1;
        }
        out[y * width + x] = kind;
    }"""

    def data(self):
        side = self.side()
        self.dx, self.dy = sobel(picture(side, 55))
        self.magnitude, self.out = abs(self.dx) + abs(self.dy), np.zeros((side, side), np.uint8)
        arrays = np.stack([self.dx, self.dy], axis=2).astype(np.int16), self.magnitude, self.out
        self.arguments = [*(self.buffer(array) for array in arrays), np.int32(side), np.int32(side), np.int32(self.LOW), np.int32(self.HIGH)]
        self.items = (side, side), (16, 16)

    def check(self):
        m, ax, ay = self.magnitude, abs(self.dx).astype(np.int64), abs(self.dy).astype(np.int64) << 15
        level = (m > around(m, 0, -1)) & (m >= around(m, 0, 1))
        steep = (m > around(m, -1, 0)) & (m >= around(m, 1, 0))
        falling = (m > around(m, -1, -1)) & (m > around(m, 1, 1))
        rising = (m > around(m, -1, 1)) & (m > around(m, 1, -1))
        diagonal = np.where((self.dx ^ self.dy) < 0, rising, falling)
        kept = np.where(ay < ax * 13573, level, np.where(ay > ax * 13573 + (ax << 16), steep, diagonal))
        want = np.where((m > self.LOW) & kept, np.where(m > self.HIGH, 2, 1), 0)
        return len(np.unique(want)) == 3 and np.array_equal(self.fetch(self.arguments[2], self.out), want)


class PyramidDown(Photo):
    """Half of a picture after a 5 x 5 binomial filter: a vertical pass into local memory, and a horizontal pass."""

    small, large_side = 1024, 4096
    SOURCE = """
    kernel __attribute__((reqd_work_group_size(128, 1, 1))) void run(global const uchar *from, global uchar *to, int width, int height)
    {
        local int sums[128 + 4];
        int lane = get_local_id(0), y = 2 * get_global_id(1);
        for (int i = lane; i < 132; i += 128) {
            int x = clamp((int)get_group_id(0) * 128 + i - 2, 0, width - 1);
            int a = from[max(y - 2, 0) * width + x], b = from[max(y - 1, 0) * width + x], c = from[y * width + x];
            int d = from[min(y + 1, height - 1) * width + x], e = from[min(y + 2, height - 1) * width + x];
            sums[i] = a + e + 4 * (b + d) + 6 * c;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < 64) {
            int i = 2 * lane;
            to[get_global_id(1) * (width / 2) + get_group_id(0) * 64 + lane] =
                sums[i] + sums[i + 4] + 4 * (sums[i + 1] + sums[i + 3]) + 6 * sums[i + 2] + 128 >> 8;
        }
    }"""

    def data(self):
        side = self.side()
        self.pixels = picture(side, 56)
        self.out = np.zeros((side // 2, side // 2), np.uint8)
        self.arguments = [self.buffer(self.pixels), self.buffer(self.out), np.int32(side), np.int32(side)]
        self.items = (side, side // 2), (128, 1)

    def check(self):
        pixels, weights = self.pixels.astype(np.int32), (1, 4, 6, 4, 1)
        rows = sum(weight * around(pixels, i - 2, 0) for i, weight in enumerate(weights))[::2]
        want = sum(weight * around(rows, 0, i - 2) for i, weight in enumerate(weights))[:, ::2] + 128 >> 8
        return np.array_equal(self.fetch(self.arguments[1], self.out), want)


class Jpeg(Photo):
    """The transform of JPEG: the cosine transform of blocks of 8 x 8 pixels through local memory, quantisation, and the zigzag order."""

    ZIGZAG = sorted(range(64), key=lambda i: (i // 8 + i % 8, i // 8 if (i // 8 + i % 8) % 2 else i % 8))
    SOURCE = """
    #define LINE(GET, PUT) { \\
        float in[8]; \\
        for (int i = 0; i < 8; i++) in[i] = GET; \\
        for (int k = 0; k < 8; k++) { \\
            float sum = 0; \\
            for (int i = 0; i < 8; i++) sum += in[i] * COSINES[8 * k + i]; \\
            PUT = sum; \\
        } }
    kernel __attribute__((reqd_work_group_size(64, 1, 1))) void run(global const uchar *from, global short *to, constant float *steps, int width)
    {
        local float block[8][8][9];
        int line = get_local_id(0) % 8, mine = get_local_id(0) / 8;
        int column = get_group_id(0) * 8 + mine, row = get_group_id(1);
        LINE(from[(row * 8 + line) * width + column * 8 + i] - 128.0f, block[mine][line][k])
        barrier(CLK_LOCAL_MEM_FENCE);
        LINE(block[mine][i][line], block[mine][k][line])
        barrier(CLK_LOCAL_MEM_FENCE);
        int first = (row * (width / 8) + column) * 64;
        for (int i = line; i < 64; i += 8) {
            int at = ZIGZAG[i];
            to[first + i] = convert_short_rte(block[mine][at / 8][at % 8] * steps[at]);
        }
    }"""

    def cosines(self):
        k, i = np.mgrid[:8, :8]
        return np.where(k == 0, np.sqrt(1 / 8), np.sqrt(2 / 8)) * np.cos((2 * i + 1) * k * np.pi / 16)

    def source(self):
        cosines = ", ".join(f"{value:.9g}f" if value % 1 else f"{value}f" for value in self.cosines().ravel())
        return f"constant float COSINES[64] = {{{cosines}}};\nconstant int ZIGZAG[64] = {{{', '.join(map(str, self.ZIGZAG))}}};\n" + self.SOURCE

    def data(self):
        side = self.side()
        self.pixels = picture(side, 57)
        y, x = np.mgrid[:8, :8]
        self.steps = (1 / (8 + 3 * (x + y))).astype(np.float32)
        self.out = np.zeros((side * side // 64, 64), np.int16)
        self.arguments = [*(self.buffer(array) for array in (self.pixels, self.out, self.steps)), np.int32(side)]
        self.items = (side // 8 * 8, side // 8), (64, 1)

    def check(self):
        side, cosines = self.side(), self.cosines()
        blocks = (self.pixels - 128.0).reshape(side // 8, 8, side // 8, 8).transpose(0, 2, 1, 3).reshape(-1, 8, 8)
        want = ((cosines @ blocks @ cosines.T) * self.steps).reshape(-1, 64)[:, self.ZIGZAG]
        return abs(self.fetch(self.arguments[1], self.out) - want).max() < 0.5 + 1e-3


class Bc1(Photo):
    """Compression of textures to BC1: each work-item reduces 16 pixels to two colours and 16 indices."""

    small, large_side = 1024, 4096
    SOURCE = """
    ushort pack(int3 c) { return (c.x >> 3) << 11 | (c.y >> 2) << 5 | c.z >> 3; }
    int3 unpack(ushort c)
    {
        int r = c >> 11, g = c >> 5 & 63, b = c & 31;
        return (int3)(r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2);
    }
    kernel void run(global const uchar4 *from, global uint2 *to, int width)
    {
        int x = get_global_id(0), y = get_global_id(1);
        int3 pixel[16], low = 255, high = 0, palette[4];
        for (int i = 0; i < 16; i++) {
            pixel[i] = convert_int3(from[(4 * y + i / 4) * width + 4 * x + i % 4].xyz);
            low = min(low, pixel[i]);
            high = max(high, pixel[i]);
        }
        int3 inset = high - low >> 4;
        ushort a = pack(high - inset), b = pack(low + inset);
        uint indices = 0;
        if (a != b) {
            palette[0] = unpack(a);
            palette[1] = unpack(b);
            palette[2] = (2 * palette[0] + palette[1]) / 3;
            palette[3] = (palette[0] + 2 * palette[1]) / 3;
            for (int i = 0; i < 16; i++) {
                int best = 0, least = INT_MAX;
                for (int k = 0; k < 4; k++) {
                    int3 d = pixel[i] - palette[k];
                    int distance = d.x * d.x + d.y * d.y + d.z * d.z;
                    if (distance < least) { least = distance; best = k; }
                }
                indices |= best << 2 * i;
            }
        }
        to[y * (width / 4) + x] = (uint2)(a | b << 16, indices);
    }"""

    def data(self):
        side = self.side()
        self.pixels = picture(side, 58, (4,))
        self.pixels[: side // 8] = self.pixels[0, 0]
        self.out = np.zeros((side // 4, side // 4, 2), np.uint32)
        self.arguments, self.items = [self.buffer(self.pixels), self.buffer(self.out), np.int32(side)], ((side // 4, side // 4), (16, 4))

    def check(self):
        side = self.side()
        blocks = self.pixels[..., :3].reshape(side // 4, 4, side // 4, 4, 3)[::3].transpose(0, 2, 1, 3, 4).reshape(-1, 16, 3).astype(np.int64)
        low, high = blocks.min(axis=1), blocks.max(axis=1)
        inset = high - low >> 4
        ends = np.stack([high - inset, low + inset], axis=1)
        fields = ends >> [3, 2, 3]
        packed = fields @ [1 << 11, 1 << 5, 1]
        wide = fields << [3, 2, 3] | fields >> [2, 4, 2]
        palette = np.stack([wide[:, 0], wide[:, 1], (2 * wide[:, 0] + wide[:, 1]) // 3, (wide[:, 0] + 2 * wide[:, 1]) // 3], axis=1)
        best = ((blocks[:, :, None] - palette[:, None]) ** 2).sum(axis=3).argmin(axis=2)
        indices = np.where(packed[:, 0] != packed[:, 1], (best << 2 * np.arange(16)).sum(axis=1), 0)
        return np.array_equal(self.fetch(self.arguments[1], self.out)[::3].reshape(-1, 2), np.stack([packed @ [1, 1 << 16], indices], axis=1))


WORKLOADS = {
    "demosaic": Demosaic, "nlmeans": NonLocalMeans, "bilateral": Bilateral, "warp_affine": WarpAffine, "canny_gradient": CannyGradient,
    "canny_suppress": CannySuppress, "pyramid_down": PyramidDown, "jpeg_transform": Jpeg, "bc1_compress": Bc1,
}
