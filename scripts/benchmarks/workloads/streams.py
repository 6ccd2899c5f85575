"""Memory traffic: streams of several types, strided and gathered reads, a sum."""

import numpy as np

from .base import Workload, of_type, spread

TYPES = {
    "float": (np.float32, 1), "float4": (np.float32, 4), "double": (np.float64, 1), "uchar": (np.uint8, 1), "uchar4": (np.uint8, 4), "short": (np.int16, 1),
}
KINDS = {
    "copy": ("a[i]", 2, lambda a, b: a),
    "scale": ("(T)3 * a[i]", 2, lambda a, b: a * 3),
    "add": ("a[i] + b[i]", 3, lambda a, b: a + b),
    "triad": ("a[i] + (T)3 * b[i]", 3, lambda a, b: a + b * 3),
}


class Stream(Workload):
    """copy: c = a; scale: c = 3 a; add: c = a + b; triad: c = a + 3 b."""

    kind, type_name = "copy", "float"

    def bytes(self):
        return self.pick(4 << 20, 256 << 20)

    def work(self):
        return self.bytes() * KINDS[self.kind][1], "GB/s"

    def data(self):
        element, lanes = TYPES[self.type_name]
        count = self.bytes() // np.dtype(element).itemsize
        self.items = count // lanes
        self.a = np.resize(np.arange(50).astype(element), count)
        self.b = np.resize(np.arange(33).astype(element), count)
        self.buffers = [self.buffer(array) for array in (self.a, self.b, np.zeros_like(self.a))]

    def set_up(self):
        source = f"""typedef {self.type_name} T;
        kernel void stream(global const T *a, global const T *b, global T *c) {{ size_t i = get_global_id(0); c[i] = {KINDS[self.kind][0]}; }}"""
        self.stream = self.kernel(self.program(source), "stream", *self.buffers)

    def twin(self):
        name = f"{self.kind}_{self.type_name}"
        a, b, c = self.buffers
        if name in ("copy_float4", "triad_float"):
            return [(name, spread(self.items // 256), [a, c] if self.kind == "copy" else [a, b, c], [])]
        return None

    def enqueue(self):
        self.launch(self.stream, (self.items,))

    def check(self):
        return np.array_equal(self.fetch(self.buffers[2], self.a), KINDS[self.kind][2](self.a, self.b))


class Strided(Workload):
    """Neighbouring work-items read words 64 bytes apart. All words are read."""

    STRIDE = 16
    SOURCE = """
    kernel void strided(global const float *a, global float *b, uint rows)
    {
        uint i = get_global_id(0);
        b[i] = a[i % rows * 16 + i / rows];
    }"""

    def count(self):
        return self.pick(1 << 19, 32 << 20)

    def work(self):
        return self.count() * 8, "GB/s"

    def data(self):
        self.a = np.arange(self.count()).astype(np.float32)
        self.buffers = self.buffer(self.a), self.buffer(np.zeros_like(self.a))

    def set_up(self):
        self.strided = self.kernel(self.program(self.SOURCE), "strided", *self.buffers, np.uint32(self.count() // self.STRIDE))

    def enqueue(self):
        self.launch(self.strided, (self.count(),))

    def check(self):
        return np.array_equal(self.fetch(self.buffers[1], self.a), self.a.reshape(-1, self.STRIDE).T.ravel())


class Gather(Workload):
    SOURCE = "kernel void gather(global const float *a, global const uint *index, global float *b) { size_t i = get_global_id(0); b[i] = a[index[i]]; }"

    def count(self):
        return self.pick(1 << 19, 32 << 20)

    def work(self):
        return self.count() * 12, "GB/s"

    def data(self):
        self.a = np.arange(self.count()).astype(np.float32)
        self.index = np.random.default_rng(6).integers(0, self.count(), self.count(), np.uint32)
        self.buffers = self.buffer(self.a), self.buffer(self.index), self.buffer(np.zeros_like(self.a))

    def set_up(self):
        self.gather = self.kernel(self.program(self.SOURCE), "gather", *self.buffers)

    def enqueue(self):
        self.launch(self.gather, (self.count(),))

    def check(self):
        return np.array_equal(self.fetch(self.buffers[2], self.a), self.a[self.index])


class Reduction(Workload):
    SOURCE = """
    kernel void sum(global const float *data, uint size, global float *sums)
    {
        local float partial[64];
        uint lane = get_local_id(0);
        float total = 0;
        for (uint i = get_global_id(0); i < size; i += get_global_size(0)) total += data[i];
        partial[lane] = total;
        for (uint width = 32; width > 0; width /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < width) partial[lane] += partial[lane + width];
        }
        if (lane == 0) sums[get_group_id(0)] = partial[0];
    }"""

    def count(self):
        return self.pick(1 << 20, 64 << 20)

    def work(self):
        return self.count() * 4, "GB/s"

    def data(self):
        self.groups = self.pick(64, 2048)
        self.values = np.resize(np.arange(7).astype(np.float32), self.count())
        self.sums = np.zeros(self.groups, np.float32)
        self.buffers = self.buffer(self.values), self.buffer(self.sums)

    def set_up(self):
        self.sum = self.kernel(self.program(self.SOURCE), "sum", self.buffers[0], np.uint32(self.count()), self.buffers[1])

    def twin(self):
        return [("reduction", (self.groups, 1, 1), list(self.buffers), [self.count()])]

    def enqueue(self):
        self.launch(self.sum, (self.groups * 64,), (64,))

    def check(self):
        return abs(self.fetch(self.buffers[1], self.sums).sum(dtype=np.float64) / self.values.sum(dtype=np.float64) - 1) < 1e-5


WORKLOADS = {
    **{
        f"{kind}_{name}": of_type(Stream, kind=kind, type_name=name, needs=("cl_khr_fp64",) if name == "double" else ())
        for name in TYPES
        for kind in KINDS
    },
    "strided_read": Strided,
    "gather": Gather,
    "reduction": Reduction,
}
