"""Atomic counters and graphs: accesses that depend on the data."""

import numpy as np
import pyopencl as cl

from .base import Workload, of_type


class Histogram(Workload):
    """A histogram of bytes, counted in local memory first, or directly in global memory."""

    variant = "local"
    SOURCES = {
        "local": """
    kernel void histogram(global const uchar *data, uint size, global uint *bins)
    {
        local uint counts[256];
        for (uint b = get_local_id(0); b < 256; b += get_local_size(0)) counts[b] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = get_global_id(0); i < size; i += get_global_size(0)) atomic_inc(&counts[data[i]]);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint b = get_local_id(0); b < 256; b += get_local_size(0)) atomic_add(&bins[b], counts[b]);
    }""",
        "global": """
    kernel void histogram(global const uchar *data, uint size, global uint *bins)
    {
        for (uint i = get_global_id(0); i < size; i += get_global_size(0)) atomic_inc(&bins[data[i]]);
    }""",
    }

    def count(self):
        return self.pick(1 << 20 if self.variant == "local" else 1 << 18, 64 << 20)

    def work(self):
        return self.count(), "GB/s"

    def data(self):
        self.values = np.resize(np.random.default_rng(4).normal(128, 40, 1 << 20).clip(0, 255).astype(np.uint8), self.count())
        self.bins = np.zeros(256, np.uint32)
        self.buffers = self.buffer(self.values), self.buffer(self.bins)
        self.groups = self.pick(32, 1024)

    def set_up(self):
        self.histogram = self.kernel(self.program(self.SOURCES[self.variant]), "histogram", self.buffers[0], np.uint32(self.count()), self.buffers[1])

    def twin(self):
        if self.variant == "global":
            return None
        return [("clear", self.buffers[1]), ("histogram_local", (self.groups, 1, 1), list(self.buffers), [self.count()])]

    def enqueue(self):
        event = cl.enqueue_fill_buffer(self.queue, self.buffers[1], np.uint32(0), 0, self.bins.nbytes)
        if self.events is not None:
            self.events.append(event)
        self.launch(self.histogram, (self.groups * 64,), (64,))

    def check(self):
        return np.array_equal(self.fetch(self.buffers[1], self.bins), np.bincount(self.values, minlength=256))


class BreadthFirst(Workload):
    """Breadth-first search in a random graph with 1 to 16 edges per node: one launch per level, one work-item per node."""

    SOURCE = """
    kernel void visit(global const uint *start, global const uint *edge, global int *level, int now)
    {
        uint node = get_global_id(0);
        if (level[node] != now) return;
        for (uint i = start[node]; i < start[node + 1]; i++)
            if (level[edge[i]] < 0) level[edge[i]] = now + 1;
    }"""

    def nodes(self):
        return self.pick(1 << 15, 2 << 20)

    def work(self):
        return 8.5 * self.nodes(), "Gedge/s"

    def data(self):
        random, nodes = np.random.default_rng(13), self.nodes()
        self.start = np.concatenate([[0], np.cumsum(random.integers(1, 17, nodes))]).astype(np.uint32)
        self.edge = random.integers(0, nodes, self.start[-1], np.uint32)
        self.first = np.full(nodes, -1, np.int32)
        self.first[0] = 0
        self.want, self.depth = self.first.copy(), 0
        frontier = np.zeros(1, np.int64)
        while frontier.size:
            lengths = (self.start[frontier + 1] - self.start[frontier]).astype(np.int64)
            at = np.repeat(self.start[frontier] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
            reached = np.zeros(nodes, bool)
            reached[self.edge[at]] = True
            frontier = np.flatnonzero(reached & (self.want < 0))
            self.depth += 1
            self.want[frontier] = self.depth
        self.buffers = self.buffer(self.start), self.buffer(self.edge), self.buffer(self.first)
        self.fresh = self.buffer(self.first)

    def set_up(self):
        program = self.program(self.SOURCE)
        self.steps = [self.kernel(program, "visit", *self.buffers, np.int32(now)) for now in range(self.depth)]

    def enqueue(self):
        self.copy(self.buffers[2], self.fresh)
        for kernel in self.steps:
            self.launch(kernel, (self.nodes(),), (64,))

    def check(self):
        return np.array_equal(self.fetch(self.buffers[2], self.first), self.want)


WORKLOADS = {"histogram_local": Histogram, "histogram_global": of_type(Histogram, variant="global"), "bfs": BreadthFirst}
