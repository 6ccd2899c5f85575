#!/usr/bin/env python3
"""Reads a PNG, blurs it, rotates it with linear sampling, and writes a PNG: images and samplers."""

from pathlib import Path

import numpy as np
import pyopencl as cl
from PIL import Image, ImageDraw

import common

SOURCE = """
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

// The mean of the square around each pixel.
kernel void blur(read_only image2d_t from, write_only image2d_t to, int radius)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0.0f;
    for (int y = -radius; y <= radius; y++)
        for (int x = -radius; x <= radius; x++)
            sum += read_imagef(from, nearest, p + (int2)(x, y));
    int side = 2 * radius + 1;
    write_imagef(to, p, sum / (side * side));
}

// Rotates about the centre. Outside of the image, the sampler returns transparent black.
kernel void rotate_image(read_only image2d_t from, write_only image2d_t to, sampler_t sampler, float sine, float cosine)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float2 centre = convert_float2(get_image_dim(from)) * 0.5f;
    float2 v = convert_float2(p) + 0.5f - centre;
    float2 at = (float2)(cosine * v.x + sine * v.y, cosine * v.y - sine * v.x) + centre;
    write_imagef(to, p, read_imagef(from, sampler, at));
}
"""


def test_picture(width, height):
    """Draws a picture with gradients, edges and curves."""
    y, x = np.mgrid[0:height, 0:width]
    sky = np.stack([x * 180 // width, y * 200 // height, 255 - y * 150 // height, np.full_like(x, 255)], axis=2)
    picture = Image.fromarray(sky.astype(np.uint8), "RGBA")
    draw = ImageDraw.Draw(picture)
    draw.polygon([(0, height), (width * 2 // 5, height // 3), (width * 3 // 4, height)], fill=(70, 90, 60, 255))
    draw.ellipse([width * 3 // 4 - 30, 20, width * 3 // 4 + 30, 80], fill=(250, 230, 120, 255))
    return picture


def blurred(pixels, radius):
    """The same mean with numpy, rounded to bytes like the image."""
    padded = np.pad(pixels.astype(np.float64), [(radius, radius)] * 2 + [(0, 0)], mode="edge")
    side = 2 * radius + 1
    windows = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(0, 1))
    return np.rint(windows.mean(axis=(3, 4)))


def rotated(pixels, angle):
    """The same rotation with numpy. The elements of `pixels` may be wider than bytes."""
    height, width = pixels.shape[:2]
    y, x = np.mgrid[0:height, 0:width] + 0.5
    vx, vy = x - width / 2, y - height / 2
    sine, cosine = np.sin(angle), np.cos(angle)
    u, v = cosine * vx + sine * vy + width / 2 - 0.5, cosine * vy - sine * vx + height / 2 - 0.5
    # A border of two transparent pixels. Everything farther away is transparent as well.
    padded = np.pad(pixels.astype(np.float64), [(2, 2), (2, 2), (0, 0)])
    u, v = np.clip(u, -1.5, width + 0.5), np.clip(v, -1.5, height + 0.5)
    left, top = np.floor(u).astype(int), np.floor(v).astype(int)
    a, b = (u - left)[..., None], (v - top)[..., None]
    pixel = lambda dx, dy: padded[top + 2 + dy, left + 2 + dx]  # noqa: E731
    return (1 - a) * (1 - b) * pixel(0, 0) + a * (1 - b) * pixel(1, 0) + (1 - a) * b * pixel(0, 1) + a * b * pixel(1, 1)


def main():
    args = common.arguments(
        __doc__,
        input=("", "picture to read; if empty, a test picture is drawn"),
        output=("photo.png", "file to write"),
        radius=(2, "radius of the blur in pixels"),
        degrees=(12.0, "angle of the rotation"),
    )
    picture = Image.open(args.input).convert("RGBA") if args.input else test_picture(480, 320)
    pixels = np.asarray(picture)
    context, queue = common.open_device(args)
    program = cl.Program(context, SOURCE).build()

    flags, rgba = cl.mem_flags, cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNORM_INT8)
    source = cl.Image(context, flags.READ_ONLY | flags.COPY_HOST_PTR, rgba, shape=picture.size, hostbuf=pixels)
    middle, result = (cl.Image(context, flags.READ_WRITE, rgba, shape=picture.size) for _ in range(2))
    sampler = cl.Sampler(context, False, cl.addressing_mode.CLAMP, cl.filter_mode.LINEAR)

    angle = np.deg2rad(args.degrees)
    first = program.blur(queue, picture.size, None, source, middle, np.int32(args.radius))
    second = program.rotate_image(queue, picture.size, None, middle, result, sampler, np.float32(np.sin(angle)), np.float32(np.cos(angle)))
    out = np.empty_like(pixels)
    cl.enqueue_copy(queue, out, result, origin=(0, 0), region=picture.size)
    Image.fromarray(out, "RGBA").save(args.output)
    width, height = picture.size
    print(f"{width} x {height} pixels: blur {common.milliseconds(first):.2f} ms, rotation {common.milliseconds(second):.2f} ms, {Path(args.output).resolve()}")

    # Means and weights are rounded to bytes twice, so a value may be rounded either way.
    want = rotated(blurred(pixels, args.radius), angle)
    common.verdict("blurred and rotated picture", np.abs(out - want).max() <= 1.6)


main()
