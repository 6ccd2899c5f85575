#!/usr/bin/env python3
"""Computes the Mandelbrot set, one work-item per pixel, and writes it as a PNG. Neighbouring work-items run loops of different lengths."""

import numpy as np
import pyopencl as cl
from PIL import Image

import common

SOURCE = """
kernel void mandelbrot(global uchar4 *image, float x0, float y0, float pixel, int limit)
{
    int x = get_global_id(0), y = get_global_id(1);
    float2 c = (float2)(x0 + x * pixel, y0 + y * pixel);
    float2 z = 0.0f;
    int n = 0;
    while (n < limit && dot(z, z) <= 16.0f) {
        z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
        n++;
    }
    uchar4 color = (uchar4)(0, 0, 0, 255);
    if (n < limit) {
        // A continuous iteration count gives smooth colours.
        float smooth = n + 1 - log2(log2(dot(z, z)) * 0.5f);
        float3 phase = (float3)(0.0f, 0.6f, 1.2f) + 0.15f * smooth;
        color.xyz = convert_uchar3_sat(255.0f * (0.5f + 0.5f * cos(phase + 3.3f)));
    }
    image[y * get_global_size(0) + x] = color;
}
"""


def inside(x0, y0, pixel, width, height, limit):
    """The pixels inside the set, computed with numpy in double precision."""
    c = (x0 + pixel * np.arange(width))[None, :] + 1j * (y0 + pixel * np.arange(height))[:, None]
    z = np.zeros_like(c)
    alive = np.ones(c.shape, bool)
    for _ in range(limit):
        z[alive] = z[alive] ** 2 + c[alive]
        alive &= np.abs(z) <= 4
    return alive


def main():
    args = common.arguments(
        __doc__, width=(480, "pixels per row"), height=(320, "rows"), limit=(200, "iterations"), output=("mandelbrot.png", "file to write")
    )
    context, queue = common.open_device(args)
    kernel = cl.Program(context, SOURCE).build().mandelbrot

    pixel = 3.0 / args.width
    x0, y0 = -2.2, -pixel * args.height / 2
    image = np.zeros((args.height, args.width, 4), np.uint8)
    buffer = common.to_device(context, image)
    event = kernel(queue, (args.width, args.height), None, buffer, np.float32(x0), np.float32(y0), np.float32(pixel), np.int32(args.limit))
    image = common.to_host(queue, buffer, image)
    print(f"{args.width} x {args.height} pixels in {common.milliseconds(event):.1f} ms")
    Image.fromarray(image, "RGBA").save(args.output)
    print(f"written: {args.output}")

    black = (image[..., :3] == 0).all(axis=2)
    # Float and double differ at a few points on the border.
    differ = np.count_nonzero(black != inside(x0, y0, pixel, args.width, args.height, args.limit))
    common.verdict(f"inside of the set ({differ} of {black.size} pixels differ from numpy)", differ <= black.size // 200 and black.any())


main()
