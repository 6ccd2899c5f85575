"""Results: ratios and means, tables on the terminal and in Markdown, charts."""

import math
import statistics

# The groups of workloads and their titles. Each group has its own geometric mean. The mean of the first group is the main result.
GROUPS = {
    "kernels": "kernel workloads", "applications": "kernels of applications", "images": "images", "runtime": "runtime costs",
    "builds": "builds and first launches", "large builds": "build of 20,000 lines", "spirv": "SPIR-V modules", "spirv builds": "builds of SPIR-V modules",
    "memory": "memory", "programs": "programs",
}


def manner(report):
    """A phrase that says how the samples are combined to a result."""
    return f"least CPU time of one thread in {report['rounds']} round{'' if report['rounds'] == 1 else 's'}" if report.get("cpu_time") else f"median of {report['rounds']}"


def median(outcome):
    """The median in seconds, or None if the platform has no result."""
    return outcome.get("median") if outcome else None


def format_time(seconds):
    unit, scale = next((u for u in (("s", 1), ("ms", 1e-3), ("us", 1e-6)) if seconds >= u[1]), ("ns", 1e-9))
    return f"{seconds / scale:.4g} {unit}"


def format_step(seconds, number):
    """Formats a step of a series with `number` items: the total time and the time per item. If there is no time, returns the reason (a string)."""
    return f"{format_time(seconds)} ({format_time(seconds / int(number))})" if isinstance(seconds, float) else (seconds or "")


def format_rate(entry, seconds):
    """Formats the median of a workload in the unit of its entry: as a rate, a time, or MiB."""
    amount, unit = entry["amount"], entry["unit"]
    if unit == "MiB":
        return f"{seconds:.4g} MiB"
    if unit == "s":
        return format_time(seconds / amount)
    rate = amount / seconds
    prefix, scale = next((p for p in (("G", 1e9), ("M", 1e6), ("k", 1e3)) if unit == "GB/s" or rate >= p[1] / 10), ("k", 1e3))
    return f"{rate / scale:.4g} {prefix}{unit[1:]}"


def ratio(entry, name, base):
    """The platform's time divided by the base's time: above 1, the base is faster. None if either has no result."""
    ours, theirs = (median(entry["platforms"].get(n)) for n in (base, name))
    return theirs / ours if ours and theirs else None


def others(report):
    return [d["platform"] for d in report["devices"] if d["platform"] != report["base"]]


def _summary(rows):
    worst = min(rows, key=lambda row: row[1])
    return {"geomean": math.exp(statistics.fmean(math.log(r) for _, r in rows)), "worst": f"{worst[0]} {worst[1]:.3g}", "count": len(rows)}


def add_ratios(report):
    """Computes the geometric means of each group and family of workloads. The main result of a platform is the mean of the kernel workloads."""
    report["ratios"] = {}
    for name in others(report):
        found = {w: ratio(entry, name, report["base"]) for w, entry in report["workloads"].items()}
        result = {}
        for kind in ("group", "family"):
            rows = {}
            for workload, value in found.items():
                if value:
                    rows.setdefault(report["workloads"][workload][kind], []).append((workload, value))
            result[kind] = {key: _summary(values) for key, values in rows.items()}
        if result["group"]:
            report["ratios"][name] = result["group"].get("kernels", {}) | {"groups": result["group"], "families": result["family"]}


def cell(entry, name, base):
    outcome = entry["platforms"].get(name)
    if outcome is None:
        return ""
    if median(outcome) is None:
        return "skipped" if "skipped" in outcome else "failed"
    text, value = format_rate(entry, median(outcome)), ratio(entry, name, base)
    return f"{text} [{value:.3g}]" if value and name != base else text


WIDTH = 28


def head(report):
    names = [report["base"], *others(report)]
    return f"{'workload':<24}" + "".join(f"{name[:WIDTH - 2]:>{WIDTH}}" for name in names)


def row(report, workload):
    """A line of the table, followed by the reasons for missing results."""
    entry = report["workloads"][workload]
    names = [report["base"], *others(report)]
    lines = [f"{workload:<24}" + "".join(f"{cell(entry, name, report['base']):>{WIDTH}}" for name in names)]
    for name, outcome in entry["platforms"].items():
        lines += [f"  {name}: {word}: {outcome[word]}" for word in ("error", "skipped") if word in outcome]
    return "\n".join(lines)


def means(report):
    """The geometric means of the groups, one line each."""
    lines = []
    for group, title in GROUPS.items():
        found = [report["ratios"].get(name, {}).get("groups", {}).get(group) for name in others(report)]
        if any(found):
            lines.append(f"{title:<24}" + f"{'':>{WIDTH}}" + "".join(f"{'[%.3g]' % s['geomean'] if s else '':>{WIDTH}}" for s in found))
    return "\n".join(["geometric means", *lines]) if lines else ""


def peak(report):
    """The largest arithmetic speed of one thread, and the part of it that the base reaches in each workload that is measured in FLOP/s."""
    base, parts = report["base"], []
    for name, entry in report["workloads"].items():
        if entry["unit"] == "GFLOP/s" and (seconds := median(entry["platforms"].get(base))):
            parts.append(f"{name} {entry['amount'] / seconds / report['peak_flops']:.2f}")
    return f"Independent multiply-adds of one thread: {report['peak_flops'] / 1e9:.4g} GFLOP/s. The part that {base} reaches: {', '.join(parts)}."


def scaling_table(report, series):
    """The table of one series: for each size, the total time and the time per item."""
    steps, names = report["scaling"][series], [d["platform"] for d in report["devices"]]
    lines = [f"{series:<24}" + "".join(f"{name[:WIDTH - 2]:>{WIDTH}}" for name in names)]
    for number, medians in steps.items():
        cells = [format_step(medians.get(name), number) for name in names]
        lines.append(f"{number:>24}" + "".join(f"{text[:WIDTH - 1]:>{WIDTH}}" for text in cells))
    return "\n".join(lines)


def _markdown_table(rows):
    rows = [[str(c) for c in r] for r in rows]
    return "\n".join(["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0]), *("| " + " | ".join(r) + " |" for r in rows[1:])])


def markdown(report):
    """The tables for the documentation."""
    base, names = report["base"], others(report)
    parts = [f"{report['time'][:10]}, sizes {report['size']}, {manner(report)}.\n\n" + "\n".join(
        f"- {d['platform']}: {d['device']}, {d['version']}" for d in report["devices"])]
    rows = [["geometric mean of", *names]]
    for group, title in GROUPS.items():
        found = [report["ratios"].get(name, {}).get("groups", {}).get(group) for name in names]
        if any(found):
            rows.append([title, *(f"{s['geomean']:.3g} of {s['count']}, worst {s['worst']}" if s else "" for s in found)])
    parts.append(_markdown_table(rows))
    for group, title in GROUPS.items():
        inside = {w: e for w, e in report["workloads"].items() if e["group"] == group}
        if inside:
            parts.append(f"**{title[0].upper()}{title[1:]}**\n\n" + _markdown_table(
                [["workload", base, *names], *([w, cell(e, base, base), *(cell(e, n, base) for n in names)] for w, e in inside.items())]))
    if report.get("peak_flops"):
        parts.append(peak(report))
    for series, steps in report.get("scaling", {}).items():
        every = [d["platform"] for d in report["devices"]]
        parts.append(f"**{series[0].upper()}{series[1:]}** (total time, and time per item)\n\n" + _markdown_table([["number", *every], *(
            [n, *(format_step(m.get(p), n) for p in every)] for n, m in steps.items())]))
    return "\n\n".join(parts) + "\n"


def write_markdown(report, path, section):
    """Writes the tables between the markers of a section. If the file has no such markers, appends them."""
    begin, end = f"<!-- bench:begin {section} -->", f"<!-- bench:end {section} -->"
    try:
        with open(path) as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    if begin not in text or end not in text:
        text += f"\n{begin}\n{end}\n"
    before, rest = text.split(begin, 1)
    with open(path, "w") as file:
        file.write(f"{before}{begin}\n{markdown(report)}{end}{rest.split(end, 1)[1]}")


def write_overview(report, path):
    """Draws the speed of kernels, the time of a build, and the time to the first result of each platform. Returns False if matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    # The same results give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "wgcl"
    from matplotlib import pyplot

    base, names = report["base"], [d["platform"] for d in report["devices"]]
    titles = {d["platform"]: SHORT.get(d["platform"], d["platform"]) for d in report["devices"]}

    def speed(name):
        found = report["ratios"].get(name, {}).get("groups", {}).get("kernels")
        return 1.0 if name == base else 1 / found["geomean"] if found else None

    def milliseconds(*workloads):
        def of(name):
            times = [median(report["workloads"][w]["platforms"].get(name)) for w in workloads if w in report["workloads"]]
            return 1e3 * math.exp(statistics.fmean(math.log(t) for t in times)) if times and all(times) else None
        return of

    builds = [w for w, e in report["workloads"].items() if e["group"] == "builds" and w != "start_up" and not w.endswith("_warm")]
    panels = [
        ("speed of kernels\n(higher is better)", speed, "{:.2f}"),
        ("build and first launch, ms\n(lower is better)", milliseconds(*builds), "{:.3g}"),
        ("process start to first result, ms\n(lower is better)", milliseconds("start_up"), "{:.3g}"),
    ]
    figure, axes = pyplot.subplots(1, len(panels), figsize=(9, 0.9 + 0.4 * len(names)), sharey=True)
    for axis, (title, value, form) in zip(axes, panels):
        values = [value(name) for name in names]
        bars = axis.barh(range(len(names)), [v or 0 for v in values], color=["#3b6ea5" if n == base else "#b0b0b0" for n in names])
        axis.bar_label(bars, [form.format(v) if v else "" for v in values], padding=3, fontsize=8)
        axis.set_xlim(0, 1.25 * max([v for v in values if v] or [1]))
        axis.set_title(title, fontsize=9)
        axis.set_xticks([])
        for side in ("top", "right", "bottom"):
            axis.spines[side].set_visible(False)
    axes[0].set_yticks(range(len(names)), [titles[n] for n in names], fontsize=9)
    axes[0].invert_yaxis()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    return True


# Short names of platforms, for charts.
SHORT = {"Portable Computing Language": "PoCL", "Intel(R) OpenCL": "Intel"}


def write_chart(report, path):
    """Draws the ratios as bars on a logarithmic scale, one column per platform. Returns False if matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = [name for name in others(report) if report["ratios"].get(name)]
    workloads = [w for w, e in report["workloads"].items() if any(ratio(e, n, report["base"]) for n in names)]
    if not names or not workloads:
        return True
    palette = ("#3b6ea5", "#5c5c9e", "#7a9e3f", "#c77f2a", "#8a5a9e", "#b58bb5", "#b0413e", "#3f9e94", "#9e7a3f", "#888888")
    colours = dict(zip(GROUPS, palette, strict=True))
    figure, axes = pyplot.subplots(1, len(names), sharey=True, squeeze=False, figsize=(4 + 4 * len(names), 1.5 + 0.2 * len(workloads)))
    for axis, name in zip(axes[0], names):
        values = [ratio(report["workloads"][w], name, report["base"]) for w in workloads]
        paint = [colours[report["workloads"][w]["group"]] for w in workloads]
        # Bars start at 1, and extend to the right if the base is faster.
        axis.barh(range(len(workloads)), [(v or 1) - 1 for v in values], left=1, color=paint)
        axis.set_xscale("log")
        axis.axvline(1, color="black", linewidth=0.8)
        axis.grid(axis="x", which="major", alpha=0.4)
        mean = report["ratios"][name].get("geomean")
        axis.set_title(name + (f"\nkernels: geometric mean {mean:.2f}" if mean else ""), fontsize=10)
        axis.set_xlabel(f"time / time of {report['base']}")
    axes[0][0].set_yticks(range(len(workloads)), workloads, fontsize=7)
    axes[0][0].invert_yaxis()
    present = [g for g in GROUPS if any(report["workloads"][w]["group"] == g for w in workloads)]
    patches = [pyplot.Rectangle((0, 0), 1, 1, color=colours[g]) for g in present]
    figure.legend(patches, [GROUPS[g] for g in present], fontsize=8, loc="lower center", ncols=len(present))
    figure.tight_layout(rect=(0, 0.5 / figure.get_figheight(), 1, 1))
    figure.savefig(path)
    return True
