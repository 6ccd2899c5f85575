"""Prefix sums and sorting: many small launches in sequence."""

import numpy as np

from .base import Workload

SCAN = """
// The exclusive prefix sum of a value of each of 256 work-items; *total is the sum of all.
uint scan_group(uint mine, local uint *shared, uint *total)
{
    uint lane = get_local_id(0);
    shared[lane] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < 256; distance *= 2) {
        uint other = lane >= distance ? shared[lane - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[lane] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint result = shared[lane] - mine;
    *total = shared[255];
    barrier(CLK_LOCAL_MEM_FENCE);
    return result;
}

// Scans blocks of 1,024 separately.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void scan_blocks(global const uint4 *from, global uint4 *to, global uint *sums)
{
    local uint shared[256];
    uint4 v = from[get_global_id(0)];
    v.y += v.x; v.z += v.y; v.w += v.z;
    uint total, before = scan_group(v.w, shared, &total);
    to[get_global_id(0)] = (uint4)(0, v.xyz) + before;
    if (get_local_id(0) == 0) sums[get_group_id(0)] = total;
}

// Scans the sums of the blocks, with one work-group.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void scan_sums(global uint *sums, uint count)
{
    local uint shared[256];
    uint carry = 0;
    for (uint first = 0; first < count; first += 256) {
        uint i = first + get_local_id(0), total, v = i < count ? sums[i] : 0;
        uint before = scan_group(v, shared, &total);
        if (i < count) sums[i] = carry + before;
        carry += total;
    }
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void add_sums(global uint4 *to, global const uint *sums)
{
    to[get_global_id(0)] += sums[get_group_id(0)];
}
"""


class Scan(Workload):
    """The exclusive prefix sum: prefix sums of blocks, then the prefix sum of the blocks' totals, which is added to the blocks."""

    def count(self):
        return self.pick(1 << 18, 32 << 20)

    def work(self):
        return self.count() * 8, "GB/s"

    def data(self):
        self.a = np.random.default_rng(11).integers(0, 100, self.count(), np.uint32)
        self.from_, self.to = self.buffer(self.a), self.buffer(np.zeros_like(self.a))
        self.sums = self.buffer(np.zeros(self.count() // 1024, np.uint32))

    def set_up(self):
        program = self.program(SCAN)
        self.steps = [
            (self.kernel(program, "scan_blocks", self.from_, self.to, self.sums), self.count() // 4),
            (self.kernel(program, "scan_sums", self.sums, np.uint32(self.count() // 1024)), 256),
            (self.kernel(program, "add_sums", self.to, self.sums), self.count() // 4),
        ]

    def enqueue(self):
        for kernel, items in self.steps:
            self.launch(kernel, (items,), (256,))

    def check(self):
        want = np.cumsum(self.a, dtype=np.uint32)
        return np.array_equal(self.fetch(self.to, self.a), want - self.a)


class Sort(Workload):
    """Base class of the sorts of unsigned numbers. Before each run, the device copies the unsorted numbers to the sorted buffer."""

    def work(self):
        return self.count(), "Gkey/s"

    def data(self):
        self.a = np.random.default_rng(12).integers(0, 1 << 32, self.count(), np.uint32)
        self.from_, self.keys = self.buffer(self.a), self.buffer(np.zeros_like(self.a))

    def check(self):
        return np.array_equal(self.fetch(self.keys, self.a), np.sort(self.a))


class BitonicSort(Sort):
    SOURCE = """
    kernel void exchange(global uint *keys, uint width, uint distance)
    {
        uint i = get_global_id(0), low = i / distance * distance * 2 + i % distance, high = low + distance;
        uint a = keys[low], b = keys[high];
        bool descending = low & width;
        keys[low] = descending ? max(a, b) : min(a, b);
        keys[high] = descending ? min(a, b) : max(a, b);
    }"""

    def count(self):
        return self.pick(1 << 14, 8 << 20)

    def set_up(self):
        program = self.program(self.SOURCE)
        self.steps, width = [], 2
        while width <= self.count():
            distance = width // 2
            while distance:
                self.steps.append(self.kernel(program, "exchange", self.keys, np.uint32(width), np.uint32(distance)))
                distance //= 2
            width *= 2

    def enqueue(self):
        self.copy(self.keys, self.from_)
        for kernel in self.steps:
            self.launch(kernel, (self.count() // 2,), (128,))


class RadixSort(Sort):
    """Radix sort with four bits per pass: count the digits of each block, compute prefix sums of the counts, and move the keys."""

    SOURCE = SCAN + """
    kernel __attribute__((reqd_work_group_size(256, 1, 1))) void count(global const uint4 *keys, global uint *counts, uint shift)
    {
        local uint digits[16];
        if (get_local_id(0) < 16) digits[get_local_id(0)] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint4 digit = keys[get_global_id(0)] >> shift & 15;
        atomic_inc(&digits[digit.x]);
        atomic_inc(&digits[digit.y]);
        atomic_inc(&digits[digit.z]);
        atomic_inc(&digits[digit.w]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) < 16) counts[get_local_id(0) * get_num_groups(0) + get_group_id(0)] = digits[get_local_id(0)];
    }

    kernel __attribute__((reqd_work_group_size(256, 1, 1))) void scatter(global const uint4 *from, global uint *to, global const uint *places, uint shift)
    {
        local uint ranks[4096], shared[256], starts[16];
        uint lane = get_local_id(0);
        for (uint i = 0; i < 16; i++) ranks[i * 256 + lane] = 0;
        uint4 four = from[get_global_id(0)];
        uint key[4] = {four.x, four.y, four.z, four.w};
        // First the number of keys with each digit in this work-item, then the number of keys in the block that precede them.
        for (uint i = 0; i < 4; i++) ranks[(key[i] >> shift & 15) * 256 + lane]++;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint sum = 0, total;
        for (uint i = 0; i < 16; i++) sum += ranks[lane * 16 + i];
        uint before = scan_group(sum, shared, &total);
        for (uint i = 0; i < 16; i++) {
            uint here = ranks[lane * 16 + i];
            ranks[lane * 16 + i] = before;
            before += here;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < 16) starts[lane] = places[lane * get_num_groups(0) + get_group_id(0)] - ranks[lane * 256];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < 4; i++) {
            uint digit = key[i] >> shift & 15;
            to[starts[digit] + ranks[digit * 256 + lane]++] = key[i];
        }
    }"""

    def count(self):
        return self.pick(1 << 16, 16 << 20)

    def set_up(self):
        program, blocks = self.program(self.SOURCE), self.count() // 1024
        counts, sums = (self.buffer(np.zeros(n, np.uint32)) for n in (16 * blocks, 16 * blocks // 1024))
        places, other = self.buffer(np.zeros(16 * blocks, np.uint32)), self.buffer(np.zeros_like(self.a))
        # Kernels do not retain their arguments, so this object does.
        self.kept = counts, sums, places, other
        source, target, self.steps = self.keys, other, []
        for shift in range(0, 32, 4):
            self.steps += [
                (self.kernel(program, "count", source, counts, np.uint32(shift)), self.count() // 4),
                (self.kernel(program, "scan_blocks", counts, places, sums), 4 * blocks),
                (self.kernel(program, "scan_sums", sums, np.uint32(16 * blocks // 1024)), 256),
                (self.kernel(program, "add_sums", places, sums), 4 * blocks),
                (self.kernel(program, "scatter", source, target, places, np.uint32(shift)), self.count() // 4),
            ]
            source, target = target, source

    def enqueue(self):
        self.copy(self.keys, self.from_)
        for kernel, items in self.steps:
            self.launch(kernel, (items,), (256,))


WORKLOADS = {"scan": Scan, "bitonic_sort": BitonicSort, "radix_sort": RadixSort}
