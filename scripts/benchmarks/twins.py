"""WGSL twins: workloads written by hand in WGSL, which wgpu runs without wgcl (`backend-wgpu/examples/twins.rs`). The benchmark treats each variant as a platform."""

import os
import select
import subprocess
import tempfile
from pathlib import Path


FOLDER = Path(__file__).parent / "twins"
# The name of each platform, and the arguments of the twins' program. Without `unchecked`, wgpu checks bounds, limits loops and zeroes work-group memory.
VARIANTS = {"WGSL on wgpu": [], "WGSL on wgpu, unchecked": ["unchecked"]}
TWINNED = {
    "copy_float4", "triad_float", "reduction", "sgemm_naive", "sgemm_tiled", "transpose_tiled", "nbody", "mandelbrot", "histogram_local", "black_scholes",
}


class TwinError(Exception):
    pass


class TwinDevice:
    """A running twins' program, with the interface of `OpenClDevice`. Its buffers are numbers."""

    def __init__(self, program, arguments, timeout):
        self.timeout = timeout
        self.folder = tempfile.TemporaryDirectory(prefix="bench-twins-")
        self.file = os.path.join(self.folder.name, "data")
        # Window system code in Vulkan drivers prints warnings if this directory does not exist.
        environment = {"XDG_RUNTIME_DIR": self.folder.name} | os.environ | {"MESA_SHADER_CACHE_DIR": self.folder.name}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([program, *arguments], env=environment, stdin=pipe, stdout=pipe, text=True, bufsize=1)
        self.name, self.version, self.kind = self.ask("device").split("\t")

    def ask(self, *words):
        """Sends a command and returns the answer."""
        try:
            self.process.stdin.write("\t".join(map(str, words)) + "\n")
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], self.timeout)[0]:
                raise TwinError(f"no answer within {self.timeout:.0f} s")
            verdict, _, answer = self.process.stdout.readline().rstrip("\n").partition("\t")
        except OSError as error:
            raise TwinError(str(error)) from error
        if verdict != "ok":
            raise TwinError(answer or f"the program exited with code {self.process.poll()}")
        return answer

    def buffer(self, array):
        array.tofile(self.file)
        return int(self.ask("buffer", self.file))

    def fetch(self, buffer, like):
        self.ask("read", buffer, self.file)
        import numpy as np  # here, because `--help` and `--from` must work without numpy

        return np.fromfile(self.file, like.dtype).reshape(like.shape)

    def add(self, step):
        if step[0] == "clear":
            self.ask(*step)
        else:
            name, groups, buffers, constants = step
            self.ask("dispatch", FOLDER / f"{name}.wgsl", *groups, ",".join(map(str, buffers)), ",".join(map(str, map(int, constants))))

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


class TwinWorker:
    """Runs the twins of workloads on one platform. Has the interface of `Worker`."""

    def __init__(self, device, timeout):
        self.device, self.timeout = device, timeout
        self.name = device["platform"]
        self.opened = None

    def supports(self, workload):
        return workload in TWINNED

    def call(self, what, *arguments):
        from workloads import find

        try:
            if self.opened is None:
                self.opened = TwinDevice(self.device["program"], VARIANTS[self.name], self.timeout)
            if what == "prepare":
                self.workload = None
                self.opened.ask("reset")
                workload = find(arguments[0])(arguments[1])
                workload.prepare(self.opened)
                for step in workload.twin():
                    self.opened.add(step)
                workload.repeat = lambda loops: self.opened.ask("run", loops)
                self.workload = workload
                return {}
            if what == "warm_up":
                self.workload.warm_up()
                return {"loops": self.workload.loops}
            if what == "time":
                self.workload.raise_clocks()
                return {"seconds": self.workload.time()}
            if what == "check":
                return {"right": bool(self.workload.check())}
            return {}
        except TwinError as error:
            self.stop()
            return {"error": str(error)}

    def ask(self, *message):
        self.message = message

    def answer(self):
        return self.call(*self.message)

    def stop(self):
        if self.opened is not None:
            self.opened.stop()
            self.opened = None


def find_twins():
    """One platform per variant, if WGCL_TWINS names the program and it finds a device."""
    program, devices = os.environ.get("WGCL_TWINS"), []
    for platform, arguments in VARIANTS.items() if program else ():
        try:
            opened = TwinDevice(program, arguments, 60)
        except (OSError, TwinError) as error:
            print(f"{program}: {error}")
            break
        devices.append({"platform": platform, "device": opened.name, "version": opened.version, "is_cpu": opened.kind == "cpu", "program": program})
        opened.stop()
    return devices
