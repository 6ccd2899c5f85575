"""Features that shading languages do not have: private arrays, structures of pointers, 64-bit integers."""

import numpy as np

from .base import Workload


class PrivateArrays(Workload):
    """Every work-item sorts 24 numbers and their indices in private arrays."""

    LENGTH = 24
    SOURCE = """
    kernel void order(global const int *values, global int *out)
    {
        int keys[24];
        uchar places[24];
        size_t me = get_global_id(0);
        for (int i = 0; i < 24; i++) {
            int key = values[me + i * get_global_size(0)], at = i;
            for (; at > 0 && keys[at - 1] > key; at--) {
                keys[at] = keys[at - 1];
                places[at] = places[at - 1];
            }
            keys[at] = key;
            places[at] = i;
        }
        int sum = keys[12];
        for (int i = 0; i < 24; i++) sum += keys[i] * places[i] * (i + 1);
        out[me] = sum;
    }"""

    def count(self):
        return self.pick(4 << 10, 2 << 20)

    def work(self):
        return self.count(), "Gitem/s"

    def data(self):
        self.values = np.random.default_rng(17).integers(-100, 100, (self.LENGTH, self.count()), np.int8).astype(np.int32)
        self.buffers = self.buffer(self.values), self.buffer(self.values[0])

    def set_up(self):
        self.order = self.kernel(self.program(self.SOURCE), "order", *self.buffers)

    def enqueue(self):
        self.launch(self.order, (self.count(),), (64,))

    def check(self):
        places = np.argsort(self.values, axis=0, kind="stable").astype(np.int32)
        keys = np.take_along_axis(self.values, places, axis=0)
        want = keys[12] + (keys * places * np.arange(1, self.LENGTH + 1, dtype=np.int32)[:, None]).sum(axis=0, dtype=np.int32)
        return np.array_equal(self.fetch(self.buffers[1], self.values[0]), want)


class StructOfPointers(Workload):
    """Functions pass buffer pointers in a structure, and swap them between steps."""

    SOURCE = """
    typedef struct { global const float4 *velocity; global float4 *from, *to; float step; } Bodies;

    void exchange(Bodies *b)
    {
        global float4 *old = b->from;
        b->from = b->to;
        b->to = old;
    }

    void advance(const Bodies *b, uint i)
    {
        float4 v = b->velocity[i];
        b->to[i] = b->from[i] + v * b->step;
    }

    kernel void move(global const float4 *velocity, global float4 *even, global float4 *odd, global const float4 *origin, float step)
    {
        uint i = get_global_id(0);
        Bodies bodies = {velocity, even, odd, step};
        even[i] = origin[i];
        for (int iteration = 0; iteration < 5; iteration++) {
            advance(&bodies, i);
            exchange(&bodies);
        }
    }"""

    def count(self):
        return self.pick(64 << 10, 4 << 20)

    def work(self):
        return self.count() * 5, "Gstep/s"

    def data(self):
        random = np.random.default_rng(18)
        self.velocity, self.origin = (random.integers(-100, 100, (self.count(), 4), np.int16).astype(np.float32) for _ in range(2))
        self.buffers = [self.buffer(array) for array in (self.velocity, self.origin, np.zeros_like(self.origin), self.origin)]

    def set_up(self):
        self.move = self.kernel(self.program(self.SOURCE), "move", *self.buffers, np.float32(0.25))

    def enqueue(self):
        self.launch(self.move, (self.count(),), (64,))

    def check(self):
        even, odd = (self.fetch(buffer, self.origin) for buffer in self.buffers[1:3])
        return np.array_equal(even, self.origin + self.velocity) and np.array_equal(odd, self.origin + self.velocity * np.float32(1.25))


class LongIntegers(Workload):
    """64-bit products, high halves of products, shifts and remainders."""

    ITERATIONS = 32
    SOURCE = """
    kernel void scramble(global ulong *out, ulong seed)
    {
        ulong x = seed + get_global_id(0) * 0x9E3779B97F4A7C15UL, total = 0;
        for (int i = 0; i < 32; i++) {
            x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9UL;
            x = (x ^ x >> 27) * 0x94D049BB133111EBUL;
            x ^= x >> 31;
            total += mul_hi(x, 0xD6E8FEB86659FD93UL) + x % 1000000007UL;
        }
        out[get_global_id(0)] = total;
    }"""

    def count(self):
        return self.pick(8 << 10, 4 << 20)

    def work(self):
        return self.count() * self.ITERATIONS, "Giteration/s"

    def data(self):
        self.out = np.zeros(self.count(), np.uint64)
        self.target = self.buffer(self.out)

    def set_up(self):
        self.scramble = self.kernel(self.program(self.SOURCE), "scramble", self.target, np.uint64(42))

    def enqueue(self):
        self.launch(self.scramble, (self.count(),), (64,))

    def check(self):
        u = np.uint64
        sample = np.arange(0, self.count(), max(1, self.count() >> 16)).astype(np.uint64)
        x, total = u(42) + sample * u(0x9E3779B97F4A7C15), np.zeros_like(sample)

        def high(a, b):
            low, mask = u(32), u(0xFFFFFFFF)
            middle = (a & mask) * (b >> low) + ((a & mask) * (b & mask) >> low)
            other = (a >> low) * (b & mask) + (middle & mask)
            return (a >> low) * (b >> low) + (middle >> low) + (other >> low)

        for _ in range(self.ITERATIONS):
            x = (x ^ x >> u(30)) * u(0xBF58476D1CE4E5B9)
            x = (x ^ x >> u(27)) * u(0x94D049BB133111EB)
            x = x ^ x >> u(31)
            total = total + high(x, u(0xD6E8FEB86659FD93)) + x % u(1000000007)
        return np.array_equal(self.fetch(self.target, self.out)[sample], total)


WORKLOADS = {"private_arrays": PrivateArrays, "struct_of_pointers": StructOfPointers, "long_integers": LongIntegers}
