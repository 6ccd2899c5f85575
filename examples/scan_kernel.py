#!/usr/bin/env python3
"""pyopencl's scans: inclusive and exclusive sums, a running maximum, segments, and a stream compaction built on them."""

import numpy as np
import pyopencl.array as cl_array
from pyopencl.algorithm import copy_if
from pyopencl.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel

import common


def main():
    args = common.arguments(__doc__, size=(20_000, "elements"))
    context, queue = common.open_device(args)
    n = np.random.default_rng(9).integers(0, 100, args.size, np.int32)

    data = cl_array.to_device(queue, n)
    InclusiveScanKernel(context, np.int32, "a + b", neutral="0")(data)
    common.verdict("inclusive sum", np.array_equal(data.get(), np.cumsum(n, dtype=np.int32)))

    data = cl_array.to_device(queue, n)
    ExclusiveScanKernel(context, np.int32, "a + b", neutral="0")(data)
    common.verdict("exclusive sum", np.array_equal(data.get(), np.concatenate([[0], np.cumsum(n, dtype=np.int32)[:-1]])))

    data = cl_array.to_device(queue, n)
    InclusiveScanKernel(context, np.int32, "max(a, b)", neutral="INT_MIN")(data)
    common.verdict("running maximum", np.array_equal(data.get(), np.maximum.accumulate(n)))

    # A segmented sum: it restarts at each flag.
    flags = (n < 5).astype(np.int8)
    data, out = cl_array.to_device(queue, n), cl_array.empty(queue, args.size, np.int32)
    segmented = GenericScanKernel(
        context, np.int32, arguments="__global const int *v, __global const char *flags, __global int *out",
        input_expr="v[i]", scan_expr="across_seg_boundary ? b : (a + b)", neutral="0", is_segment_start_expr="flags[i]",
        output_statement="out[i] = item;",
    )
    segmented(data, cl_array.to_device(queue, flags), out)
    starts = np.maximum.accumulate(np.where(flags, np.arange(args.size), 0))
    sums = np.cumsum(n)
    common.verdict("segmented sum", np.array_equal(out.get(), sums - sums[starts] + n[starts]))

    data = cl_array.to_device(queue, n)
    chosen, count, _ = copy_if(data, "ary[i] > 90", queue=queue)
    common.verdict("compaction", np.array_equal(chosen.get()[: int(count.get())], n[n > 90]))


main()
