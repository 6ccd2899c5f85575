#!/usr/bin/env python3
"""pyopencl's ReductionKernel: a dot product, a maximum distance, a count."""

import numpy as np
import pyopencl.array as cl_array
from pyopencl.reduction import ReductionKernel

import common


def main():
    args = common.arguments(__doc__, size=(100_000, "elements"))
    context, queue = common.open_device(args)
    random = np.random.default_rng(8)
    x = random.uniform(-1, 1, args.size).astype(np.float32)
    y = random.uniform(-1, 1, args.size).astype(np.float32)
    n = random.integers(0, 100, args.size, np.int32)
    dx, dy, dn = (cl_array.to_device(queue, array) for array in (x, y, n))

    dot = ReductionKernel(
        context, np.float32, neutral="0", reduce_expr="a + b", map_expr="x[i] * y[i]", arguments="__global const float *x, __global const float *y"
    )
    result = dot(dx, dy).get()
    want = x.astype(np.float64) @ y
    common.verdict(f"dot product {result:.4f}", abs(result - want) < 1e-2)

    farthest = ReductionKernel(
        context, np.float32, neutral="-INFINITY", reduce_expr="fmax(a, b)", map_expr="fabs(x[i] - y[i])",
        arguments="__global const float *x, __global const float *y",
    )
    common.verdict("greatest distance", farthest(dx, dy).get() == abs(x - y).max())

    even = ReductionKernel(context, np.int32, neutral="0", reduce_expr="a + b", map_expr="v[i] % 2 == 0 ? 1 : 0", arguments="__global const int *v")
    common.verdict("count of even numbers", even(dn).get() == np.count_nonzero(n % 2 == 0))


main()
