"""What all workloads share."""

import time

import numpy as np
import pyopencl as cl

# A timing repeats a kernel workload until about this many seconds have passed, so that neither the start of a launch nor Python is what is timed.
TIMING_SECONDS = {"cpu": 0.02, "gpu": 0.06}
MOST_LOOPS = 2000
# The clock of kernel and image workloads, and of what the runtime costs: with --cpu-time that of the process's threads.
CLOCK = time.perf_counter
# Before each timing a GPU works for this many seconds: an H100's clocks fall to a fifth while the host prepares something, and take a while to rise.
SETTLING_SECONDS = {"cpu": 0, "gpu": 0.1}


class Skip(Exception):
    """Raised while a workload is prepared: this device cannot do it, which is no failure."""


class OpenClDevice:
    """Where a workload runs: one device of an OpenCL platform."""

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
    """Base: `data` makes arrays and buffers, `set_up` kernels, `enqueue` the work of one run, `check` compares with the host.

    The same `data` and `check` serve the WGSL twin of a workload, which `twin` describes (see `twins.py`).
    """

    group = "kernels"
    # Repeated to fill a timing; runs of other workloads have loops of their own, or must not be repeated.
    looped = True
    # Whether the device is made to work right before a timing.
    settles = True
    # Runs with the drivers' caches off.
    cold = False
    # Extensions, or "images".
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
                        raise Skip("no images")
                elif need not in extensions:
                    raise Skip(f"no {need}")
        self.data()
        if isinstance(device, OpenClDevice):
            self.set_up()

    def data(self):
        """Makes host arrays, and buffers from them."""

    def set_up(self):
        """Makes programs and kernels."""

    def work(self):
        """How much one run does, and its unit: the table shows the rate; with the unit "s" the time of one of so many."""
        return 1, "s"

    def twin(self):
        """The steps of the WGSL twin, None where there is none: (file, work-groups, buffers, 32-bit constants), or ("clear", buffer)."""
        return None

    def program(self, source, *options):
        return cl.Program(self.context, source).build(options=list(options))

    def kernel(self, program, name, *arguments):
        """A kernel object with its arguments set, once: what Python takes for that is not the driver's time."""
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
        """Compilers that wait for the first launch, and memory that is first touched, are not what is timed. Finds how often a timing repeats."""
        self.run()
        if self.looped:
            wanted = TIMING_SECONDS[self.device.kind]
            self.settle()
            while (seconds := self.time() * self.loops) < wanted / 2 and self.loops < MOST_LOOPS:
                self.loops = min(MOST_LOOPS, max(2 * self.loops, round(self.loops * wanted / max(seconds, 1e-9))))

    def settle(self):
        """Lets the device work until its clocks are up."""
        end = time.perf_counter() + SETTLING_SECONDS[self.device.kind]
        while self.settles and time.perf_counter() < end:
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
        """Seconds between start and end of the commands of one run, summed, by the profiling information of their events; None where there is none."""
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
        """Whether the last run left the right result."""
        return True


def of_type(base, **attributes):
    """A workload class with some attributes set."""
    return type(base.__name__, (base,), attributes)


def spread(groups, most=65535):
    """So many work-groups, a power of two, as WGSL twins take them: in rows, since a row may not be longer than `most`."""
    rows = 1
    while groups // rows > most:
        rows *= 2
    return groups // rows, rows, 1
