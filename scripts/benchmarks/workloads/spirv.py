"""The run time and build time of SPIR-V modules, which Debian's clang (-O0 and -O2) and llvm-spirv compile from the source of other workloads."""

import functools
import os
import re
import shutil
import subprocess
import tempfile

import pyopencl as cl

from . import builds, hashing, linear, numeric, sorting, stencils, streams
from .base import Skip, of_type

COMPILER, TRANSLATOR = "clang-15", "llvm-spirv-15"
LEVELS = ("O0", "O2")
KERNELS = {
    "triad_float": streams, "reduction": streams, "sgemm_naive": linear, "sgemm_tiled": linear, "transpose_tiled": linear, "stencil_2d": stencils, "scan": sorting,
    "sha256": hashing, "nbody": numeric, "mandelbrot": numeric,
}


@functools.cache
def module(source, level, options):
    """Compiles a source to a SPIR-V module. Replaces LLVM's instruction `freeze` by a bit cast to the same type, because llvm-spirv does not support it.
    `freeze` only constrains optimisers, and none runs afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-spirv-") as folder:
        text, ir, bitcode, binary = (os.path.join(folder, f"k.{extension}") for extension in ("cl", "ll", "bc", "spv"))

        def run(*command):
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)

        with open(text, "w") as file:
            file.write(source)
        standard = () if any("-cl-std" in option for option in options) else ("-cl-std=CL1.2",)
        target = ("-target", "spir64", "-w")
        run(COMPILER, "-x", "cl", "-S", "-emit-llvm", *target, "-Xclang", "-finclude-default-header", *standard, f"-{level}", *options, text, "-o", ir)
        with open(ir) as file:
            thawed = re.sub(r" = freeze ([^\n]*) (\S+)", r" = bitcast \1 \2 to \1", file.read())
        with open(ir, "w") as file:
            file.write(thawed)
        run(COMPILER, "-x", "ir", "-c", "-emit-llvm", *target, "-O0", ir, "-o", bitcode)
        run(TRANSLATOR, bitcode, "-o", binary)
        with open(binary, "rb") as file:
            return file.read()


class Module:
    """Mix-in for a workload that builds its programs from SPIR-V modules instead of source."""

    def set_up(self):
        if not (shutil.which(COMPILER) and shutil.which(TRANSLATOR)):
            raise Skip(f"{COMPILER} or {TRANSLATOR} is not installed")
        if not getattr(self.device.device, "il_version", ""):
            raise Skip("SPIR-V is not supported")
        super().set_up()

    def program(self, source, *options):
        try:
            binary = module(source, self.level, options)
        except subprocess.CalledProcessError as error:
            raise Skip(f"{error.cmd[0]} rejects the source") from error
        return cl.Program(self.context, binary).build(options=[o for o in options if not o.startswith(("-D", "-I", "-cl-std"))])


class ModuleBuild(Module, builds.Build):
    """The build of a SPIR-V module that is in no cache. clang compiles all modules before the measurement, because it would evict the processor's caches."""

    ahead = 16

    def set_up(self):
        super().set_up()
        self.sources = [builds.source(self.lines, next(self.serial)) for _ in range(self.ahead)]
        for source in self.sources:
            self.module(source)

    def module(self, source):
        try:
            return module(source, self.level, ())
        except subprocess.CalledProcessError as error:
            raise Skip(f"{error.cmd[0]} rejects the source") from error

    def run(self):
        kernel = self.program(self.sources.pop() if self.sources else builds.source(self.lines, next(self.serial))).k
        kernel(self.queue, (64,), (64,), self.target)
        self.queue.finish()


def of_kernel(name, level):
    base = KERNELS[name].WORKLOADS[name]
    return type(base.__name__, (Module, base), {"level": level, "group": "spirv", "twin": lambda self: None})


WORKLOADS = {
    **{f"spirv_{level}_{name}": of_kernel(name, level) for name in KERNELS for level in LEVELS},
    **{
        f"spirv_{level}_build_{lines}_lines": of_type(ModuleBuild, level=level, lines=lines, group="spirv builds")
        for lines in (20, 200, 2000) for level in LEVELS
    },
}
