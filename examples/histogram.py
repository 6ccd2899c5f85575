#!/usr/bin/env python3
"""Histogram of bytes: atomics on local memory in each work-group, then one atomic on global memory per bin."""

import numpy as np
import pyopencl as cl

import common

SOURCE = """
kernel void histogram(global const uchar *data, uint size, global uint *bins)
{
    local uint counts[256];
    for (uint bin = get_local_id(0); bin < 256; bin += get_local_size(0))
        counts[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < size; i += get_global_size(0))
        atomic_inc(&counts[data[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = get_local_id(0); bin < 256; bin += get_local_size(0))
        if (counts[bin])
            atomic_add(&bins[bin], counts[bin]);
}
"""


def main():
    args = common.arguments(__doc__, size=(1 << 20, "bytes"), groups=(16, "work-groups"), group=(64, "work-group size"))
    context, queue = common.open_device(args)
    kernel = cl.Program(context, SOURCE).build().histogram

    # A normal distribution, so that some bins are full and others empty.
    data = np.random.default_rng(3).normal(128, 30, args.size).clip(0, 255).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    buffers = common.to_device(context, data), common.to_device(context, bins)
    event = kernel(queue, (args.groups * args.group,), (args.group,), buffers[0], np.uint32(args.size), buffers[1])
    result = common.to_host(queue, buffers[1], bins)
    print(f"{args.size} bytes in {common.milliseconds(event):.2f} ms")
    common.verdict("counts", np.array_equal(result, np.bincount(data, minlength=256)))


main()
