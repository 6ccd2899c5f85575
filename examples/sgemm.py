#!/usr/bin/env python3
"""Multiplies matrices with tiles in local memory, and compares with numpy."""

import numpy as np
import pyopencl as cl

import common

SOURCE = """
// C = A * B for row-major matrices, M x K and K x N. Each work-group computes a TILE x TILE block of C. Its work-items
// copy the required blocks of A and B to local memory, one element each, and read them from there.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void sgemm(int m, int n, int k, global const float *a, global const float *b, global float *c)
{
    local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < k; t += TILE) {
        tile_a[y][x] = row < m && t + x < k ? a[row * k + t + x] : 0.0f;
        tile_b[y][x] = t + y < k && column < n ? b[(t + y) * n + column] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++)
            sum = mad(tile_a[y][i], tile_b[i][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
"""


def main():
    args = common.arguments(
        __doc__, m=(200, "rows of A"), n=(150, "columns of B"), k=(170, "columns of A, rows of B"), tile=(16, "width of a tile")
    )
    context, queue = common.open_device(args)
    program = cl.Program(context, SOURCE).build(options=[f"-DTILE={args.tile}"])

    random = np.random.default_rng(1)
    a = random.standard_normal((args.m, args.k), np.float32)
    b = random.standard_normal((args.k, args.n), np.float32)
    c = np.zeros((args.m, args.n), np.float32)
    buffers = [common.to_device(context, matrix) for matrix in (a, b, c)]
    round_up = lambda size: -(-size // args.tile) * args.tile
    event = program.sgemm(
        queue, (round_up(args.n), round_up(args.m)), (args.tile, args.tile), np.int32(args.m), np.int32(args.n), np.int32(args.k), *buffers
    )
    result = common.to_host(queue, buffers[2], c)
    time = common.milliseconds(event)
    print(f"{args.m} x {args.k} by {args.k} x {args.n}: {time:.2f} ms, {2e-6 * args.m * args.n * args.k / time:.2f} GFLOP/s")
    common.verdict("product", np.allclose(result, a @ b, rtol=1e-4, atol=1e-3))


main()
