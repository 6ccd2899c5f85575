"""Compares OpenCL platforms: the same workloads, run in turn on each, checked, and their median times set side by side."""

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time

# No cache may answer for a compiler that is being timed. This must be set before any driver is loaded.
CACHES_OFF = {
    "PYOPENCL_NO_CACHE": "1",
    "POCL_KERNEL_CACHE": "0",
    "MESA_SHADER_CACHE_DISABLE": "true",
    "__GL_SHADER_DISK_CACHE": "0",
    "CUDA_CACHE_DISABLE": "1",
}
os.environ.update(CACHES_OFF)

# Seconds after which a workload is not timed again on a platform, however many rounds were asked for.
PATIENCE = 20

from worker import Worker, find_devices  # noqa: E402
from workloads import WORKLOADS  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--platform", action="append", default=[], metavar="NAME", help="only platforms whose name contains this; may be repeated")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only workloads whose name contains this; may be repeated")
    parser.add_argument("--rounds", type=int, default=5, help="times that each workload is timed on each platform (default 5)")
    parser.add_argument("--size", choices=["small", "large", "auto"], default="auto", help="problem sizes; auto: small where a device is a CPU")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="limit for one run (default 120)")
    parser.add_argument("--json", metavar="FILE", help="also write all results there")
    parser.add_argument("--list", action="store_true", help="list platforms and workloads, and stop")
    return parser.parse_args()


def measure(workload, workers, rounds, size):
    """The times of one workload by platform: a list of seconds, or a text that says why there are none."""
    times = {}
    for worker in workers:
        answer = worker.call("prepare", workload, size)
        times[worker.name] = [] if answer is None else answer
    for _ in range(rounds):
        # Platforms take turns, so that what else the machine does hits all of them alike.
        for worker in workers:
            # What takes very long is timed less often.
            if isinstance(times[worker.name], list) and sum(times[worker.name]) < PATIENCE:
                answer = worker.call("time")
                if isinstance(answer, float):
                    times[worker.name].append(answer)
                else:
                    times[worker.name] = answer
    for worker in workers:
        if isinstance(times[worker.name], list):
            wrong = worker.call("check")
            if wrong is not None:
                times[worker.name] = wrong
    return times


def format_rate(workload, size, seconds):
    amount, unit = WORKLOADS[workload](size).work()
    if unit == "s":
        return f"{seconds / amount * 1e6:.4g} us" if seconds / amount < 0.01 else f"{seconds / amount * 1e3:.4g} ms"
    return f"{amount / seconds * 1e-9:.4g} {unit}"


def main():
    args = parse_arguments()
    devices = find_devices()
    chosen = [d for d in devices if not args.platform or any(p.lower() in d["platform"].lower() for p in args.platform)]
    names = [name for name in WORKLOADS if not args.only or any(part in name for part in args.only)]
    if args.list or not chosen or not names:
        print("platforms: " + ", ".join(f"{d['platform']} ({d['device']})" for d in devices))
        print("workloads: " + ", ".join(WORKLOADS))
        return 0 if args.list else 2
    size = args.size if args.size != "auto" else ("small" if any(d["is_cpu"] for d in chosen) else "large")
    # wgcl first: the others are compared with it.
    chosen.sort(key=lambda d: d["platform"] != "wgcl")
    workers = [Worker(d, args.timeout) for d in chosen]
    ours = workers[0].name

    print(f"sizes {size}, median of {args.rounds}; in brackets: time of the platform / time of {ours}, above 1 {ours} is faster")
    for d in chosen:
        print(f"  {d['platform']}: {d['device']}, {d['version']}")
    print("\n" + f"{'workload':<20}" + "".join(f"{w.name[:26]:>28}" for w in workers))
    results, ratios = {}, {w.name: [] for w in workers[1:]}
    begin = time.time()
    for name in names:
        times = measure(name, workers, args.rounds, size)
        medians = {n: statistics.median(t) if isinstance(t, list) and t else None for n, t in times.items()}
        cells = []
        for worker in workers:
            median = medians[worker.name]
            if median is None:
                cells.append("failed")
                continue
            cell = format_rate(name, size, median)
            if worker.name != ours and medians[ours]:
                ratio = median / medians[ours]
                ratios[worker.name].append(ratio)
                cell += f" [{ratio:.3g}]"
            cells.append(cell)
        print(f"{name:<20}" + "".join(f"{cell:>28}" for cell in cells), flush=True)
        for worker_name, outcome in times.items():
            if isinstance(outcome, str):
                print(f"  {worker_name}: {outcome}")
        results[name] = {n: {"seconds": t, "median": medians[n]} if isinstance(t, list) else {"error": t} for n, t in times.items()}
    for worker in workers:
        worker.stop()

    means = {n: math.exp(statistics.fmean(map(math.log, r))) for n, r in ratios.items() if r}
    if means:
        print("\n" + f"{'geometric mean':<20}" + f"{'':>28}" + "".join(f"{f'[{means[w.name]:.2f}]' if w.name in means else '':>28}" for w in workers[1:]))
    print(f"{time.time() - begin:.0f} s")
    if args.json:
        report = {
            "machine": platform.node(), "processor": platform.processor(), "python": sys.version, "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "size": size, "rounds": args.rounds, "devices": chosen, "workloads": results, "geometric_means": means,
        }
        with open(args.json, "w") as file:
            json.dump(report, file, indent=1)
    failed = any("error" in outcome for outcomes in results.values() for n, outcome in outcomes.items() if n == ours)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
