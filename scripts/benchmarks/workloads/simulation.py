"""Simulations: pair lists of molecular dynamics, Fourier transforms in local memory, sparse matrices, fluids with compressed storage, isosurfaces."""

import math

import numpy as np
import pyopencl as cl

from .base import SingleKernel, of_type


class PairList(SingleKernel):
    """Forces from a list of clusters of 8 x 8 atoms: masks of excluded pairs, shifts for periodic images, and sums over work-items in local memory."""

    CUTOFF = 0.9
    SOURCE = """
    typedef struct { int cluster, shift; uint2 mask; } Entry;
    kernel __attribute__((reqd_work_group_size(8, 8, 1)))
    void run(global const float4 *atoms, global const int *kinds, constant float2 *parameters, constant float4 *shifts, global const int *starts,
             global const Entry *entries, global float4 *forces, int number_of_kinds, float cutoff)
    {
        local float4 parts[64];
        int i = get_local_id(0), j = get_local_id(1), lane = 8 * j + i, cluster = get_group_id(0);
        float4 mine = atoms[8 * cluster + i], sum = 0;
        int kind = kinds[8 * cluster + i] * number_of_kinds;
        for (int at = starts[cluster]; at < starts[cluster + 1]; at++) {
            Entry entry = entries[at];
            if ((j < 4 ? entry.mask.x >> (8 * j + i) : entry.mask.y >> (8 * j + i - 32)) & 1) {
                float4 other = atoms[8 * entry.cluster + j], away = mine + shifts[entry.shift] - other;
                float square = away.x * away.x + away.y * away.y + away.z * away.z;
                if (square < cutoff * cutoff) {
                    float2 c = parameters[kind + kinds[8 * entry.cluster + j]];
                    float inverse = native_rsqrt(square), inverse2 = inverse * inverse, inverse6 = inverse2 * inverse2 * inverse2;
                    float charge = mine.w * other.w, x = square * 4.0f;
                    // A rational function for the part of Ewald's sum that the mesh contains.
                    float mesh = (0.75f + x * (0.02f + x * 0.0003f)) / (1.0f + x * (0.5f + x * (0.11f + x * 0.012f)));
                    float size = (12 * c.y * inverse6 - 6 * c.x) * inverse6 * inverse2 + charge * (inverse * inverse2 - mesh);
                    sum.xyz += away.xyz * size;
                    sum.w += (c.y * inverse6 - c.x) * inverse6 + charge * inverse;
                }
            }
        }
        parts[lane] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (j == 0) {
            for (int k = 1; k < 8; k++) sum += parts[8 * k + i];
            forces[8 * cluster + i] = sum;
        }
    }"""
    OPTIONS = ("-cl-fast-relaxed-math",)

    def cells(self):
        return self.pick(6, 20)

    def lists(self):
        """The list of clusters near each cluster, with their periodic shifts and masks. An atom is excluded from itself and from its bonded neighbour."""
        cells, box = self.cells(), self.box
        centres = self.atoms[:, :3].reshape(-1, 8, 3).mean(axis=1)
        radius = np.linalg.norm(self.atoms[:, :3].reshape(-1, 8, 3) - centres[:, None], axis=2).max()
        starts, entries = [0], []
        for me, centre in enumerate(centres):
            away = centre - centres
            image = -np.rint(away / box).astype(int)
            near = np.flatnonzero(np.linalg.norm(away + image * box, axis=1) < self.CUTOFF + 2 * radius)
            for other in near:
                excluded = sum((1 << 9 * i) | 1 << 8 * (i ^ 1) + i for i in range(8)) if other == me else 0
                mask = ~excluded & (2**64 - 1)
                entries.append((other, (image[other] + 1) @ [1, 3, 9], (mask & 0xFFFFFFFF, mask >> 32)))
            starts.append(len(entries))
        assert cells**3 == len(centres)
        return np.array(starts, np.int32), np.array(entries, np.dtype([("cluster", np.int32), ("shift", np.int32), ("mask", np.uint32, 2)]))

    def work(self):
        return (self.cells() ** 3 * 8) ** 2 * math.pi * 4 / 3 * self.CUTOFF**3 / (self.cells() * 0.43) ** 3, "Gpair/s"

    def data(self):
        cells, random = self.cells(), np.random.default_rng(71)
        self.box = cells * 0.43
        corner = np.stack(np.unravel_index(np.arange(cells**3), (cells,) * 3), axis=1)[:, None] * 2 + np.stack(np.unravel_index(np.arange(8), (2,) * 3), axis=1)
        self.atoms = np.empty((cells**3 * 8, 4), np.float32)
        self.atoms[:, :3] = (corner.reshape(-1, 3) + random.uniform(0, 0.3, (cells**3 * 8, 3))) * (self.box / (2 * cells))
        self.atoms[:, 3] = random.uniform(-1, 1, len(self.atoms))
        self.kinds = random.integers(0, 4, len(self.atoms)).astype(np.int32)
        self.parameters = np.stack([random.uniform(0.001, 0.003, (4, 4)), random.uniform(1e-6, 3e-6, (4, 4))], axis=2).astype(np.float32)
        shifts = np.zeros((27, 4), np.float32)
        shifts[:, :3] = [((i % 3 - 1) * self.box, (i // 3 % 3 - 1) * self.box, (i // 9 - 1) * self.box) for i in range(27)]
        starts, entries = self.lists()
        self.forces = np.zeros_like(self.atoms)
        arrays = self.atoms, self.kinds, self.parameters, shifts, starts, entries, self.forces
        self.arguments = [*(self.buffer(array) for array in arrays), np.int32(4), np.float32(self.CUTOFF)]
        self.items = (8 * cells**3, 8), (8, 8)

    def check(self):
        forces, position = self.fetch(self.arguments[6], self.forces), self.atoms[:, :3].astype(np.float64)
        for me in range(0, len(position), len(position) // 32 + 1):
            away = position[me] - position
            away -= np.rint(away / self.box) * self.box
            square = (away**2).sum(axis=1)
            near = (square < self.CUTOFF**2) & (np.arange(len(position)) & ~1 != me & ~1)
            away, square = away[near], square[near]
            c6, c12 = self.parameters[self.kinds[me], self.kinds[near]].astype(np.float64).T
            charge, x = self.atoms[me, 3].astype(np.float64) * self.atoms[near, 3], 4 * square
            mesh = (0.75 + x * (0.02 + x * 0.0003)) / (1 + x * (0.5 + x * (0.11 + x * 0.012)))
            size = (12 * c12 / square**3 - 6 * c6) / square**4 + charge * (square**-1.5 - mesh)
            want = [*(away * size[:, None]).sum(axis=0), ((c12 / square**3 - c6) / square**3 + charge / np.sqrt(square)).sum()]
            if not np.allclose(forces[me], want, rtol=1e-3, atol=1e-3 * abs(size).max()):
                return False
        return True


class FourierTransform(SingleKernel):
    """Transforms in local memory, in the shape of generated code: butterflies of `radix` points in straight code, twiddles from a table.

    Each exchange has its own array: PoCL 7.1 computes wrong results if a barrier separates the reads of an array from the next writes to it.
    """

    radix, stages, per_group = 8, 3, 1

    def points(self):
        return self.radix**self.stages

    def butterfly(self, names, prefix, lines):
        """Appends the code of a transform of these variables, and returns the variables with its results."""
        if len(names) == 1:
            return names
        even, odd = self.butterfly(names[::2], prefix, lines), self.butterfly(names[1::2], prefix, lines)
        results, half = [""] * len(names), len(names) // 2
        for k in range(half):
            angle, name = -2 * math.pi * k / len(names), f"{prefix}{len(lines)}"
            c, s = f"{math.cos(angle):.9f}f", f"{math.sin(angle):.9f}f"
            if k == 0:
                rotated = odd[k]
            elif 4 * k == len(names):
                rotated = f"(float2)({odd[k]}.y, -{odd[k]}.x)"
            else:
                rotated = f"(float2)({odd[k]}.x * {c} - {odd[k]}.y * {s}, {odd[k]}.x * {s} + {odd[k]}.y * {c})"
            results[k], results[k + half] = f"{name}_a", f"{name}_b"
            lines.append(f"float2 {name} = {rotated}, {name}_a = {even[k]} + {name}, {name}_b = {even[k]} - {name};")
        return results

    def source(self):
        r, n, last = self.radix, self.points(), self.stages - 1
        code = [f"local float2 data{stage}[{n * self.per_group}];" for stage in range(last)]
        code += [f"int lane = get_local_id(0), base = get_local_id(1) * {n}, first = (get_group_id(0) * {self.per_group} + get_local_id(1)) * {n};"]
        code += [f"float2 x0_{i} = in[first + lane + {i * n // r}];" for i in range(r)]
        for stage in range(self.stages):
            before = r**stage
            names, lines = [f"x{stage}_{i}" for i in range(r)], []
            code.append(f"int low{stage} = lane % {before}, at{stage} = lane / {before} * {before * r} + low{stage};")
            if stage:
                code += [f"float2 w{stage}_{i} = twiddles[low{stage} * {i} * {n // (before * r)}];" for i in range(1, r)]
                code += [f"{x} = (float2)({x}.x * {w}.x - {x}.y * {w}.y, {x}.x * {w}.y + {x}.y * {w}.x);"
                         for x, w in zip(names[1:], (f"w{stage}_{i}" for i in range(1, r)))]
            results = self.butterfly(names, f"t{stage}_", lines)
            target = f"out[first + at{stage} + {{}}]" if stage == last else f"data{stage}[base + at{stage} + {{}}]"
            code += [*lines, *(f"{target.format(i * before)} = {name};" for i, name in enumerate(results))]
            if stage < last:
                code += ["barrier(CLK_LOCAL_MEM_FENCE);", *(f"float2 x{stage + 1}_{i} = data{stage}[base + lane + {i * n // r}];" for i in range(r))]
        size = f"{n // r}, {self.per_group}, 1"
        head = f"kernel __attribute__((reqd_work_group_size({size}))) void run(global const float2 *in, global float2 *out, global const float2 *twiddles)"
        return "\n".join([head, "{", *code, "}"])

    def batches(self):
        return self.pick(512 << 10, 64 << 20) // self.points()

    def work(self):
        return 5 * self.batches() * self.points() * math.log2(self.points()), "GFLOP/s"

    def data(self):
        random, n = np.random.default_rng(72), self.points()
        self.input = random.uniform(-1, 1, (self.batches(), n, 2)).astype(np.float32)
        rotations = np.exp(-2j * np.pi * np.arange(n) / n)
        twiddles = np.stack([rotations.real, rotations.imag], axis=1).astype(np.float32)
        self.arguments = [self.buffer(array) for array in (self.input, np.zeros_like(self.input), twiddles)]
        width = n // self.radix
        self.items = (self.batches() // self.per_group * width, self.per_group), (width, self.per_group)

    def check(self):
        result = self.fetch(self.arguments[1], self.input)[:: self.batches() // 16 or 1]
        source = self.input[:: self.batches() // 16 or 1].astype(np.float64)
        want = np.fft.fft(source[..., 0] + 1j * source[..., 1])
        return np.allclose(result[..., 0] + 1j * result[..., 1], want, rtol=1e-4, atol=1e-5 * abs(want).max())


def sparse_rows(rows, seed):
    """The columns of a sparse matrix, one array per row. Most rows are short, and few are long."""
    random = np.random.default_rng(seed)
    lengths = np.minimum(4 + random.pareto(1.5, rows) * 12, 256).astype(int)
    return [np.sort(random.integers(0, rows, length)).astype(np.int32) for length in lengths]


class SpmvVector(SingleKernel):
    """A sparse matrix (CSR) times a vector, 32 work-items per row with a sum in local memory."""

    SOURCE = """
    kernel __attribute__((reqd_work_group_size(128, 1, 1)))
    void run(global const int *starts, global const int *columns, global const float *values, global const float *x, global float *y, int rows)
    {
        local float part[128];
        int lane = get_local_id(0), inner = lane & 31, row = get_global_id(0) / 32;
        float sum = 0;
        if (row < rows)
            for (int i = starts[row] + inner; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
        part[lane] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int by = 16; by > 0; by >>= 1) {
            if (inner < by) part[lane] = sum = sum + part[lane + by];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (inner == 0 && row < rows) y[row] = sum;
    }"""

    def rows(self):
        return self.pick(24 << 10, 512 << 10) + 3

    def work(self):
        return 2 * sum(map(len, sparse_rows(self.rows(), 73))), "GFLOP/s"

    def data(self):
        lists, random = sparse_rows(self.rows(), 73), np.random.default_rng(74)
        self.starts = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.int32)
        self.columns = np.concatenate(lists)
        self.values, self.x = random.uniform(-1, 1, len(self.columns)).astype(np.float32), random.uniform(-1, 1, self.rows()).astype(np.float32)
        self.y = np.zeros(self.rows(), np.float32)
        arrays = self.starts, self.columns, self.values, self.x, self.y
        self.arguments = [*(self.buffer(array) for array in arrays), np.int32(self.rows())]
        self.items = ((self.rows() * 32 + 127) // 128 * 128,), (128,)

    def check(self):
        want = np.add.reduceat(self.values.astype(np.float64) * self.x[self.columns], self.starts[:-1])
        return np.allclose(self.fetch(self.arguments[4], self.y), want, rtol=1e-4, atol=1e-4)


class SpmvEll(SingleKernel):
    """A sparse matrix (ELL, with padding) times a vector, one work-item per row: coalesced columns, and a branch for the padding."""

    WIDTH = 24
    SOURCE = """
    kernel void run(global const int *columns, global const float *values, global const float *x, global float *y, int rows, int width)
    {
        int row = get_global_id(0);
        if (row >= rows) return;
        float sum = 0;
        for (int i = 0; i < width; i++) {
            int column = columns[i * rows + row];
            if (column >= 0) sum += values[i * rows + row] * x[column];
        }
        y[row] = sum;
    }"""

    def rows(self):
        return self.pick(30_000, 2_000_000)

    def work(self):
        return 2 * self.rows() * self.WIDTH, "GFLOP/s"

    def data(self):
        rows, random = self.rows(), np.random.default_rng(75)
        near = np.arange(rows) + random.integers(-400, 400, (self.WIDTH, rows))
        self.columns = np.where(random.uniform(size=near.shape) < 0.85, near % rows, -1).astype(np.int32)
        self.values, self.x = random.uniform(-1, 1, near.shape).astype(np.float32), random.uniform(-1, 1, rows).astype(np.float32)
        self.y = np.zeros(rows, np.float32)
        self.arguments = [*(self.buffer(array) for array in (self.columns, self.values, self.x, self.y)), np.int32(rows), np.int32(self.WIDTH)]
        self.items = ((rows + 63) // 64 * 64,), (64,)

    def check(self):
        products = np.where(self.columns >= 0, self.values.astype(np.float64) * self.x[self.columns], 0)
        return np.allclose(self.fetch(self.arguments[3], self.y), products.sum(axis=0), rtol=1e-4, atol=1e-5)


class Jacobi(SingleKernel):
    """Four steps of Jacobi's method for a sparse system in CSR, one work-item per row, with a division and the norm of the change per work-group."""

    STEPS = 4
    SOURCE = """
    kernel __attribute__((reqd_work_group_size(64, 1, 1)))
    void run(global const int *starts, global const int *columns, global const float *values, global const float *b, global const float *x, global float *next,
             global float *change, int rows)
    {
        local float part[64];
        int row = get_global_id(0), lane = get_local_id(0);
        float differ = 0;
        if (row < rows) {
            float sum = b[row], diagonal = 1;
            for (int i = starts[row]; i < starts[row + 1]; i++) {
                int column = columns[i];
                if (column == row) diagonal = values[i]; else sum -= values[i] * x[column];
            }
            sum /= diagonal;
            next[row] = sum;
            differ = sum - x[row];
        }
        part[lane] = differ * differ;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int by = 32; by > 0; by >>= 1) {
            if (lane < by) part[lane] += part[lane + by];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (lane == 0) change[get_group_id(0)] = part[0];
    }"""

    def rows(self):
        return self.pick(16 << 10, 1 << 20)

    def work(self):
        return self.rows() * self.STEPS, "Grow/s"

    def data(self):
        rows, random = self.rows(), np.random.default_rng(76)
        lengths = random.integers(4, 20, rows)
        self.starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        self.owner = np.repeat(np.arange(rows), lengths)
        self.columns = ((self.owner + random.integers(1, 2000, len(self.owner))) % rows).astype(np.int32)
        self.columns[self.starts[:-1]] = np.arange(rows)
        self.values = random.uniform(-1, 1, len(self.owner)).astype(np.float32)
        self.values[self.starts[:-1]] = random.uniform(20, 30, rows)
        self.b, self.x = random.uniform(-1, 1, rows).astype(np.float32), np.zeros(rows, np.float32)
        self.change = np.zeros(rows // 64, np.float32)
        self.zero = self.buffer(self.x)
        self.arguments = [self.buffer(array) for array in (self.starts, self.columns, self.values, self.b, self.x, self.x, self.change)]
        self.items = (rows,), (64,)

    def set_up(self):
        program, rows = self.program(self.SOURCE), np.int32(self.rows())
        *matrix, x, next_, change = self.arguments
        pairs = [(self.zero, x), *((x, next_) if step % 2 == 0 else (next_, x) for step in range(self.STEPS - 1))]
        self.steps = [self.kernel(program, "run", *matrix, *pair, change, rows) for pair in pairs]
        self.last = pairs[-1][1]

    def enqueue(self):
        for step in self.steps:
            self.launch(step, *self.items)

    def check(self):
        x, others = np.zeros(self.rows()), self.columns != self.owner
        for _ in range(self.STEPS):
            before = x
            sums = np.bincount(self.owner[others], self.values[others].astype(np.float64) * x[self.columns[others]], self.rows())
            x = (self.b - sums) / self.values[self.starts[:-1]]
        change = ((x - before) ** 2).reshape(-1, 64).sum(axis=1)
        return np.allclose(self.fetch(self.last, self.x), x, rtol=1e-3, atol=1e-6) and np.allclose(
            self.fetch(self.arguments[6], self.change), change, rtol=1e-2, atol=1e-10)


class LatticeHalf(SingleKernel):
    """A step of the lattice Boltzmann method with 19 directions in generated straight code, and populations in half precision, as differences from rest."""

    DIRECTIONS = [(0, 0, 0)] + [d for x, y, z in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, -1, 0), (1, 0, -1), (0, 1, -1))
                                for d in ((x, y, z), (-x, -y, -z))]
    RATE = 1.3

    def weights(self):
        return [(1 / 3, 1 / 18, 1 / 36)[sum(map(abs, d))] for d in self.DIRECTIONS]

    def source(self):
        n, code = self.side(), []
        for axis in "xyz":
            code += [f"int {axis}p = {axis} + 1 == {n} ? 0 : {axis} + 1, {axis}m = {axis} == 0 ? {n - 1} : {axis} - 1;"]
        for i, (d, weight) in enumerate(zip(self.DIRECTIONS, self.weights())):
            # A population comes from the cell against its direction.
            x, y, z = (f"{axis}{'' if by == 0 else 'm' if by > 0 else 'p'}" for axis, by in zip("xyz", d))
            code += [f"float f{i} = vload_half({i} * {n**3} + ({z} * {n} + {y}) * {n} + {x}, from) + {weight:.9g}f;"]
        every = range(len(self.DIRECTIONS))
        code += ["float rho = " + " + ".join(f"f{i}" for i in every) + ", inverse = 1.0f / rho;"]
        for axis, name in enumerate("xyz"):
            terms = "".join(f" {'+' if self.DIRECTIONS[i][axis] > 0 else '-'} f{i}" for i in every if self.DIRECTIONS[i][axis])
            code += [f"float u{name} = (0.0f{terms}) * inverse;"]
        code += ["float square = 1.5f * (ux * ux + uy * uy + uz * uz);"]
        for i, (d, weight) in enumerate(zip(self.DIRECTIONS, self.weights())):
            along = "".join(f" {'+' if by > 0 else '-'} u{axis}" for axis, by in zip("xyz", d) if by) or " 0.0f"
            code += [f"float e{i} = 3.0f * (0.0f{along if along[1] in '+-' else ''});",
                     f"vstore_half(f{i} + {self.RATE}f * ({weight:.9g}f * rho * (1.0f + e{i} * (1.0f + 0.5f * e{i}) - square) - f{i}) - {weight:.9g}f, {i} * {n**3} + at, to);"]
        head = "kernel void run(global const half *from, global half *to)\n{\n    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), "
        return head + f"at = (z * {n} + y) * {n} + x;\n" + "\n".join(code) + "\n}"

    def side(self):
        return self.pick(48, 128)

    def work(self):
        return self.side() ** 3 * 19 * 4, "GB/s"

    def data(self):
        n, weights = self.side(), np.array(self.weights())
        self.before = (weights[:, None] * np.random.default_rng(77).uniform(-0.1, 0.1, (19, n**3))).astype(np.float16)
        self.arguments = [self.buffer(self.before), self.buffer(np.zeros_like(self.before))]
        self.items = (n, n, n), (16, 4, 1)

    def check(self):
        n, weights = self.side(), np.array(self.weights())[:, None, None, None]
        before = self.before.astype(np.float64).reshape(19, n, n, n)
        f = np.stack([np.roll(before[i], (d[2], d[1], d[0]), (0, 1, 2)) for i, d in enumerate(self.DIRECTIONS)]) + weights
        rho = f.sum(axis=0)
        u = np.einsum("ia,izyx->azyx", np.array(self.DIRECTIONS, np.float64), f) / rho
        along = 3 * np.einsum("ia,azyx->izyx", np.array(self.DIRECTIONS, np.float64), u)
        want = f + self.RATE * (weights * rho * (1 + along + 0.5 * along**2 - 1.5 * (u**2).sum(axis=0)) - f) - weights
        result = self.fetch(self.arguments[1], self.before).astype(np.float64).reshape(want.shape)
        return np.allclose(result, want, rtol=2e-3, atol=1e-6)


class MarchingCubes(SingleKernel):
    """The classification of marching cubes: eight corners give a case, a table its edges, and a scan in local memory the places of the cells with edges."""

    EDGES = [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)]
    SOURCE = """
    kernel __attribute__((reqd_work_group_size(64, 1, 1)))
    void run(global const float *field, constant ushort *edges, global uint *cells, global uint *count, int n, float level)
    {
        local uint places[64];
        local uint first;
        int lane = get_local_id(0), x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), at = (z * n + y) * n + x;
        uint kind = 0;
        if (x < n - 1)
            for (int i = 0; i < 8; i++) kind |= (uint)(field[at + (i & 1) + (i >> 1 & 1) * n + (i >> 2) * n * n] < level) << i;
        uint mask = edges[kind];
        places[lane] = mask != 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int by = 1; by < 64; by *= 2) {
            uint add = lane >= by ? places[lane - by] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            places[lane] += add;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (lane == 63) first = atomic_add(count, places[63]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (mask) {
            uint place = first + places[lane] - 1;
            cells[2 * place] = at;
            cells[2 * place + 1] = mask | kind << 16;
        }
    }"""

    def side(self):
        return self.pick(128, 256)

    def work(self):
        return self.side() ** 3, "Gcell/s"

    def data(self):
        n = self.side()
        z, y, x = np.mgrid[:n, :n, :n] / 9.0
        self.field = (np.sin(x) * np.cos(y) + np.sin(y) * np.cos(z) + np.sin(z) * np.cos(x)).astype(np.float32)
        kinds = np.arange(256)
        self.edges = sum(((kinds >> a ^ kinds >> b) & 1) << i for i, (a, b) in enumerate(self.EDGES)).astype(np.uint16)
        self.cells, self.count = np.zeros((n**3, 2), np.uint32), np.zeros(1, np.uint32)
        self.arguments = [*(self.buffer(array) for array in (self.field, self.edges, self.cells, self.count)), np.int32(n), np.float32(0.1)]
        self.items = (n, n - 1, n - 1), (64, 1, 1)

    def enqueue(self):
        cl.enqueue_fill_buffer(self.queue, self.arguments[3], np.uint32(0), 0, 4)
        super().enqueue()

    def check(self):
        n, inside = self.side(), (self.field < np.float32(0.1)).astype(np.uint32)
        kinds = sum(inside[i >> 2 : n - 1 + (i >> 2), i >> 1 & 1 : n - 1 + (i >> 1 & 1), i & 1 : n - 1 + (i & 1)] << i for i in range(8))
        z, y, x = np.nonzero((kinds > 0) & (kinds < 255))
        kinds = kinds[z, y, x]
        want = np.stack([(z * n + y) * n + x, self.edges[kinds] | kinds << 16], axis=1)
        count = int(self.fetch(self.arguments[3], self.count)[0])
        cells = self.fetch(self.arguments[2], self.cells)[:count]
        return count == len(want) and np.array_equal(cells[cells[:, 0].argsort()], want)


WORKLOADS = {
    "pair_list": PairList, "fft_radix8": FourierTransform, "fft_radix16": of_type(FourierTransform, radix=16, stages=2, per_group=4), "spmv_vector": SpmvVector,
    "spmv_ell": SpmvEll, "jacobi": Jacobi, "lattice_half": LatticeHalf, "marching_cubes": MarchingCubes,
}
