"""The base class of all workloads."""

import time

import numpy as np
import pyopencl as cl

# The duration in seconds of a sample of a kernel workload. It is so long that launch latency and Python have little effect.
TIMING_SECONDS = {"cpu": 0.02, "gpu": 0.06}
MOST_LOOPS = 2000
# The function that returns the time for kernel, image and runtime workloads, in seconds. With --cpu-time, it is the CPU time of the process.
CLOCK = time.perf_counter
# A device executes the workload for this time in seconds before each sample. An H100's clock rate drops to a fifth while it is idle, and rises slowly.
BUSY_SECONDS = {"cpu": 0, "gpu": 0.1}


class Skip(Exception):
    """Raised by `prepare` if the device does not support the workload. This is not a failure."""


class OpenClDevice:
    """One device of an OpenCL platform."""

    def __init__(self, platform, device, kind):
        self.platform, self.device, self.kind = platform, device, kind
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context)

    def buffer(self, array):
        return cl.Buffer(self.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)

    def fetch(self, buffer, like):
        result = np.empty_like(like)
        cl.enqueue_copy(self.queue, result, buffer)
        return result


class Workload:
    """Base class: `data` creates arrays and buffers, `set_up` creates kernels, `enqueue` enqueues one run, `check` compares the result with the host's.

    The WGSL twin of a workload uses the same `data` and `check`. `twin` describes its commands (see `twins.py`).
    """

    group = "kernels"
    # Whether a sample contains several runs. False if a run contains its own loop, or must not be repeated.
    looped = True
    # Whether `raise_clocks` keeps the device busy directly before a sample.
    raises_clocks = True
    # Whether the drivers' caches are disabled.
    cold = False
    # Required extensions, or "images".
    needs = ()

    def __init__(self, size):
        self.large = size == "large"
        self.events = None
        self.loops = 1

    def pick(self, small, large):
        return large if self.large else small

    def prepare(self, device):
        self.device = device
        if isinstance(device, OpenClDevice):
            self.context, self.queue = device.context, device.queue
            extensions = device.device.extensions.split()
            for need in self.needs:
                if need == "images":
                    if not device.device.image_support:
                        raise Skip("images are not supported")
                elif need not in extensions:
                    raise Skip(f"{need} is not supported")
        self.data()
        if isinstance(device, OpenClDevice):
            self.set_up()

    def data(self):
        """Creates host arrays and buffers."""

    def set_up(self):
        """Creates programs and kernels."""

    def work(self):
        """The amount of work of one run, and the unit of the result. The table shows the amount per second. With the unit "s", the amount is a number of items,
        and the table shows the time per item."""
        return 1, "s"

    def twin(self):
        """The commands of the WGSL twin, or None without a twin. A dispatch is (file, work-groups, buffers, 32-bit constants). ("clear", buffer) clears a buffer."""
        return None

    def program(self, source, *options):
        return cl.Program(self.context, source).build(options=list(options))

    def kernel(self, program, name, *arguments):
        """A kernel with its arguments set. The arguments are set only once, so that pyopencl's time for this is not measured."""
        kernel = cl.Kernel(program, name)
        kernel.set_args(*arguments)
        return kernel

    def launch(self, kernel, items, group=None):
        event = cl.enqueue_nd_range_kernel(self.queue, kernel, items, group)
        if self.events is not None:
            self.events.append(event)

    def copy(self, target, source):
        """A copy on the device, as part of a run."""
        event = cl.enqueue_copy(self.queue, target, source)
        if self.events is not None:
            self.events.append(event)

    def buffer(self, array):
        return self.device.buffer(np.ascontiguousarray(array))

    def fetch(self, buffer, like):
        return self.device.fetch(buffer, like)

    def warm_up(self):
        """Runs once, so that compilation and page faults are not measured. Then finds the number of runs in a sample."""
        self.run()
        if self.looped:
            wanted = TIMING_SECONDS[self.device.kind]
            self.raise_clocks()
            while (seconds := self.time() * self.loops) < wanted / 2 and self.loops < MOST_LOOPS:
                self.loops = min(MOST_LOOPS, max(2 * self.loops, round(self.loops * wanted / max(seconds, 1e-9))))

    def raise_clocks(self):
        """Keeps a GPU busy for `BUSY_SECONDS`, until its clock rate has risen."""
        end = time.perf_counter() + BUSY_SECONDS[self.device.kind]
        while self.raises_clocks and time.perf_counter() < end:
            self.time()

    def time(self):
        """The seconds of one run, averaged over a sample."""
        begin = CLOCK()
        self.repeat(self.loops)
        return (CLOCK() - begin) / self.loops

    def repeat(self, loops):
        for _ in range(loops):
            self.enqueue()
        self.queue.finish()

    def run(self):
        self.repeat(1)

    def device_time(self):
        """The sum of the times of all commands in one run, in seconds, from profiling events. None if the device reports no times."""
        if not self.looped:
            return None
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        sums = []
        for _ in range(3):
            self.events = []
            self.run()
            sums.append(sum(event.profile.end - event.profile.start for event in self.events) * 1e-9)
        self.events = None
        return sorted(sums)[1] if self.device.device.profiling_timer_resolution and min(sums) > 0 else None

    def check(self):
        """Whether the last run produced the correct result."""
        return True


class SingleKernel(Workload):
    """A workload with one kernel of the shape that applications run. `data` sets `arguments`, the kernel's arguments, and `items`, the global and local size."""

    group = "applications"
    KERNEL = "run"
    OPTIONS = ()

    def source(self):
        return self.SOURCE

    def set_up(self):
        self.entry = self.kernel(self.program(self.source(), *self.OPTIONS), self.KERNEL, *self.arguments)

    def enqueue(self):
        self.launch(self.entry, *self.items)


def of_type(base, **attributes):
    """Creates a workload class with these attributes."""
    return type(base.__name__, (base,), attributes)


def spread(groups, most=65535):
    """Distributes `groups` work-groups, a power of two, over two dimensions, because one dimension has at most `most` groups."""
    rows = 1
    while groups // rows > most:
        rows *= 2
    return groups // rows, rows, 1
