"""Series of workloads with growing sizes."""

from .base import of_type
from .builds import Build
from .runtime import Arguments, Launches, Transfer
from .streams import Stream

SIZES = [1 << n for n in range(10, 32, 2)]


class Kernel(Stream):
    """A copy kernel over `size` bytes."""

    size = 1024

    def bytes(self):
        return self.size


class Bytes(Transfer):
    size = 1024

    def bytes(self):
        return self.size

    def repeats(self):
        return max(1, min(100, (1 << 20) // self.size))


class BytesOnce(Bytes):
    """A transfer whose time is that of one repetition, although a run has several."""

    def time(self):
        return super().time() / self.repeats()


# For each series, the workload class of each size. The name of the series contains the unit of the sizes.
SERIES = {
    "copy kernel, bytes": {size: of_type(Kernel, size=size) for size in SIZES},
    "write, bytes": {size: of_type(BytesOnce, size=size, variant="write") for size in SIZES},
    "read, bytes": {size: of_type(BytesOnce, size=size, variant="read") for size in SIZES},
    "launches": {count: of_type(Launches, count=count) for count in (1, 10, 100, 1000, 10_000, 100_000)},
    "arguments, 200 launches": {n: of_type(Arguments, arguments=n) for n in (1, 2, 4, 8, 16, 32)},
    "build, lines": {lines: of_type(Build, lines=lines) for lines in (10, 100, 1000, 10_000)},
}
# With `--size small`, a series over bytes ends at this size.
SMALL_LIMIT = 64 << 20


def steps(series, size):
    """The numbers of a series (bytes, launches, arguments or lines) that are measured with this `--size`."""
    return [n for n in SERIES[series] if not ("bytes" in series and size == "small" and n > SMALL_LIMIT)]
