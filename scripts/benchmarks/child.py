"""Measurements in a new process: start-up, memory, and builds with the drivers' caches on disk. The new process runs this file as a program."""

import json
import os
import subprocess
import sys
import time

START_UP, BUILD = "start-up", "build"

# Environment variables that disable all drivers' caches, so that the compilers are measured. They must be set before a driver is loaded.
CACHES_OFF = {
    "WGCL_CACHE": "0",
    "POCL_KERNEL_CACHE": "0",
    "MESA_SHADER_CACHE_DISABLE": "true",
    "__GL_SHADER_DISK_CACHE": "0",
    "CUDA_CACHE_DISABLE": "1",
}


def caches_in(folder):
    """Environment variables that enable all drivers' caches, in one directory."""
    os.makedirs(folder, exist_ok=True)
    return {
        "WGCL_CACHE": "1", "WGCL_CACHE_DIR": os.path.join(folder, "wgcl"),
        "POCL_KERNEL_CACHE": "1", "POCL_CACHE_DIR": os.path.join(folder, "pocl"),
        "MESA_SHADER_CACHE_DISABLE": "false", "MESA_SHADER_CACHE_DIR": os.path.join(folder, "mesa"),
        "__GL_SHADER_DISK_CACHE": "1", "__GL_SHADER_DISK_CACHE_PATH": folder,
        "CUDA_CACHE_DISABLE": "0", "CUDA_CACHE_PATH": os.path.join(folder, "cuda"),
    }


def run(platform, what, file="", variables=None):
    """Runs the new process and returns its measurements. If the process fails, raises RuntimeError with the end of its messages."""
    command = [sys.executable, os.path.abspath(__file__), platform, what, file]
    done = subprocess.run(command, env=os.environ | (variables or {}), capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"the process exited with code {done.returncode}: {done.stderr[-200:]}")
    return json.loads(done.stdout.splitlines()[-1])


def first_result(cl, np, queue, context, source, name):
    numbers = np.arange(64, dtype=np.uint32)
    target = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=numbers)
    kernel = cl.Kernel(cl.Program(context, source).build(), name)
    kernel(queue, (64,), (64,), target)
    cl.enqueue_copy(queue, numbers, target)
    return numbers


def memory(field):
    """The memory of this process in MiB, from a field of /proc/self/status: VmRSS is the current value, and VmHWM the maximum. ru_maxrss of getrusage is not
    used, because it includes the parent's maximum."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field)) / 1024


def main():
    import numpy as np
    import pyopencl as cl

    name, what, file = sys.argv[1:4]
    before, begin = memory("VmRSS"), time.perf_counter()
    platform = next(p for p in cl.get_platforms() if p.name.strip() == name)
    context = cl.Context(platform.get_devices()[:1])
    queue = cl.CommandQueue(context)
    numbers = first_result(cl, np, queue, context, "kernel void add(global uint *a) { a[get_global_id(0)] += 7; }", "add")
    if not np.array_equal(numbers, np.arange(64) + 7):
        sys.exit("wrong result")
    if what == BUILD:
        with open(file) as text:
            source = text.read()
        begin = time.perf_counter()
        first_result(cl, np, queue, context, source, "k")
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "memory": memory("VmHWM") - before}))


if __name__ == "__main__":
    main()
