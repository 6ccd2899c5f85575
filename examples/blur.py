#!/usr/bin/env python3
"""Blurs an 8-bit image in buffers: a 5-tap Gaussian filter along the rows, then along the columns."""

import numpy as np
import pyopencl as cl

import common

SOURCE = """
constant int weights[5] = {1, 4, 6, 4, 1};

// One work-item per byte. Beyond an edge, the last pixel is repeated.
kernel void blur(global const uchar *from, global uchar *to, int width, int height, int vertical)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    int sum = 8;
    for (int i = -2; i <= 2; i++) {
        int sx = vertical ? x : clamp(x + i, 0, width - 1);
        int sy = vertical ? clamp(y + i, 0, height - 1) : y;
        sum += weights[i + 2] * from[sy * width + sx];
    }
    to[y * width + x] = sum >> 4;
}
"""


def blur(image, axis):
    """The same filter along one axis with numpy."""
    padded = np.pad(image.astype(np.int32), [(2, 2) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
    size = image.shape[axis]
    taps = [padded.take(range(i, i + size), axis=axis) * weight for i, weight in enumerate((1, 4, 6, 4, 1))]
    return ((sum(taps) + 8) >> 4).astype(np.uint8)


def main():
    args = common.arguments(__doc__, width=(333, "pixels per row"), height=(201, "rows"), passes=(2, "number of passes"))
    context, queue = common.open_device(args)
    kernel = cl.Program(context, SOURCE).build().blur

    # Odd sizes, so that rows are not aligned to words and work-items share words.
    image = np.random.default_rng(4).integers(0, 256, (args.height, args.width), np.uint8)
    a, b = common.to_device(context, image), common.to_device(context, image)
    local_size = (16, 4)
    global_size = tuple(-(-size // step) * step for size, step in zip((args.width, args.height), local_size))
    want, time = image, 0.0
    for _ in range(args.passes):
        for vertical in (0, 1):
            event = kernel(queue, global_size, local_size, a, b, np.int32(args.width), np.int32(args.height), np.int32(vertical))
            time += common.milliseconds(event)
            a, b = b, a
            want = blur(want, 0 if vertical else 1)
    result = common.to_host(queue, a, image)
    print(f"{args.width} x {args.height} bytes, {args.passes} passes: {time:.2f} ms")
    common.verdict("blurred image", np.array_equal(result, want))


main()
