"""Images and samplers."""

import numpy as np
import pyopencl as cl

from .base import Workload, of_type

CHANNELS = {"rgba8": (cl.channel_type.UNORM_INT8, np.uint8), "rgba32f": (cl.channel_type.FLOAT, np.float32)}


class ImageWorkload(Workload):
    group = "images"
    needs = ("images",)
    channels = "rgba8"

    def side(self):
        return self.pick(256, 4096)

    def work(self):
        return self.side() ** 2, "Gpixel/s"

    def image(self, array):
        pixel = cl.ImageFormat(cl.channel_order.RGBA, CHANNELS[self.channels][0])
        make = getattr(cl, "create_image", cl.Image)  # pyopencl has `create_image` since version 2024.3.
        return make(self.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, pixel, shape=(self.side(),) * 2, hostbuf=array)

    def set_up(self):
        n = self.side()
        # The picture is smooth, so that the precision of a sampler's coordinates matters little. Each channel differs.
        i, element = np.arange(n), CHANNELS[self.channels][1]
        self.scale = 255 if element is np.uint8 else 1
        self.picture = np.empty((n, n, 4), element)
        for c in range(4):
            wave = np.outer(np.cos(i / (30 + 5 * c)), np.sin(i / 40 + c)).astype(np.float32) * np.float32(0.4) + np.float32(0.5)
            self.picture[..., c] = (wave * 255).round() if self.scale == 255 else wave
        # Only these rows are checked.
        self.rows = i[:: max(1, n // 128)]
        self.from_, self.to = self.image(self.picture), self.image(np.zeros_like(self.picture))

    def result(self):
        out = np.empty_like(self.picture)
        cl.enqueue_copy(self.queue, out, self.to, origin=(0, 0), region=(self.side(),) * 2)
        return out

    def close(self, want):
        """Whether the checked rows differ from the expected values, between 0 and 1, by at most 1.5/255."""
        return abs(self.result()[self.rows] / self.scale - want).max() < 1.5 / 255


class Rotation(ImageWorkload):
    """Rotation of a picture about its centre, one linearly filtered sample per pixel."""

    SOURCE = """
    constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
    kernel void rotate_image(read_only image2d_t from, write_only image2d_t to, float c, float s)
    {
        int x = get_global_id(0), y = get_global_id(1);
        float half_size = get_image_width(from) * 0.5f, u = x + 0.5f - half_size, v = y + 0.5f - half_size;
        write_imagef(to, (int2)(x, y), read_imagef(from, linear, (float2)(c * u - s * v + half_size, s * u + c * v + half_size)));
    }"""
    COS, SIN = 0.8, 0.6

    def set_up(self):
        super().set_up()
        self.rotate = self.kernel(self.program(self.SOURCE), "rotate_image", self.from_, self.to, np.float32(self.COS), np.float32(self.SIN))

    def enqueue(self):
        self.launch(self.rotate, (self.side(),) * 2, (16, 8))

    def check(self):
        n = self.side()
        x, y = np.meshgrid(np.arange(n) + 0.5 - n / 2, self.rows + 0.5 - n / 2)
        u, v = self.COS * x - self.SIN * y + n / 2 - 0.5, self.SIN * x + self.COS * y + n / 2 - 0.5
        left, top = np.floor(u).astype(int), np.floor(v).astype(int)
        a, b = (u - left)[..., None], (v - top)[..., None]
        at = lambda i, j: self.picture[np.clip(j, 0, n - 1), np.clip(i, 0, n - 1)] / self.scale  # noqa: E731
        upper = (1 - a) * at(left, top) + a * at(left + 1, top)
        lower = (1 - a) * at(left, top + 1) + a * at(left + 1, top + 1)
        return self.close((1 - b) * upper + b * lower)


class SamplerConvolution(ImageWorkload):
    """5 x 5 binomial filter; the sampler handles the border."""

    SOURCE = """
    constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    constant float weights[5] = {1.0f / 16, 4.0f / 16, 6.0f / 16, 4.0f / 16, 1.0f / 16};
    kernel void convolve(read_only image2d_t from, write_only image2d_t to)
    {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        float4 sum = 0;
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++)
                sum += weights[dy + 2] * weights[dx + 2] * read_imagef(from, nearest, at + (int2)(dx, dy));
        write_imagef(to, at, sum);
    }"""

    def set_up(self):
        super().set_up()
        self.convolve = self.kernel(self.program(self.SOURCE), "convolve", self.from_, self.to)

    def enqueue(self):
        self.launch(self.convolve, (self.side(),) * 2, (16, 8))

    def check(self):
        weights, n = np.array([1, 4, 6, 4, 1]) / 16, self.side()
        rows = sum(weight * self.picture[np.clip(self.rows + d - 2, 0, n - 1)] for d, weight in enumerate(weights)) / self.scale
        padded = np.pad(rows, ((0, 0), (2, 2), (0, 0)), mode="edge")
        return self.close(sum(weight * padded[:, d : d + n] for d, weight in enumerate(weights)))


class ImageGradient(ImageWorkload):
    """A kernel that only writes pixels."""

    SOURCE = """
    kernel void gradient(write_only image2d_t to, float step)
    {
        int x = get_global_id(0), y = get_global_id(1);
        write_imagef(to, (int2)(x, y), (float4)(x * step, y * step, 0.25f, 1.0f));
    }"""

    def set_up(self):
        super().set_up()
        self.gradient = self.kernel(self.program(self.SOURCE), "gradient", self.to, np.float32(1 / self.side()))

    def enqueue(self):
        self.launch(self.gradient, (self.side(),) * 2, (16, 8))

    def check(self):
        x, y = np.meshgrid(np.arange(self.side()) / self.side(), self.rows / self.side())
        return self.close(np.stack([x, y, np.full_like(x, 0.25), np.ones_like(x)], axis=2))


class ImageCommand(ImageWorkload):
    """Commands without a kernel: copy, fill, and transfers from and to the host."""

    variant = "copy"

    def work(self):
        return self.picture_bytes() * (2 if self.variant == "copy" else 1), "GB/s"

    def picture_bytes(self):
        return self.side() ** 2 * 4

    def enqueue(self):
        origin, region = (0, 0, 0), (self.side(), self.side(), 1)
        if self.variant == "copy":
            cl.enqueue_copy(self.queue, self.to, self.from_, src_origin=origin, dest_origin=origin, region=region)
        elif self.variant == "fill":
            cl.enqueue_fill_image(self.queue, self.to, np.array([0.2, 0.4, 0.6, 0.8], np.float32), origin, region)
        elif self.variant == "write":
            cl.enqueue_copy(self.queue, self.to, self.picture, origin=origin, region=region)
        else:
            self.host = np.empty_like(self.picture)
            cl.enqueue_copy(self.queue, self.host, self.from_, origin=origin, region=region)

    def check(self):
        if self.variant == "fill":
            return self.close(np.array([0.2, 0.4, 0.6, 0.8]))
        return np.array_equal(self.host if self.variant == "read" else self.result(), self.picture)

    def device_time(self):
        return None


WORKLOADS = {
    "image_rotate_rgba8": Rotation,
    "image_rotate_rgba32f": of_type(Rotation, channels="rgba32f"),
    "image_convolution": SamplerConvolution,
    "image_gradient": ImageGradient,
    **{f"image_{variant}": of_type(ImageCommand, variant=variant) for variant in ("copy", "fill", "write", "read")},
}
