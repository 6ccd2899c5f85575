"""Runtime costs: launches, arguments, events, transfers, start-up, memory."""

import numpy as np
import pyopencl as cl

import child
from .base import Workload, of_type


class Runtime(Workload):
    group = "runtime"
    looped = False


class Launches(Runtime):
    """Launches of a trivial kernel: with a wait after each launch (`waits`), or with one wait after all launches."""

    count, waits = 1000, False

    def work(self):
        return self.count, "s"

    def data(self):
        self.zeros = np.zeros(64, np.uint32)
        self.target = self.buffer(self.zeros)
        self.total = 0

    def set_up(self):
        program = self.program("kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }")
        self.add = self.kernel(program, "add", self.target, np.uint32(1))

    def enqueue(self):
        for _ in range(self.count):
            self.launch(self.add, (64,), (64,))
            if self.waits:
                self.queue.finish()
        self.total += self.count

    def check(self):
        return np.all(self.fetch(self.target, self.zeros) == self.total)


class Arguments(Launches):
    """Launches of a kernel with several buffers as arguments. All arguments are set before each launch."""

    arguments, count = 8, 200

    def set_up(self):
        names = [f"p{i}" for i in range(self.arguments)]
        source = f"kernel void add({', '.join(f'global uint *{name}' for name in names)}) {{ uint i = get_global_id(0); p0[i] += 1"
        source += "".join(f" + {name}[i]" for name in names[1:]) + "; }"
        self.add = cl.Kernel(self.program(source), "add")
        self.targets = [self.target] + [self.buffer(self.zeros) for _ in names[1:]]

    def enqueue(self):
        for _ in range(self.count):
            self.add.set_args(*self.targets)
            self.launch(self.add, (64,), (64,))
        self.total += self.count


class EventChain(Launches):
    """Launches that each wait for the event of the previous launch."""

    def enqueue(self):
        event = None
        for _ in range(self.count):
            event = cl.enqueue_nd_range_kernel(self.queue, self.add, (64,), (64,), wait_for=[event] if event else None)
        self.total += self.count


class Profiled(Launches):
    """Launches on a profiling queue. The profiling times of all launches are read at the end."""

    def set_up(self):
        super().set_up()
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    def enqueue(self):
        events = [cl.enqueue_nd_range_kernel(self.queue, self.add, (64,), (64,)) for _ in range(self.count)]
        self.queue.finish()
        self.seconds = sum(event.profile.end - event.profile.start for event in events) * 1e-9
        self.total += self.count


class Transfer(Runtime):
    """Transfers from host to device, device to host, device to device, or by map and unmap. After a map, the host reads one word of each page. Small transfers
    are repeated."""

    variant, small = "write", False

    def bytes(self):
        return 4096 if self.small else self.pick(64 << 20, 256 << 20)

    def repeats(self):
        return 200 if self.small else 1

    def work(self):
        return (self.repeats(), "s") if self.small else (self.bytes() * (2 if self.variant == "copy" else 1), "GB/s")

    def data(self):
        self.numbers = np.arange(self.bytes() // 4, dtype=np.uint32)
        self.host = np.zeros_like(self.numbers)
        self.source = self.buffer(self.numbers)
        self.target = self.buffer(self.host)
        self.seen = 0

    def once(self):
        if self.variant == "write":
            cl.enqueue_copy(self.queue, self.target, self.numbers)
        elif self.variant == "read":
            cl.enqueue_copy(self.queue, self.host, self.source)
        elif self.variant == "copy":
            cl.enqueue_copy(self.queue, self.target, self.source)
            self.queue.finish()
        else:
            mapped, _ = cl.enqueue_map_buffer(self.queue, self.source, cl.map_flags.READ, 0, self.numbers.shape, self.numbers.dtype)
            self.seen = int(mapped[::1024].sum())
            mapped.base.release(self.queue)

    def enqueue(self):
        for _ in range(self.repeats()):
            self.once()

    def check(self):
        if self.variant == "map":
            return self.seen == int(self.numbers[::1024].sum())
        return np.array_equal(self.host if self.variant == "read" else self.fetch(self.target, self.numbers), self.numbers)


class StartUp(Runtime):
    """A new process, from clGetPlatformIDs to the first result of a kernel."""

    raises_clocks = False

    def run(self):
        self.answer = child.run(self.device.platform.name.strip(), child.START_UP)

    def time(self):
        self.run()
        return self.answer["seconds"]


class PeakMemory(StartUp):
    """The maximum growth of the memory of the process that `StartUp` starts, in MiB."""

    group = "memory"

    def work(self):
        return 1, "MiB"

    def time(self):
        self.run()
        return self.answer["memory"]


WORKLOADS = {
    "launch_latency": of_type(Launches, count=100, waits=True),
    "launch_throughput": Launches,
    **{f"launch_{n}_arguments": of_type(Arguments, arguments=n) for n in (1, 8, 32)},
    "event_chain": EventChain,
    "profiled_launches": Profiled,
    **{f"{variant}_4_KiB": of_type(Transfer, variant=variant, small=True) for variant in ("write", "read", "map", "copy")},
    **{f"{variant}_bandwidth": of_type(Transfer, variant=variant) for variant in ("write", "read", "map", "copy")},
    "start_up": StartUp,
    "peak_memory": PeakMemory,
}
