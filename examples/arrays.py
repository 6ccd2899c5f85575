#!/usr/bin/env python3
"""pyopencl's arrays: numpy-like arithmetic, for which pyopencl generates OpenCL C."""

import numpy as np
import pyopencl.array as cl_array
import pyopencl.clmath as cl_math
import pyopencl.clrandom

import common


def main():
    args = common.arguments(__doc__, size=(10_000, "elements"))
    context, queue = common.open_device(args)
    random = np.random.default_rng(7)
    a = random.uniform(-10, 10, args.size).astype(np.float32)
    b = random.uniform(1, 10, args.size).astype(np.float32)
    n = random.integers(-1000, 1000, args.size, np.int32)
    on_device = cl_array.to_device(queue, a)
    divisor = cl_array.to_device(queue, b)
    integers = cl_array.to_device(queue, n)

    close = lambda result, want: np.allclose(result.get(), want, rtol=1e-5, atol=1e-5)
    common.verdict("2 * a + b - 1", close(2 * on_device + divisor - 1, 2 * a + b - 1))
    common.verdict("a / b", close(on_device / divisor, a / b))
    common.verdict("abs(a) ** 0.5", close(abs(on_device) ** np.float32(0.5), abs(a) ** np.float32(0.5)))
    common.verdict("sin and exp", close(cl_math.sin(on_device) + cl_math.exp(-divisor), np.sin(a) + np.exp(-b)))
    common.verdict("integers", np.array_equal((integers * 3 + 5).get(), n * 3 + 5))
    common.verdict("comparison and choice", close(cl_array.if_positive(on_device, on_device, divisor), np.where(a > 0, a, b)))
    common.verdict("slices", close(on_device[3:100], a[3:100]))
    common.verdict("arange", np.array_equal(cl_array.arange(queue, 5, 500, 3, dtype=np.int32).get(), np.arange(5, 500, 3)))
    common.verdict("take", close(cl_array.take(on_device, cl_array.arange(queue, 0, args.size, 7, dtype=np.int32)), a[::7]))
    common.verdict("sum, max and dot", np.allclose(
        [cl_array.sum(divisor).get(), cl_array.max(on_device).get(), cl_array.dot(on_device, divisor).get()],
        [b.sum(dtype=np.float64), a.max(), a.astype(np.float64) @ b], rtol=1e-4, atol=0.5))
    fill = cl_array.zeros(queue, args.size, np.float32)
    fill.fill(2.5)
    common.verdict("fill", np.all(fill.get() == 2.5))
    uniform = pyopencl.clrandom.rand(queue, args.size, np.float32).get()
    common.verdict("random numbers", 0 <= uniform.min() and uniform.max() <= 1 and abs(uniform.mean() - 0.5) < 0.05)


main()
