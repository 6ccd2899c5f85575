#!/usr/bin/env python3
"""Sums an array: each work-group reduces its part in local memory; a second launch sums the groups' results."""

import numpy as np
import pyopencl as cl

import common

SOURCE = """
kernel void sum(global const float *data, uint size, global float *sums, local float *partial)
{
    uint lane = get_local_id(0);
    float total = 0.0f;
    for (uint i = get_global_id(0); i < size; i += get_global_size(0))
        total += data[i];
    partial[lane] = total;
    // Half of the active work-items add in each iteration. The group size is a power of two.
    for (uint width = get_local_size(0) / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width)
            partial[lane] += partial[lane + width];
    }
    if (lane == 0)
        sums[get_group_id(0)] = partial[0];
}
"""


def main():
    args = common.arguments(__doc__, size=(1_000_003, "elements"), groups=(64, "work-groups"), group=(64, "work-group size, a power of two"))
    context, queue = common.open_device(args)
    kernel = cl.Program(context, SOURCE).build().sum

    data = np.random.default_rng(5).uniform(0, 1, args.size).astype(np.float32)
    sums = np.zeros(args.groups, np.float32)
    total = np.zeros(1, np.float32)
    data_buffer, sums_buffer, total_buffer = (common.to_device(context, array) for array in (data, sums, total))
    partial = cl.LocalMemory(4 * args.group)
    first = kernel(queue, (args.groups * args.group,), (args.group,), data_buffer, np.uint32(args.size), sums_buffer, partial)
    second = kernel(queue, (args.group,), (args.group,), sums_buffer, np.uint32(args.groups), total_buffer, partial)
    result = common.to_host(queue, total_buffer, total)[0]
    time = common.milliseconds(first) + common.milliseconds(second)
    want = data.sum(dtype=np.float64)
    print(f"{args.size} floats in {time:.2f} ms: {result:.3f}, numpy: {want:.3f}")
    common.verdict("sum", abs(result - want) <= 1e-5 * want)


main()
