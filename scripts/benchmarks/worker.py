"""Runs each platform in its own process. A crash or hang of a driver therefore does not affect other platforms, and no other driver is in its process.

The drivers' caches are enabled, in a temporary directory. Without a cache, rusticl of Mesa 22.3 would compile a kernel at every launch. Workloads that
measure compilers set `cold`. They run in a separate process with the caches disabled.
"""

import multiprocessing
import os
import tempfile
import time
import traceback
from contextlib import contextmanager
from pathlib import Path

from child import CACHES_OFF, caches_in, memory

SPAWN = multiprocessing.get_context("spawn")
# With --cpu-time, the duration of a sample in seconds. Other load disturbs short samples less often than long ones.
CPU_SAMPLE_SECONDS = 0.002


@contextmanager
def variables(values):
    """Sets environment variables for the processes that are started in a `with` block."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def vendor_folders(home):
    """For each driver of the ICD loader, the variables that make the loader find only this driver."""
    entries = sorted(Path(os.environ.get("OCL_ICD_VENDORS", "")).glob("*.icd")) if os.environ.get("OCL_ICD_VENDORS") else []
    folders = []
    for entry in entries:
        folder = Path(home) / entry.stem
        folder.mkdir()
        (folder / entry.name).write_text(entry.read_text())
        folders.append({"OCL_ICD_VENDORS": str(folder), "OPENCL_VENDOR_PATH": str(folder)})
    return folders or [{}]


def _list_devices(pipe):
    import pyopencl as cl

    devices = []
    try:
        platforms = cl.get_platforms()
    except cl.Error:
        platforms = []
    for platform in platforms:
        try:
            found = platform.get_devices()
        except cl.Error:
            found = []
        for device in found[:1]:
            is_cpu = bool(device.type & cl.device_type.CPU) or "llvmpipe" in device.name
            devices.append({
                "platform": platform.name.strip(), "device": device.name.strip(), "version": device.driver_version.strip(), "is_cpu": is_cpu,
            })
    pipe.send(devices)


def find_devices():
    """The first device of every platform, and a temporary directory that must exist as long as the devices are used."""
    home = tempfile.TemporaryDirectory(prefix="bench-icd-")
    devices = []
    for folder in vendor_folders(home.name):
        here, there = SPAWN.Pipe()
        with variables(folder):
            process = SPAWN.Process(target=_list_devices, args=(there,))
            process.start()
        there.close()
        try:
            devices += [device | {"variables": folder | caches_in(os.path.join(home.name, "caches"))} for device in here.recv()]
        except EOFError:
            pass
        process.join()
    return devices, home


def _serve(pipe, device):
    """Executes the requests of a Worker until it sends `stop`."""
    import pyopencl as cl
    from workloads import OpenClDevice, Skip, base, find

    if device.get("cpu_time"):
        # The affinity is set before the driver is loaded, so that the driver does not start threads for other cores.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        base.CLOCK, base.TIMING_SECONDS = time.process_time, {kind: CPU_SAMPLE_SECONDS for kind in base.TIMING_SECONDS}
    if "library" in device:
        from bounds import BoundDevice

        opened = BoundDevice(device["library"])
    else:
        platform = next(p for p in cl.get_platforms() if p.name.strip() == device["platform"])
        opened = OpenClDevice(platform, platform.get_devices()[0], "cpu" if device["is_cpu"] else "gpu")
    workload = None
    while True:
        message = pipe.recv()
        try:
            if message[0] == "prepare":
                # Free the memory of the previous workload first.
                workload = None
                workload = find(message[1])(message[2])
                workload.prepare(opened)
                if "library" in device:
                    opened.attach(workload, message[1])
                pipe.send({})
            elif message[0] == "warm_up":
                workload.warm_up()
                pipe.send({"loops": workload.loops})
            elif message[0] == "time":
                workload.raise_clocks()
                pipe.send({"seconds": min(workload.time() for _ in range(message[1] if workload.looped else 1))})
            elif message[0] == "check":
                pipe.send({"right": bool(workload.check())})
            elif message[0] == "device_time":
                pipe.send({"seconds": workload.device_time()})
            elif message[0] == "peak":
                pipe.send({"peak": opened.peak(base.CLOCK)})
            elif message[0] == "memory":
                pipe.send({"memory": memory("VmHWM")})
            else:
                return
        except Skip as reason:
            pipe.send({"skipped": str(reason)})
        except Exception as error:  # A driver error must not end the benchmark.
            lines = traceback.format_exception_only(error)
            pipe.send({"error": " ".join("".join(lines).split())[:400] or "failed"})


class Worker:
    """Runs workloads on one device in a separate process, and restarts it after a crash."""

    def __init__(self, device, timeout):
        self.device, self.timeout = device, timeout
        self.name = device["platform"]
        self.process = None
        self.cold = False

    def supports(self, workload):
        """Whether this platform has the workload: always for OpenCL. If a device lacks a feature, the workload raises `Skip` later."""
        return True

    def call(self, *message):
        """Sends a request and returns the answer, a dictionary. It has the key "error" on failure, or "skipped" if the device does not support the workload."""
        self.ask(*message)
        return self.answer()

    def ask(self, *message):
        """Sends a request without waiting. `answer` waits for the answer."""
        if message[0] == "prepare":
            from workloads import find

            cold = find(message[1]).cold
            if cold != self.cold:
                self.stop()
                self.cold = cold
        if self.process is None:
            self.pipe, there = SPAWN.Pipe()
            self.process = SPAWN.Process(target=_serve, args=(there, self.device))
            with variables(self.device["variables"] | (CACHES_OFF if self.cold else {})):
                self.process.start()
            there.close()
        try:
            self.pipe.send(message)
        except OSError:
            # `answer` reports the error.
            pass

    def answer(self):
        try:
            if self.pipe.poll(self.timeout):
                return self.pipe.recv()
            reason = f"no answer within {self.timeout:.0f} s"
        except (EOFError, OSError):
            self.process.join(5)
            reason = f"the process exited with code {self.process.exitcode}"
        self.process.kill()
        self.process.join()
        self.process = None
        return {"error": reason}

    def stop(self):
        if self.process is not None:
            try:
                self.pipe.send(("stop",))
                self.process.join(10)
            except OSError:
                pass
            self.process.kill()
            self.process = None
