"""Kernels modelled on those of applications: molecular docking and dynamics, neural networks, fluids. They are in the group `programs`, like real programs."""

import numpy as np
import pyopencl as cl

from .base import Workload


class Application(Workload):
    group = "programs"


class Docking(Application):
    """The energy of many poses of a molecule at a protein, as in miniBUDE: long loops over uniform data, with branches on atom types."""

    POSES_PER_ITEM = 4
    SOURCE = """
    typedef struct { float x, y, z; int type; } Atom;
    typedef struct { int hydrogen_bond; float radius, hydrophobicity, charge; } Field;
    #define P 4
    kernel void energies(int protein_atoms, int ligand_atoms, global const Atom *protein, global const Atom *ligand,
                         global const float *pose, global float *energy, global const Field *field, int poses)
    {
        int first = get_group_id(0) * get_local_size(0) * P + get_local_id(0), step = get_local_size(0);
        float sum[P], m[P][6];
        for (int p = 0; p < P; p++) {
            int at = first + p * step;
            float s = sin(pose[at]), c = cos(pose[at]);
            m[p][0] = c; m[p][1] = -s; m[p][2] = s;
            m[p][3] = pose[poses + at]; m[p][4] = pose[2 * poses + at]; m[p][5] = pose[3 * poses + at];
            sum[p] = 0;
        }
        for (int l = 0; l < ligand_atoms; l++) {
            Atom mine = ligand[l];
            Field own = field[mine.type];
            float x[P], y[P], z[P];
            for (int p = 0; p < P; p++) {
                x[p] = m[p][0] * mine.x + m[p][1] * mine.y + m[p][3];
                y[p] = m[p][2] * mine.x + m[p][0] * mine.y + m[p][4];
                z[p] = mine.z + m[p][5];
            }
            for (int a = 0; a < protein_atoms; a++) {
                Atom other = protein[a];
                Field theirs = field[other.type];
                float radii = own.radius + theirs.radius, inverse = 1.0f / radii;
                float both = own.hydrophobicity * theirs.hydrophobicity, charge = own.charge * theirs.charge;
                for (int p = 0; p < P; p++) {
                    float dx = x[p] - other.x, dy = y[p] - other.y, dz = z[p] - other.z;
                    float distance = sqrt(dx * dx + dy * dy + dz * dz), surface = distance - radii;
                    int touches = surface < 0;
                    sum[p] += (1 - distance * inverse) * (touches ? 38.0f : 0.0f);
                    float electric = charge * (touches ? 1 : 1 - surface * 0.25f);
                    sum[p] += surface < 4 ? electric : 0;
                    float water = both * (touches ? 1 : 1 - surface * 0.5f);
                    sum[p] += own.hydrogen_bond != theirs.hydrogen_bond && surface < 2 ? water : 0;
                }
            }
        }
        for (int p = 0; p < P; p++) energy[first + p * step] = sum[p] * 0.5f;
    }"""

    LIGAND_ATOMS = 26

    def poses(self):
        return self.pick(2048, 65536)

    def protein_atoms(self):
        return self.pick(128, 938)

    def work(self):
        return self.poses() * self.protein_atoms() * self.LIGAND_ATOMS, "Gpair/s"

    def data(self):
        random = np.random.default_rng(12)
        atom = np.dtype([("position", np.float32, 3), ("type", np.int32)])
        field = np.dtype([("bond", np.int32), ("radius", np.float32), ("phobicity", np.float32), ("charge", np.float32)])
        self.protein, self.ligand, self.field = np.zeros(self.protein_atoms(), atom), np.zeros(self.LIGAND_ATOMS, atom), np.zeros(64, field)
        for atoms, extent in ((self.protein, 20), (self.ligand, 5)):
            atoms["position"] = random.uniform(-extent, extent, (atoms.size, 3))
            atoms["type"] = random.integers(0, 64, atoms.size)
        self.field["bond"] = random.integers(0, 2, 64)
        for name in ("radius", "phobicity", "charge"):
            self.field[name] = random.uniform(0.5, 2, 64)
        self.pose = random.uniform(-3, 3, (4, self.poses())).astype(np.float32)
        self.energy = np.zeros(self.poses(), np.float32)
        self.buffers = [self.buffer(array) for array in (self.protein, self.ligand, self.pose, self.energy, self.field)]

    def set_up(self):
        protein, ligand, pose, energy, field = self.buffers
        program = self.program(self.SOURCE, "-cl-mad-enable", "-cl-fast-relaxed-math")
        self.energies = self.kernel(
            program, "energies", np.int32(self.protein.size), np.int32(self.ligand.size), protein, ligand, pose, energy, field, np.int32(self.poses()))

    def enqueue(self):
        self.launch(self.energies, (self.poses() // self.POSES_PER_ITEM,), (64,))

    def check(self):
        energy = self.fetch(self.buffers[3], self.energy)
        theirs = self.field[self.protein["type"]]
        for at in range(0, self.poses(), self.poses() // 8):
            angle, *shift = self.pose[:, at].astype(np.float64)
            rotation = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
            total = 0.0
            for atom in self.ligand:
                own = self.field[atom["type"]]
                distance = np.linalg.norm(self.protein["position"] - (rotation @ atom["position"] + shift), axis=1)
                radii = own["radius"] + theirs["radius"].astype(np.float64)
                surface = distance - radii
                touches = surface < 0
                total += ((1 - distance / radii) * 38)[touches].sum()
                electric = own["charge"] * theirs["charge"] * np.where(touches, 1, 1 - surface * 0.25)
                total += electric[surface < 4].sum()
                water = own["phobicity"] * theirs["phobicity"] * np.where(touches, 1, 1 - surface * 0.5)
                total += water[(own["bond"] != theirs["bond"]) & (surface < 2)].sum()
            if not np.isclose(energy[at], total * 0.5, rtol=2e-3, atol=0.5):
                return False
        return True


class Nonbonded(Application):
    """Forces between tiles of 32 atoms, as in molecular dynamics: local memory, a cutoff, and 64-bit fixed-point atomics."""

    needs = ("cl_khr_int64_base_atomics",)
    CUTOFF = 0.9
    SOURCE = """
    #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
    #define SCALE 4294967296.0f
    kernel __attribute__((reqd_work_group_size(32, 1, 1)))
    void forces(global ulong *force, global const float4 *atom, global const float2 *kind, global const int2 *tile, int atoms, float box, float cutoff)
    {
        local float4 other[32];
        local float2 theirs[32];
        local float3 pull[32];
        int lane = get_local_id(0);
        int2 pair = tile[get_group_id(0)];
        int mine = pair.x * 32 + lane, yours = pair.y * 32 + lane;
        float4 own = atom[mine];
        float2 own_kind = kind[mine];
        other[lane] = atom[yours];
        theirs[lane] = kind[yours];
        pull[lane] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        float3 sum = 0;
        for (int i = 0; i < 32; i++) {
            int at = (lane + i) & 31;
            float3 away = other[at].xyz - own.xyz;
            away -= floor(away / box + 0.5f) * box;
            float square = dot(away, away);
            if (square < cutoff * cutoff && (pair.x != pair.y || at != lane)) {
                float inverse = rsqrt(square), distance = square * inverse;
                float sigma = own_kind.x + theirs[at].x, epsilon = own_kind.y * theirs[at].y;
                float s2 = sigma * inverse * sigma * inverse, s6 = s2 * s2 * s2;
                float screened = distance * 3.0f, t = 1.0f / (1.0f + 0.3275911f * screened), e = exp(-screened * screened);
                float erfc = (0.254829592f + (-0.284496736f + (1.421413741f + (-1.453152027f + 1.061405429f * t) * t) * t) * t) * t * e;
                float magnitude = epsilon * (12.0f * s6 - 6.0f) * s6 + own.w * other[at].w * inverse * (erfc + screened * e * 1.128379167f);
                float3 one = away * (magnitude * inverse * inverse);
                sum -= one;
                pull[at] += one;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        atom_add(&force[mine], (ulong)(long)(sum.x * SCALE));
        atom_add(&force[mine + atoms], (ulong)(long)(sum.y * SCALE));
        atom_add(&force[mine + 2 * atoms], (ulong)(long)(sum.z * SCALE));
        if (pair.x != pair.y) {
            atom_add(&force[yours], (ulong)(long)(pull[lane].x * SCALE));
            atom_add(&force[yours + atoms], (ulong)(long)(pull[lane].y * SCALE));
            atom_add(&force[yours + 2 * atoms], (ulong)(long)(pull[lane].z * SCALE));
        }
    }"""

    def blocks(self):
        return self.pick(24, 256)

    def work(self):
        return self.blocks() * (self.blocks() + 1) // 2 * 1024, "Gpair/s"

    def data(self):
        random = np.random.default_rng(13)
        atoms = self.blocks() * 32
        self.box = np.float32((atoms / 100) ** (1 / 3))
        self.atom = random.uniform(0, self.box, (atoms, 4)).astype(np.float32)
        # A lattice keeps atoms apart, so that forces stay in the range of the fixed-point sums.
        side = int(np.ceil(atoms ** (1 / 3)))
        self.atom[:, :3] = (np.stack(np.unravel_index(np.arange(atoms), (side,) * 3), axis=1) + random.uniform(0, 0.2, (atoms, 3))) * (self.box / side)
        self.atom[:, 3] = random.uniform(-0.5, 0.5, atoms)
        self.kind = random.uniform(0.05, 0.1, (atoms, 2)).astype(np.float32)
        self.tiles = np.array([(x, y) for x in range(self.blocks()) for y in range(x + 1)], np.int32)
        self.force = np.zeros((3, atoms), np.int64)
        self.buffers = [self.buffer(array) for array in (self.force, self.atom, self.kind, self.tiles)]

    def set_up(self):
        self.forces = self.kernel(self.program(self.SOURCE), "forces", *self.buffers, np.int32(len(self.atom)), self.box, np.float32(self.CUTOFF))

    def enqueue(self):
        cl.enqueue_fill_buffer(self.queue, self.buffers[0], np.int64(0), 0, self.force.nbytes)
        self.launch(self.forces, (len(self.tiles) * 32,), (32,))

    def check(self):
        force = self.fetch(self.buffers[0], self.force).astype(np.float64) / 2**32
        position, charge = self.atom[:, :3].astype(np.float64), self.atom[:, 3]
        for me in range(0, len(position), len(position) // 16):
            away = position - position[me]
            away -= np.floor(away / self.box + 0.5) * self.box
            distance = np.linalg.norm(away, axis=1)
            near = (distance < self.CUTOFF) & (np.arange(len(position)) != me)
            away, distance = away[near], distance[near]
            s6 = ((self.kind[me, 0] + self.kind[near, 0]) / distance) ** 6
            screened, t = distance * 3, 1 / (1 + 0.3275911 * distance * 3)
            e = np.exp(-screened * screened)
            erfc = np.polyval([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0], t) * e
            magnitude = self.kind[me, 1] * self.kind[near, 1] * (12 * s6 - 6) * s6 + charge[me] * charge[near] / distance * (erfc + screened * e * 1.128379167)
            want = -(away * (magnitude / distance**2)[:, None]).sum(axis=0)
            if not np.allclose(force[:, me], want, rtol=5e-3, atol=0.05):
                return False
        return True


class DynamicsStep(Application):
    """The host's part of molecular dynamics: 29 small kernels that depend on each other and a small blocking read."""

    KERNELS = 29
    raises_clocks = False
    SOURCE = "kernel void advance(global float *x, float by) { x[get_global_id(0)] += by; }"

    def work(self):
        return 1, "s"

    def data(self):
        self.values = np.zeros(4096, np.float32)
        self.target = self.buffer(self.values)
        self.seen = np.zeros(1, np.float32)

    def set_up(self):
        self.advance = self.kernel(self.program(self.SOURCE), "advance", self.target, np.float32(1))
        self.runs = 0

    def enqueue(self):
        for _ in range(self.KERNELS):
            self.launch(self.advance, (4096,), (64,))
        cl.enqueue_copy(self.queue, self.seen, self.target, is_blocking=True)
        self.runs += 1

    def check(self):
        # The result is exact up to 2^24, because adding 1 to a larger float has no effect.
        return self.seen[0] == min(self.KERNELS * self.runs, 1 << 24)


class Softmax(Application):
    """The softmax of each row, as a graph compiler generates it: three kernels, each with a loop over float4."""

    SOURCE = """
    kernel void row_max(global float *out, global const float4 *in, int n)
    {
        local float part[256];
        int row = get_group_id(0), lane = get_local_id(0);
        float4 best = -INFINITY;
        for (int i = lane; i < n / 4; i += 256) best = fmax(best, in[row * (n / 4) + i]);
        part[lane] = fmax(fmax(best.x, best.y), fmax(best.z, best.w));
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0) {
            float all = part[0];
            for (int i = 1; i < 256; i++) all = fmax(all, part[i]);
            out[row] = all;
        }
    }
    kernel void row_sum(global float *out, global const float4 *in, global const float *most, int n)
    {
        local float part[256];
        int row = get_group_id(0), lane = get_local_id(0);
        float4 sum = 0;
        for (int i = lane; i < n / 4; i += 256) sum += exp2((in[row * (n / 4) + i] - most[row]) * 1.4426950408889634f);
        part[lane] = sum.x + sum.y + sum.z + sum.w;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0) {
            float all = 0;
            for (int i = 0; i < 256; i++) all += part[i];
            out[row] = all;
        }
    }
    kernel void quotient(global float4 *out, global const float4 *in, global const float *most, global const float *sum, int n)
    {
        int x = get_global_id(0), row = get_global_id(1), at = row * (n / 4) + x;
        out[at] = exp2((in[at] - most[row]) * 1.4426950408889634f) * (1.0f / sum[row]);
    }"""

    def side(self):
        return self.pick(512, 4096)

    def work(self):
        return self.side() ** 2, "Gelement/s"

    def data(self):
        self.input = np.random.default_rng(14).normal(0, 3, (self.side(), self.side())).astype(np.float32)
        row = np.zeros(self.side(), np.float32)
        self.source, self.target, self.most, self.sum = (self.buffer(array) for array in (self.input, np.zeros_like(self.input), row, row))

    def set_up(self):
        program, n = self.program(self.SOURCE), np.int32(self.side())
        self.row_max = self.kernel(program, "row_max", self.most, self.source, n)
        self.row_sum = self.kernel(program, "row_sum", self.sum, self.source, self.most, n)
        self.quotient = self.kernel(program, "quotient", self.target, self.source, self.most, self.sum, n)

    def enqueue(self):
        self.launch(self.row_max, (self.side() * 256,), (256,))
        self.launch(self.row_sum, (self.side() * 256,), (256,))
        self.launch(self.quotient, (self.side() // 4, self.side()), (32, 4))

    def check(self):
        rows = self.fetch(self.target, self.input)[:: self.side() // 16]
        source = self.input[:: self.side() // 16].astype(np.float64)
        want = np.exp(source - source.max(axis=1, keepdims=True))
        return np.allclose(rows, want / want.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-9)


class Convolution3x3(Application):
    """A layer of a neural network with 64 input channels: each work-item computes 4 output channels of 4 pixels."""

    CHANNELS = 64
    SOURCE = """
    #define C 64
    kernel void layer(global float4 *out, global const float *in, global const float *weight, int side)
    {
        int x = get_global_id(0) * 4, y = get_global_id(1), channel = get_global_id(2) * 4, wide = side + 8;
        float4 sum[4] = {0, 0, 0, 0};
        for (int c = 0; c < C; c++) {
            for (int dy = 0; dy < 3; dy++) {
                float row[6];
                for (int i = 0; i < 6; i++) row[i] = in[(c * (side + 2) + y + dy) * wide + x + i];
                for (int k = 0; k < 4; k++)
                    for (int dx = 0; dx < 3; dx++)
                        sum[k] += weight[((channel + k) * C + c) * 9 + dy * 3 + dx] * (float4)(row[dx], row[dx + 1], row[dx + 2], row[dx + 3]);
            }
        }
        for (int k = 0; k < 4; k++) out[(((channel + k) * side + y) * side + x) / 4] = fmax(sum[k], 0.0f);
    }"""

    def side(self):
        return self.pick(32, 128)

    def work(self):
        return self.side() ** 2 * self.CHANNELS**2 * 18, "GFLOP/s"

    def data(self):
        random = np.random.default_rng(15)
        side = self.side()
        self.input = random.uniform(-1, 1, (self.CHANNELS, side + 2, side + 8)).astype(np.float32)
        self.weight = random.uniform(-1, 1, (self.CHANNELS, self.CHANNELS, 3, 3)).astype(np.float32)
        self.output = np.zeros((self.CHANNELS, side, side), np.float32)
        self.buffers = [self.buffer(array) for array in (self.output, self.input, self.weight)]

    def set_up(self):
        self.layer = self.kernel(self.program(self.SOURCE), "layer", *self.buffers, np.int32(self.side()))

    def enqueue(self):
        self.launch(self.layer, (self.side() // 4, self.side(), self.CHANNELS // 4), (8, 8, 1))

    def check(self):
        output = self.fetch(self.buffers[0], self.output)
        for channel, y, x in ((0, 0, 0), (5, 7, 9), (63, self.side() - 1, self.side() - 1), (31, 3, 30)):
            want = (self.input[:, y : y + 3, x : x + 3].astype(np.float64) * self.weight[channel]).sum()
            if not np.isclose(output[channel, y, x], max(want, 0), rtol=1e-3, atol=1e-3):
                return False
        return True


class Lattice(Application):
    """A step of the lattice Boltzmann method with 19 directions and one relaxation time: 19 streams in, 19 out."""

    DIRECTIONS = [(0, 0, 0)] + [
        (x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if 1 <= abs(x) + abs(y) + abs(z) <= 2]
    SOURCE = """
    kernel void collide(global float *to, global const float *from, int n)
    {
        int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), all = n * n * n, at = (z * n + y) * n + x;
        float f[19], density = 0, ux = 0, uy = 0, uz = 0;
        for (int i = 0; i < 19; i++) {
            int px = (x - DX[i] + n) % n, py = (y - DY[i] + n) % n, pz = (z - DZ[i] + n) % n;
            f[i] = from[i * all + (pz * n + py) * n + px];
            density += f[i];
            ux += f[i] * DX[i];
            uy += f[i] * DY[i];
            uz += f[i] * DZ[i];
        }
        ux /= density;
        uy /= density;
        uz /= density;
        float square = 1.5f * (ux * ux + uy * uy + uz * uz);
        for (int i = 0; i < 19; i++) {
            float along = 3 * (ux * DX[i] + uy * DY[i] + uz * DZ[i]);
            to[i * all + at] = f[i] + 1.2f * (W[i] * density * (1 + along + 0.5f * along * along - square) - f[i]);
        }
    }"""

    def side(self):
        return self.pick(32, 128)

    def work(self):
        return self.side() ** 3 * 19 * 8, "GB/s"

    def data(self):
        self.weights = np.array([(1 / 3, 1 / 18, 1 / 36)[sum(map(abs, d))] for d in self.DIRECTIONS])
        noise = np.random.default_rng(16).uniform(0.9, 1.1, (19, self.side() ** 3))
        self.before = (self.weights[:, None] * noise).astype(np.float32)
        self.source, self.target = self.buffer(self.before), self.buffer(np.zeros_like(self.before))

    def set_up(self):
        table = lambda kind, name, values: f"constant {kind} {name}[19] = {{{', '.join(map(str, values))}}};\n"
        header = "".join(table("int", f"D{axis}", [d[index] for d in self.DIRECTIONS]) for index, axis in enumerate("XYZ"))
        header += table("float", "W", [f"{weight:.9g}f" for weight in self.weights])
        self.collide = self.kernel(self.program(header + self.SOURCE), "collide", self.target, self.source, np.int32(self.side()))

    def enqueue(self):
        self.launch(self.collide, (self.side(),) * 3, (32, 4, 1))

    def check(self):
        n = self.side()
        shape = (19, n, n, n)
        result = self.fetch(self.target, self.before).reshape(shape)
        before = self.before.astype(np.float64).reshape(shape)
        f = np.stack([np.roll(before[i], (d[2], d[1], d[0]), (0, 1, 2)) for i, d in enumerate(self.DIRECTIONS)])
        density = f.sum(axis=0)
        u = np.einsum("ia,izyx->azyx", np.array(self.DIRECTIONS, np.float64), f) / density
        along = 3 * np.einsum("ia,azyx->izyx", np.array(self.DIRECTIONS, np.float64), u)
        want = f + 1.2 * (self.weights[:, None, None, None] * density * (1 + along + 0.5 * along**2 - 1.5 * (u**2).sum(axis=0)) - f)
        return np.allclose(result, want, rtol=1e-3, atol=1e-5)


class DoubleDivisions(Application):
    """Newton's method in double precision: divisions and square roots in a dependent chain."""

    needs = ("cl_khr_fp64",)
    STEPS = 64
    SOURCE = """
    kernel void iterate(global double *x, int steps)
    {
        double a = x[get_global_id(0)], b = a;
        for (int i = 0; i < steps; i++) b = 0.5 * (b + a / b) + 1.0 / sqrt(b + i);
        x[get_global_size(0) + get_global_id(0)] = b;
    }"""

    def count(self):
        return self.pick(1 << 14, 1 << 20)

    def work(self):
        return self.count() * self.STEPS, "Gstep/s"

    def data(self):
        self.input = np.zeros((2, self.count()))
        self.input[0] = np.random.default_rng(17).uniform(1, 100, self.count())
        self.target = self.buffer(self.input)

    def set_up(self):
        self.iterate = self.kernel(self.program(self.SOURCE), "iterate", self.target, np.int32(self.STEPS))

    def enqueue(self):
        self.launch(self.iterate, (self.count(),), (64,))

    def check(self):
        result = self.fetch(self.target, self.input)[1]
        a = self.input[0]
        b = a.copy()
        for i in range(self.STEPS):
            b = 0.5 * (b + a / b) + 1 / np.sqrt(b + i)
        return np.allclose(result, b, rtol=1e-13)


WORKLOADS = {
    "docking": Docking, "nonbonded_forces": Nonbonded, "dynamics_step": DynamicsStep, "softmax": Softmax, "convolution_layer": Convolution3x3,
    "lattice_boltzmann": Lattice, "newton_double": DoubleDivisions,
}
