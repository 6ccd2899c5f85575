#!/usr/bin/env python3
"""Distributes work to several processes with Dask. Each process has its own OpenCL device. Computes a Mandelbrot set and a sum of squares in pieces.

The example kills one worker. Dask starts a replacement and repeats the lost pieces. See docs/cluster.md.
"""

import argparse
import os
import signal
import sys
import time

import numpy as np

# Disables log messages when workers start and stop, and shortens the wait for a lost worker. `distributed` reads these variables when it is imported.
os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
os.environ.setdefault("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "3s")
try:
    from distributed import Client, Nanny, Scheduler, SpecCluster, WorkerPlugin, as_completed, get_worker
except ImportError:
    print("skipped: the package `distributed` is not installed")
    sys.exit(77)
from tqdm import tqdm

SOURCE = """
kernel void mandelbrot(global int *counts, float x0, float y0, float pixel, int limit)
{
    int x = get_global_id(0), y = get_global_id(1);
    float2 c = (float2)(x0 + x * pixel, y0 + y * pixel), z = 0.0f;
    int n = 0;
    while (n < limit && dot(z, z) <= 4.0f) {
        z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
        n++;
    }
    counts[y * get_global_size(0) + x] = n;
}

kernel void squares(global const int *values, global long *sums, int count)
{
    long sum = 0;
    for (int i = get_global_id(0); i < count; i += get_global_size(0)) sum += (long)values[i] * values[i];
    sums[get_global_id(0)] = sum;
}
"""
LANES = 1024


class Device(WorkerPlugin):
    """The state of a worker: its device, a queue, and the kernels. Every worker creates it when it starts, replacements included. pyopencl is imported
    only in the worker, after WGCL_DEVICE and the processor affinity are set."""

    name = "opencl"

    def __init__(self, shares):
        self.shares = shares

    def setup(self, worker):
        # The CPU device has as many compute units as the thread that queries the devices has processors.
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), self.shares[worker.name])
        import pyopencl as cl

        platforms = [platform for platform in cl.get_platforms() if platform.get_devices()]
        self.cl, self.device = cl, platforms[0].get_devices()[0]
        self.context = cl.Context([self.device])
        self.queue = cl.CommandQueue(self.context)
        program = cl.Program(self.context, SOURCE).build()
        self.mandelbrot, self.squares = cl.Kernel(program, "mandelbrot"), cl.Kernel(program, "squares")

    def output(self, array):
        return self.cl.Buffer(self.context, self.cl.mem_flags.WRITE_ONLY, array.nbytes)


def describe(dask_worker):
    """Returns a worker's process, device and number of compute units."""
    device = dask_worker.plugins["opencl"].device
    return os.getpid(), device.name.strip(), device.max_compute_units


def mandelbrot(first_row, rows, width, height, limit):
    """Computes the iteration counts of some rows of the set."""
    own = get_worker().plugins["opencl"]
    pixel = 3.0 / width
    counts = np.empty((rows, width), np.int32)
    buffer = own.output(counts)
    y0 = (first_row - height / 2) * pixel
    own.mandelbrot(own.queue, (width, rows), None, buffer, np.float32(-2.2), np.float32(y0), np.float32(pixel), np.int32(limit))
    own.cl.enqueue_copy(own.queue, counts, buffer)
    return os.getpid(), first_row, counts


def sum_of_squares(piece, count):
    """Computes the sum of squares of one piece. The worker generates its numbers."""
    own = get_worker().plugins["opencl"]
    values = numbers(piece, count)
    flags = own.cl.mem_flags
    buffer = own.cl.Buffer(own.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=values)
    sums = np.empty(LANES, np.int64)
    result = own.output(sums)
    own.squares(own.queue, (LANES,), None, buffer, result, np.int32(count))
    own.cl.enqueue_copy(own.queue, sums, result)
    return os.getpid(), int(sums.sum())


def numbers(piece, count):
    return np.random.default_rng(piece).integers(-1000, 1000, count, dtype=np.int32)


def specification(devices):
    """Returns the workers (processes with one thread and their WGCL_DEVICE), and the processors of each. Workers on the same device share its processors."""
    processors = sorted(os.sched_getaffinity(0))
    share = len(processors) // len(devices)
    workers, shares = {}, {}
    for index, device in enumerate(devices):
        environment = {"WGCL_DEVICE": device} if device else {}
        workers[index] = {"cls": Nanny, "options": {"host": "127.0.0.1", "nthreads": 1, "env": environment, "dashboard": False}}
        is_shared = devices.count(device) > 1 and share > 0
        shares[index] = processors[index * share : (index + 1) * share] if is_shared else processors
    return workers, shares


def collect(client, name, futures, kill):
    """Collects results with a progress bar. Kills the process `kill` after a third of the results."""
    results = []
    for future, result in tqdm(as_completed(futures, with_results=True), total=len(futures), desc=name, disable=None):
        results.append(result)
        if kill and len(results) >= len(futures) // 3:
            os.kill(kill, signal.SIGKILL)
            print(f"{name}: process {kill} killed after {len(results)} of {len(futures)} pieces")
            kill = None
    return results


def reference(args):
    """The set computed with numpy, in the same way as on the device."""
    pixel = np.float32(3.0 / args.width)
    x = np.float32(-2.2) + np.arange(args.width, dtype=np.float32) * pixel
    y = np.arange(-args.height / 2, args.height / 2, dtype=np.float32) * pixel
    cx, cy = np.broadcast_to(x, (args.height, args.width)), np.broadcast_to(y[:, None], (args.height, args.width))
    zx, zy, counts = np.zeros_like(cx), np.zeros_like(cy), np.zeros(cx.shape, np.int32)
    for _ in range(args.limit):
        alive = zx * zx + zy * zy <= 4
        counts += alive
        zx, zy = np.where(alive, zx * zx - zy * zy + cx, zx), np.where(alive, 2 * zx * zy + cy, zy)
    return counts


def work(client, args):
    """Runs both computations. Returns whether their results are correct."""
    victim = None if args.spare else min(client.run(os.getpid).values())
    begin = time.perf_counter()
    rows = args.height // args.pieces
    futures = [client.submit(mandelbrot, i * rows, rows, args.width, args.height, args.limit, pure=False) for i in range(args.pieces)]
    parts = collect(client, "mandelbrot", futures, victim)
    counts = np.concatenate([part[2] for part in sorted(parts, key=lambda part: part[1])])
    print(f"mandelbrot: {len(parts)} pieces by {len({part[0] for part in parts})} processes in {time.perf_counter() - begin:.2f} s")
    # Devices may contract expressions, so the counts of some points on the border differ.
    differ = np.count_nonzero(counts != reference(args))
    right = counts.shape == (args.height, args.width) and differ <= counts.size // 100
    print(f"mandelbrot: {'correct' if right else 'WRONG'} ({differ} of {counts.size} points differ from numpy)")

    begin = time.perf_counter()
    futures = [client.submit(sum_of_squares, piece, args.count, pure=False) for piece in range(args.pieces)]
    sums = collect(client, "squares", futures, None)
    total, time_taken = sum(result for _, result in sums), time.perf_counter() - begin
    print(f"squares: {len(sums)} pieces by {len({process for process, _ in sums})} processes in {time_taken:.2f} s")
    want = sum(int((numbers(piece, args.count).astype(np.int64) ** 2).sum()) for piece in range(args.pieces))
    print(f"squares: {'correct' if total == want else 'WRONG'} ({total})")
    return right and total == want


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--devices", default=",", help="comma-separated values of WGCL_DEVICE, one worker each; an empty value is the first device")
    parser.add_argument("--pieces", type=int, default=24, help="number of pieces")
    parser.add_argument("--width", type=int, default=480)
    parser.add_argument("--height", type=int, default=360)
    parser.add_argument("--limit", type=int, default=200, help="iterations")
    parser.add_argument("--count", type=int, default=100_000, help="numbers per piece of the sum")
    parser.add_argument("--spare", action="store_true", help="do not kill a worker")
    args = parser.parse_args()
    args.height -= args.height % args.pieces

    workers, shares = specification(args.devices.split(","))
    scheduler = {"cls": Scheduler, "options": {"host": "127.0.0.1", "dashboard": False, "port": 0}}
    with SpecCluster(scheduler=scheduler, workers=workers, silence_logs="CRITICAL") as cluster, Client(cluster) as client:
        client.wait_for_workers(len(workers))
        client.register_plugin(Device(shares))
        for process, name, units in client.run(describe).values():
            print(f"worker {process}: {name}, {units} compute units")
        right = work(client, args)
    sys.exit(not right)


if __name__ == "__main__":
    main()
