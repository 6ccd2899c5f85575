"""Compile time: from clBuildProgram to the end of the first launch, with empty or filled driver caches."""

import itertools
import os
import tempfile
import time

import child
import numpy as np

from .base import Workload, of_type


def body(lines, seed):
    """This number of lines of integer arithmetic and conditions. Each seed gives other lines, so that no cache contains them."""
    return "\n".join(
        f"    x = (x ^ {(seed * 2654435761 + line * 40503) % 2**32}u) * {2 * line + 3}u + rotate(x, {line % 31 + 1}u);" if line % 10
        else f"    if (x & {1 << line % 20}u) x += {line}u; else x -= a[(i + {line}u) % 64];"
        for line in range(lines)
    )


def source(lines, seed):
    """The source of a kernel with this number of lines."""
    return f"kernel void k(global uint *a)\n{{\n    uint i = get_global_id(0), x = a[i];\n{body(lines, seed)}\n    a[i] = x;\n}}\n"


class Build(Workload):
    """The build of a program that is in no cache, in a process that has compiled other programs before."""

    group = "builds"
    looped = False
    raises_clocks = False
    cold = True
    lines = 20
    serial = itertools.count(int(time.time()))

    def data(self):
        self.numbers = np.arange(64, dtype=np.uint32)
        self.target = self.buffer(self.numbers)

    def text(self, seed):
        return source(self.lines, seed)

    def run(self):
        kernel = self.program(self.text(next(self.serial))).k
        kernel(self.queue, (64,), (64,), self.target)
        self.queue.finish()

    def time(self):
        begin = time.perf_counter()
        self.run()
        return time.perf_counter() - begin


class LargeBuild(Build):
    """The build of a program of 20,000 lines in 200 functions, and one kernel that calls them. Its group is separate, so that the mean of the other builds
    stays comparable."""

    group = "large builds"
    FUNCTIONS = 200

    def text(self, seed):
        names = [f"part{i}" for i in range(self.FUNCTIONS)]
        parts = [f"uint {name}(uint x, uint i, global const uint *a)\n{{\n{body(self.lines // self.FUNCTIONS - 4, seed + 977 * i)}\n    return x;\n}}\n"
                 for i, name in enumerate(names)]
        calls = "\n".join(f"    x = {name}(x, i, a);" for name in names)
        return "".join(parts) + f"kernel void k(global uint *a)\n{{\n    uint i = get_global_id(0), x = a[i];\n{calls}\n    a[i] = x;\n}}\n"


class WarmBuild(Build):
    """The build of a program that an earlier process built, in a new process with the drivers' caches on disk."""

    cold = False

    def warm_up(self):
        self.folder = tempfile.TemporaryDirectory(prefix="bench-cache-")
        self.file = os.path.join(self.folder.name, "source.cl")
        with open(self.file, "w") as file:
            file.write(source(self.lines, next(self.serial)))
        # The program is built twice, because some drivers cache a program only when it is built again.
        for _ in range(2):
            self.time()

    def time(self):
        return child.run(self.device.platform.name.strip(), child.BUILD, self.file, child.caches_in(self.folder.name))["seconds"]


WORKLOADS = {
    **{f"build_{lines}_lines": of_type(Build, lines=lines) for lines in (20, 200, 2000)},
    **{f"build_{lines}_lines_warm": of_type(WarmBuild, lines=lines) for lines in (20, 200, 2000)},
    "build_20000_lines": of_type(LargeBuild, lines=20000),
}
