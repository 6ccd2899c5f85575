"""Benchmarks with real programs: runs the same command on every platform, and reads the speed that the program prints.

A program runs if it is installed or if its variable names it. This file contains only the commands and the patterns of their output.
"""

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass


@dataclass
class Row:
    """A number in a program's output: group 1 of `pattern`, multiplied by `scale`. It is a speed with the unit `unit`, or with `seconds`, a time in seconds.
    Without a pattern, the number is the time of the whole run."""

    name: str
    pattern: str
    scale: float
    unit: str
    seconds: bool = False


@dataclass
class Program:
    """A program: the variable or name that locates it, and its arguments."""

    name: str
    variable: str
    executable: str
    arguments: list
    rows: list

    def path(self):
        """The path of the program, or None."""
        return os.environ.get(self.variable) or (self.executable and shutil.which(self.executable))


def _stream(size, suffix, runs):
    """BabelStream with arrays of `size` elements. Its second column is the speed in 10^6 bytes per second."""
    rows = [Row(f"babelstream_{kernel.lower()}{suffix}", rf"^{kernel}\s+([0-9.]+)", 1e6, "GB/s") for kernel in ("Copy", "Mul", "Add", "Triad", "Dot")]
    return Program(f"BabelStream{suffix}", "BABELSTREAM", "ocl-stream", ["-n", str(runs), "-s", str(size)], rows)


# Unit prefixes in the output of hashcat and clpeak.
_PREFIX = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_HASHCAT = ["--force", "-D", "1,2", "--backend-ignore-cuda", "--backend-ignore-hip", "--potfile-disable"]


def _hashcat(mode, name):
    rows = [Row(f"hashcat_{name}", r"Speed\.#\S*:\s+([0-9.]+ .?)H/s", 1, "kH/s"), Row(f"hashcat_{name}_run", "", 1, "s", seconds=True)]
    return Program(f"hashcat -m {mode}", "HASHCAT", "hashcat", ["-b", "-m", str(mode), *_HASHCAT], rows)


def _fluid(name):
    """FluidX3D's benchmark (make target Linux, with one of its three storage formats) prints millions of lattice updates per second."""
    return Program(f"FluidX3D {name}", f"FLUIDX3D_{name}", "", [], [Row(f"fluidx3d_{name.lower()}", r"Peak MLUPs/s = ([0-9]+)", 1e6, "kLUP/s")])


PROGRAMS = [
    _stream(33554432, "", 100),
    _stream(268435456, "_2gib", 20),
    *(_fluid(name) for name in ("FP32", "FP16S", "FP16C")),
    *(_hashcat(mode, name) for mode, name in [
        (0, "md5"), (100, "sha1"), (1400, "sha256"), (1000, "ntlm"), (1700, "sha512"), (3200, "bcrypt"), (1800, "sha512crypt"), (7400, "sha256crypt"),
        (13400, "keepass"), (22000, "wpa"), (9200, "cisco8")]),
    Program("clpeak", "CLPEAK", "clpeak", ["--global-bandwidth", "--compute-sp", "--kernel-latency"], [
        Row("clpeak_bandwidth", r"float16\s*:\s*([0-9.]+)\n(?=[\s\S]*Single-precision)", 1e9, "GB/s"),
        Row("clpeak_float", r"Single-precision compute[\s\S]*?float\s*:\s*([0-9.]+)", 1e9, "kFLOP/s"),
        Row("clpeak_latency", r"Kernel launch latency\s*:\s*([0-9.]+)\s*us", 1e-6, "s", seconds=True)]),
    Program("CLBlast's tuner", "CLBLAST_TUNER", "clblast_tuner_xgemm_direct", ["-precision", "32", "-m", "256", "-n", "256", "-k", "256"], [
        Row("clblast_direct_best", r"Found best result [0-9.]+ ms: ([0-9.]+) GFLOPS", 1e9, "kFLOP/s"),
        Row("clblast_direct_mean", r"Got average result of [0-9.]+ ms: ([0-9.]+) GFLOPS", 1e9, "kFLOP/s")]),
    Program("ffmpeg", "FFMPEG", "ffmpeg", [
        "-hide_banner", "-loglevel", "error", "-benchmark", "-init_hw_device", "opencl=d:0.0", "-filter_hw_device", "d", "-f", "lavfi", "-i", "testsrc2=s=1280x720:d=8",
        "-vf", "format=yuv420p,hwupload,unsharp_opencl,avgblur_opencl,hwdownload,format=yuv420p", "-f", "null", "-"],
        [Row("ffmpeg_filters", "", 1, "s", seconds=True)]),
]


def number(text):
    """Parses a number with an optional unit prefix: `12.5 M` or `12.5`."""
    value, _, prefix = text.strip().partition(" ")
    return float(value) * _PREFIX[prefix.strip()]


def seconds_of(row, output, wall):
    """The seconds per unit of work in one run: `wall` if the row has no pattern, otherwise from the output. None if the output does not contain the number."""
    if not row.pattern:
        return wall
    # The last match is the result.
    found = re.findall(row.pattern, output, re.MULTILINE)
    if not found or not (value := number(found[-1])):
        return None
    return value * row.scale if row.seconds else 1 / (value * row.scale)


def run(program, device, limit):
    """Runs the program once. Returns a pair. The first value is its output and its time in seconds, or None if it did not end. The second value is an error
    message, or None."""
    with tempfile.TemporaryDirectory(prefix="bench-program-") as home:
        environment = os.environ | device["variables"]
        begin = time.monotonic()
        try:
            done = subprocess.run([program.path(), *program.arguments], cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return None, f"time limit of {limit:.0f} s exceeded"
        except OSError as error:
            return None, str(error)
        wall = time.monotonic() - begin
    output = (done.stdout + b"\n" + done.stderr).decode(errors="replace").replace("\r", "\n")
    return (output, wall), (f"exited with code {done.returncode}" if done.returncode else None)


def measure(program, devices, rounds, limit):
    """Measures a program. Platforms alternate. Returns an entry of the report for each row."""
    entries = {row.name: {
        "group": "programs", "family": program.name, "amount": 1, "unit": row.unit,
        "platforms": {d["platform"]: {"seconds": []} for d in devices},
    } for row in program.rows}
    failed = set()
    for _ in range(rounds):
        for device in (d for d in devices if d["platform"] not in failed):
            result, error = run(program, device, limit)
            for row in program.rows:
                outcome = entries[row.name]["platforms"][device["platform"]]
                seconds = seconds_of(row, *result) if result else None
                if seconds and not (error and row.seconds):
                    outcome["seconds"].append(seconds)
                else:
                    outcome["error"] = error or "the output does not contain the number"
                    failed.add(device["platform"])
    for entry in entries.values():
        for outcome in entry["platforms"].values():
            if outcome["seconds"]:
                outcome["median"] = statistics.median(outcome["seconds"])
                outcome.pop("error", None)
    return entries
