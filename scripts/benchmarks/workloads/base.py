"""The base class of all workloads."""

import time

import numpy as np
import pyopencl as cl

# The duration of a sample of a kernel workload in seconds. It is long enough that launch latency and Python have little effect.
TIMING_SECONDS = {"cpu": 0.02, "gpu": 0.06}
MOST_LOOPS = 2000
# The clock of kernel, image and runtime workloads. With --cpu-time, it is the CPU time of the process.
CLOCK = time.perf_counter
# A GPU works for this many seconds before each sample. An H100's clocks drop to a fifth while it is idle, and rise slowly.
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
    """Base class: `data` creates arrays and buffers, `set_up` creates kernels, `enqueue` enqueues one run, `check` compares with the host.

    The WGSL twin of a workload uses the same `data` and `check`; `twin` describes it (see `twins.py`).
    """

    group = "kernels"
    # Whether runs are repeated to fill a sample. False if the workload contains its own loop, or must not be repeated.
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
        """The amount of work of one run, and its unit. The table shows the rate; with the unit "s", the time per item."""
        return 1, "s"

    def twin(self):
        """The steps of the WGSL twin, or None: (file, work-groups, buffers, 32-bit constants), or ("clear", buffer)."""
        return None

    def program(self, source, *options):
        return cl.Program(self.context, source).build(options=list(options))

    def kernel(self, program, name, *arguments):
        """A kernel with its arguments set. This is done once, because pyopencl's time for it is not the driver's."""
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
        """Keeps the device busy until its clocks have risen."""
        end = time.perf_counter() + BUSY_SECONDS[self.device.kind]
        while self.raises_clocks and time.perf_counter() < end:
            self.time()

    def time(self):
        """Seconds of one run."""
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
        """The sum of the commands' times in one run, in seconds, from profiling events; or None if there are none."""
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


def of_type(base, **attributes):
    """Creates a workload class with these attributes."""
    return type(base.__name__, (base,), attributes)


def spread(groups, most=65535):
    """Splits a power of two of work-groups into two dimensions, because one dimension has at most `most` groups."""
    rows = 1
    while groups // rows > most:
        rows *= 2
    return groups // rows, rows, 1
