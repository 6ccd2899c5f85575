"""Compares OpenCL platforms: runs the same workloads on each, checks the results, and compares the median times.

A sample repeats a kernel workload for about 20 ms (60 ms on a GPU), and divides the time by the number of repetitions. Python and the launch latency therefore
have little effect.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time

import report as reports
from bounds import BOUNDED, BoundWorker, find_bounds
from bounds import NAME as BOUND
from programs import PROGRAMS
from programs import measure as measure_program
from twins import VARIANTS, TwinWorker, find_twins
from worker import Worker, find_devices

# Each workload enables or disables the drivers' caches. This variable disables pyopencl's own cache for all workloads.
os.environ["PYOPENCL_NO_CACHE"] = "1"

# With --cpu-time, the number of samples per round. The result of a round is their minimum.
CPU_SAMPLES_PER_ROUND = 30

# The kinds of workers of platforms that are not OpenCL drivers.
WORKERS = {BOUND: BoundWorker} | dict.fromkeys(VARIANTS, TwinWorker)

# After this time in seconds, a workload is not repeated on a platform, even if fewer than `--rounds` rounds have run.
PATIENCE = 20


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", action="append", default=[], metavar="NAME", help="run only platforms whose name contains NAME; can be repeated")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="run only workloads whose name contains NAME, or whose group is NAME; can be repeated")
    parser.add_argument("--skip", action="append", default=[], metavar="NAME", help="skip workloads whose name contains NAME, or whose group is NAME; can be repeated")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each workload on each platform (default 5)")
    parser.add_argument("--size", choices=["small", "large", "auto"], default="auto", help="problem sizes; auto: large if there is a GPU (then CPUs run only if named), else small")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="time limit of one step of a workload (default 120)")
    parser.add_argument("--cpu-time", action="store_true", help="use one core, and report the least CPU time instead of the median wall-clock time; for machines with other load")
    parser.add_argument("--bounds", action="store_true", help="compare kernels with hand-written C, OpenBLAS and FFTW on one core; implies --cpu-time")
    parser.add_argument("--programs", action="store_true", help="run installed programs instead of workloads")
    parser.add_argument("--scaling", action="store_true", help="measure growth with bytes, launches, arguments and lines instead")
    parser.add_argument("--json", metavar="FILE", help="also write all results to FILE")
    parser.add_argument("--chart", metavar="FILE", help="also draw the ratios (.svg or .png; requires matplotlib)")
    parser.add_argument("--overview", metavar="FILE", help="also draw the speed of kernels, and the times of builds and of the first result (requires matplotlib)")
    parser.add_argument("--markdown", metavar="FILE", help="also write the tables to FILE, between the markers <!-- bench:begin SECTION --> and <!-- bench:end SECTION -->")
    parser.add_argument("--section", metavar="NAME", help="the section for --markdown (default: cpu or gpu, with -scaling or -programs)")
    parser.add_argument("--from", dest="source", metavar="FILE", help="do not measure; read the results that --json wrote")
    parser.add_argument("--list", action="store_true", help="list platforms and workloads, and exit")
    return parser.parse_args()


def save(report, args):
    """Writes the results up to now, so that an interrupted run keeps them."""
    if args.json and not args.source:
        with open(args.json + ".part", "w") as file:
            json.dump(report, file, indent=1)
        os.replace(args.json + ".part", args.json)


def finish(report, args):
    """Writes all requested outputs."""
    save(report, args)
    if args.markdown:
        section = args.section or ("cpu" if report["size"] == "small" else "gpu") + ("-scaling" if report.get("scaling") else "-programs" if args.programs else "")
        reports.write_markdown(report, args.markdown, section)
    for path, write in ((args.chart, reports.write_chart), (args.overview, reports.write_overview)):
        if path and not write(report, path):
            print(f"{path}: not written, because matplotlib is not installed (run scripts/setup python)", file=sys.stderr)


def time_alternating(workload, workers, rounds, size, cpu_time=False):
    """The result of a workload for each platform: the median (or least CPU time), or the reason why there is none."""
    outcomes = {w.name: {"seconds": []} for w in workers if w.supports(workload)}

    def running():
        return [w for w in workers if w.name in outcomes and not {"error", "skipped"} & outcomes[w.name].keys()]

    def all_at_once(*message):
        """Runs an untimed step on all platforms at once."""
        asked = running()
        for worker in asked:
            worker.ask(*message)
        for worker in asked:
            outcomes[worker.name] |= worker.answer()

    all_at_once("prepare", workload, size)
    for worker in running():
        outcomes[worker.name] |= worker.call("warm_up")
    for _ in range(rounds):
        # Platforms alternate, so that other load on the machine affects all of them equally.
        for worker in running():
            outcome = outcomes[worker.name]
            # Slow workloads have fewer samples.
            if sum(outcome["seconds"]) * outcome["loops"] < PATIENCE:
                answer = worker.call("time", CPU_SAMPLES_PER_ROUND if cpu_time else 1)
                if "seconds" in answer:
                    outcome["seconds"].append(answer["seconds"])
                else:
                    outcome |= answer
    all_at_once("check")
    for worker in running():
        outcome = outcomes[worker.name]
        if not outcome.pop("right"):
            outcome["error"] = "wrong result"
            continue
        outcome["median"] = (min if cpu_time else statistics.median)(outcome["seconds"])
        answer = worker.call("device_time")
        if answer.get("seconds"):
            outcome["device_seconds"] = answer["seconds"]
    return outcomes


def progress(items):
    """The items, with a progress bar on a terminal if tqdm is installed; and a function that prints above the bar."""
    try:
        from tqdm import tqdm
    except ImportError:
        return items, lambda text: print(text, flush=True)
    bar = tqdm(items, disable=None, leave=False, unit="workload")
    return bar, lambda text: (tqdm.write(text), sys.stdout.flush())


def measure(report, names, workers, args):
    from workloads import WORKLOADS

    print("\n" + reports.head(report))
    bar, say = progress(names)
    for name in bar:
        if hasattr(bar, "set_description"):
            bar.set_description(name)
        amount, unit = (workload := WORKLOADS[name])(report["size"]).work()
        report["workloads"][name] = {
            "group": workload.group, "family": workload.family, "amount": amount, "unit": unit,
            "platforms": time_alternating(name, workers, args.rounds, report["size"], args.cpu_time),
        }
        say(reports.row(report, name))
        reports.add_ratios(report)
        save(report, args)
    for worker in workers:
        if worker.name == BOUND and "peak" in (answer := worker.call("peak")):
            report["peak_flops"] = answer["peak"]
    report["peak_memory_MiB"] = {w.name: answer["memory"] for w in workers if "memory" in (answer := w.call("memory"))}
    print("\n" + reports.means(report))
    if report.get("peak_flops"):
        print("\n" + reports.peak(report))


def measure_programs(report, devices, args):
    """Measures the installed programs. `--only` and `--skip` match the names of programs and of their results."""
    def named(program, parts):
        return any(part.lower() in name.lower() for part in parts for name in (program.name, *(row.name for row in program.rows)))

    selected = [p for p in PROGRAMS if (not args.only or named(p, args.only)) and not named(p, args.skip)]
    installed = [p for p in selected if p.path()]
    missing = [f"{p.name} ({p.variable})" for p in selected if not p.path()]
    if missing:
        print("not installed, and not named by their environment variables: " + ", ".join(missing))
    print("\n" + reports.head(report))
    bar, say = progress(installed)
    for program in bar:
        for name, entry in measure_program(program, devices, args.rounds, args.timeout).items():
            report["workloads"][name] = entry
            say(reports.row(report, name))
        reports.add_ratios(report)
        save(report, args)
    print("\n" + reports.means(report))


def measure_scaling(report, workers, args):
    from workloads import SERIES, steps

    report["scaling"] = {}
    for series in SERIES:
        if args.only and not any(part in series for part in args.only):
            continue
        table, ended = report["scaling"].setdefault(series, {}), set()
        bar, _ = progress(steps(series, report["size"]))
        for number in bar:
            outcomes = time_alternating((series, number), [w for w in workers if w.name not in ended], args.rounds, report["size"])
            table[str(number)] = {n: o.get("median") or o.get("error") or o.get("skipped") for n, o in outcomes.items()}
            # A platform that failed at this size, or took very long, does not run larger sizes.
            ended |= {n for n, o in outcomes.items() if not o.get("median") or o["median"] > PATIENCE / 2}
        print("\n" + reports.scaling_table(report, series), flush=True)
        save(report, args)


def main():
    args = parse_arguments()
    if args.source:
        with open(args.source) as file:
            report = json.load(file)
        if report["workloads"]:
            print("\n".join([reports.head(report), *(reports.row(report, name) for name in report["workloads"]), "", reports.means(report)]))
        for series in report.get("scaling", {}):
            print("\n" + reports.scaling_table(report, series))
        finish(report, args)
        return 0

    from workloads import WORKLOADS

    args.cpu_time |= args.bounds
    devices, home = find_devices()
    devices += find_twins()
    chosen = [d for d in devices if not args.platform or any(p.lower() in d["platform"].lower() for p in args.platform)]
    if args.bounds:
        chosen += (bounds := find_bounds(home.name))
        if not bounds:
            return 2

    def named(name, parts):
        return any(part in name or part == WORKLOADS[name].group for part in parts)

    names = [name for name in WORKLOADS if (not args.only or named(name, args.only)) and not named(name, args.skip) and (not args.bounds or name in BOUNDED)]
    if args.list or not chosen or not (names or args.scaling or args.programs):
        print("platforms: " + ", ".join(f"{d['platform']} ({d['device']})" for d in devices))
        print("workloads: " + ", ".join(WORKLOADS))
        return 0 if args.list else 2
    size = args.size if args.size != "auto" else ("small" if all(d["is_cpu"] for d in chosen) else "large")
    if size == "large" and args.size == "auto" and not args.platform and any(d["is_cpu"] for d in chosen):
        print("skipped, because there is a GPU (--platform selects them): " + ", ".join(d["platform"] for d in chosen if d["is_cpu"]))
        chosen = [d for d in chosen if not d["is_cpu"]]
    # wgcl is first, because the others are compared with it.
    chosen.sort(key=lambda d: d["platform"] != "wgcl")
    if args.programs:
        chosen = [d for d in chosen if d["platform"] not in VARIANTS]
    workers = [] if args.programs else [WORKERS.get(d["platform"], Worker)(d, args.timeout) for d in chosen]
    base = chosen[0]["platform"]
    for device in chosen:
        device["cpu_time"] = args.cpu_time
    report = {
        "machine": platform.node(), "processor": platform.processor(), "python": sys.version, "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "size": size, "rounds": args.rounds, "cpu_time": args.cpu_time, "base": base, "devices": [{k: d[k] for k in ("platform", "device", "version", "is_cpu")} for d in chosen],
        "workloads": {}, "ratios": {},
    }
    print(f"sizes {size}, {reports.manner(report)}; in brackets: time of the platform / time of {base}. Above 1, {base} is faster.")
    for d in chosen:
        print(f"  {d['platform']}: {d['device']}, {d['version']}")
    begin = time.time()
    if args.programs:
        measure_programs(report, chosen, args)
    elif args.scaling:
        measure_scaling(report, workers, args)
    else:
        measure(report, names, workers, args)
    for worker in workers:
        worker.stop()
    home.cleanup()
    print(f"{time.time() - begin:.0f} s")
    finish(report, args)
    return 1 if any("error" in entry["platforms"].get(base, {}) for entry in report["workloads"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
