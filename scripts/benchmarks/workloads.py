"""The workloads. Each knows its source, its data, the work that it does, and the right result."""

import hashlib
import itertools
import time

import numpy as np
import pyopencl as cl


class Workload:
    """Base: `prepare` makes buffers and kernels, `run` does the work once and waits, `check` compares with the host."""

    def __init__(self, size):
        self.large = size == "large"

    def prepare(self, context, queue):
        self.context, self.queue = context, queue
        self.set_up()

    def program(self, source, *options):
        return cl.Program(self.context, source).build(options=list(options))

    def buffer(self, array):
        return cl.Buffer(self.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)

    def fetch(self, buffer, like):
        result = np.empty_like(like)
        cl.enqueue_copy(self.queue, result, buffer)
        return result

    def warm_up(self):
        self.run()

    def time(self):
        begin = time.perf_counter()
        self.run()
        return time.perf_counter() - begin

    def run(self):
        self.enqueue()
        self.queue.finish()

    def check(self):
        return True


def of_type(base, **attributes):
    """A workload class with some attributes set."""
    return type(base.__name__, (base,), attributes)


class Stream(Workload):
    """copy: c = a; scale: c = 3 a; triad: c = a + 3 b."""

    kind, kernel_type, element = "copy", "float", np.float32
    EXPRESSION = {"copy": "a[i]", "scale": "(T)3 * a[i]", "triad": "a[i] + (T)3 * b[i]"}

    def bytes(self):
        return (256 << 20) if self.large else (4 << 20)

    def work(self):
        return self.bytes() * (3 if self.kind == "triad" else 2), "GB/s"

    def set_up(self):
        source = f"""typedef {self.kernel_type} T;
        kernel void stream(global const T *a, global const T *b, global T *c) {{ size_t i = get_global_id(0); c[i] = {self.EXPRESSION[self.kind]}; }}"""
        self.kernel = self.program(source).stream
        count = self.bytes() // np.dtype(self.element).itemsize
        self.a = (np.arange(count) % 50).astype(self.element)
        self.b = (np.arange(count) % 33).astype(self.element)
        self.buffers = [self.buffer(array) for array in (self.a, self.b, np.zeros_like(self.a))]
        self.items = count // {"float4": 4, "uchar16": 16}.get(self.kernel_type, 1)

    def enqueue(self):
        self.kernel(self.queue, (self.items,), None, *self.buffers)

    def check(self):
        want = {"copy": lambda: self.a, "scale": lambda: self.a * 3, "triad": lambda: self.a + self.b * 3}[self.kind]()
        return np.array_equal(self.fetch(self.buffers[2], self.a), want.astype(self.element))


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
        return (64 << 20) if self.large else (1 << 20)

    def work(self):
        return self.count() * 4, "GB/s"

    def set_up(self):
        self.kernel = self.program(self.SOURCE).sum
        self.groups = 2048 if self.large else 64
        self.data = (np.arange(self.count()) % 7).astype(np.float32)
        self.sums = np.zeros(self.groups, np.float32)
        self.buffers = self.buffer(self.data), self.buffer(self.sums)

    def enqueue(self):
        self.kernel(self.queue, (self.groups * 64,), (64,), self.buffers[0], np.uint32(self.count()), self.buffers[1])

    def check(self):
        return abs(self.fetch(self.buffers[1], self.sums).sum(dtype=np.float64) / self.data.sum(dtype=np.float64) - 1) < 1e-5


class Sgemm(Workload):
    tiled = False
    NAIVE = """
    kernel void sgemm(global const float *a, global const float *b, global float *c, int n)
    {
        int x = get_global_id(0), y = get_global_id(1);
        float sum = 0;
        for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
        c[y * n + x] = sum;
    }"""
    TILED = """
    #define T 16
    kernel __attribute__((reqd_work_group_size(T, T, 1))) void sgemm(global const float *a, global const float *b, global float *c, int n)
    {
        local float ta[T][T], tb[T][T];
        int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
        float sum = 0;
        for (int t = 0; t < n; t += T) {
            ta[ly][lx] = a[y * n + t + lx];
            tb[ly][lx] = b[(t + ly) * n + x];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int k = 0; k < T; k++) sum += ta[ly][k] * tb[k][lx];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        c[y * n + x] = sum;
    }"""

    def n(self):
        return 2048 if self.large else 256

    def work(self):
        return 2 * self.n() ** 3, "GFLOP/s"

    def set_up(self):
        self.kernel = self.program(self.TILED if self.tiled else self.NAIVE).sgemm
        random = np.random.default_rng(1)
        self.a, self.b = (random.integers(-4, 5, (self.n(), self.n())).astype(np.float32) for _ in range(2))
        self.buffers = [self.buffer(m) for m in (self.a, self.b, np.zeros_like(self.a))]

    def enqueue(self):
        self.kernel(self.queue, (self.n(), self.n()), (16, 16), *self.buffers, np.int32(self.n()))

    def check(self):
        return np.array_equal(self.fetch(self.buffers[2], self.a), self.a @ self.b)


class Blur(Workload):
    SOURCE = """
    kernel void blur(global const uchar *from, global uchar *to, int width, int height)
    {
        int x = get_global_id(0), y = get_global_id(1), sum = 4;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum += from[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
        to[y * width + x] = sum / 9;
    }"""

    def side(self):
        return 8192 if self.large else 512

    def work(self):
        return self.side() ** 2, "Gpixel/s"

    def set_up(self):
        self.kernel = self.program(self.SOURCE).blur
        self.image = np.random.default_rng(2).integers(0, 256, (self.side(), self.side()), np.uint8)
        self.buffers = self.buffer(self.image), self.buffer(np.zeros_like(self.image))

    def enqueue(self):
        self.kernel(self.queue, (self.side(), self.side()), (16, 8), *self.buffers, np.int32(self.side()), np.int32(self.side()))

    def check(self):
        padded = np.pad(self.image.astype(np.int32), 1, mode="edge")
        n = self.side()
        want = (sum(padded[dy : dy + n, dx : dx + n] for dy in range(3) for dx in range(3)) + 4) // 9
        return np.array_equal(self.fetch(self.buffers[1], self.image), want.astype(np.uint8))


class Mandelbrot(Workload):
    LIMIT = 256
    SOURCE = """
    kernel void mandelbrot(global int *out, float pixel, int limit)
    {
        int x = get_global_id(0), y = get_global_id(1);
        float cx = -2.0f + x * pixel, cy = -1.25f + y * pixel, zx = 0, zy = 0;
        int n = 0;
        while (n < limit && zx * zx + zy * zy <= 4) {
            float t = zx * zx - zy * zy + cx;
            zy = 2 * zx * zy + cy;
            zx = t;
            n++;
        }
        out[y * get_global_size(0) + x] = n;
    }"""

    def side(self):
        return 4096 if self.large else 256

    def work(self):
        return self.side() ** 2, "Gpixel/s"

    def set_up(self):
        self.kernel = self.program(self.SOURCE).mandelbrot
        self.out = np.zeros((self.side(), self.side()), np.int32)
        self.target = self.buffer(self.out)

    def enqueue(self):
        self.kernel(self.queue, self.out.shape, (8, 8), self.target, np.float32(2.5 / self.side()), np.int32(self.LIMIT))

    def check(self):
        step = self.side() // 64
        result = self.fetch(self.target, self.out)[::step, ::step]
        axis = (np.arange(64) * step * 2.5 / self.side()).astype(np.float32)
        c = (axis - 2.0)[None, :] + 1j * (axis - 1.25)[:, None]
        z, count = np.zeros_like(c), np.zeros(c.shape, np.int32)
        for _ in range(self.LIMIT):
            alive = np.abs(z) <= 2
            count[alive] += 1
            z[alive] = z[alive] ** 2 + c[alive]
        # Single and double precision part ways near the border.
        return np.count_nonzero(result != count) < count.size // 50


class NBody(Workload):
    SOURCE = """
    kernel void forces(global const float4 *body, global float4 *force)
    {
        local float4 tile[64];
        uint me = get_global_id(0), lane = get_local_id(0);
        float4 mine = body[me], sum = 0.0f;
        for (uint first = 0; first < get_global_size(0); first += 64) {
            tile[lane] = body[first + lane];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = 0; i < 64; i++) {
                float4 away = tile[i] - mine;
                float mass = tile[i].w;
                away.w = 0;
                float inverse = rsqrt(dot(away, away) + 0.01f);
                sum += away * (mass * inverse * inverse * inverse);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        force[me] = sum;
    }"""

    def count(self):
        return 65536 // 2 if self.large else 1024

    def work(self):
        return self.count() ** 2 * 20, "GFLOP/s"

    def set_up(self):
        self.kernel = self.program(self.SOURCE).forces
        self.body = np.random.default_rng(3).uniform(-1, 1, (self.count(), 4)).astype(np.float32)
        self.buffers = self.buffer(self.body), self.buffer(np.zeros_like(self.body))

    def enqueue(self):
        self.kernel(self.queue, (self.count(),), (64,), *self.buffers)

    def check(self):
        force = self.fetch(self.buffers[1], self.body)
        body = self.body.astype(np.float64)
        for me in range(0, self.count(), self.count() // 16):
            away = body[:, :3] - body[me, :3]
            want = (away * (body[:, 3] * ((away**2).sum(axis=1) + 0.01) ** -1.5)[:, None]).sum(axis=0)
            if not np.allclose(force[me, :3], want, rtol=1e-3, atol=0.05):
                return False
        return True


class Histogram(Workload):
    SOURCE = """
    kernel void histogram(global const uchar *data, uint size, global uint *bins)
    {
        local uint counts[256];
        for (uint b = get_local_id(0); b < 256; b += get_local_size(0)) counts[b] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = get_global_id(0); i < size; i += get_global_size(0)) atomic_inc(&counts[data[i]]);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint b = get_local_id(0); b < 256; b += get_local_size(0)) atomic_add(&bins[b], counts[b]);
    }"""

    def count(self):
        return (64 << 20) if self.large else (1 << 20)

    def work(self):
        return self.count(), "GB/s"

    def set_up(self):
        self.kernel = self.program(self.SOURCE).histogram
        self.data = np.random.default_rng(4).normal(128, 40, self.count()).clip(0, 255).astype(np.uint8)
        self.bins = np.zeros(256, np.uint32)
        self.buffers = self.buffer(self.data), self.buffer(self.bins)
        self.items = 64 * (1024 if self.large else 32)

    def enqueue(self):
        cl.enqueue_copy(self.queue, self.buffers[1], self.bins, is_blocking=False)
        self.kernel(self.queue, (self.items,), (64,), self.buffers[0], np.uint32(self.count()), self.buffers[1])

    def check(self):
        return np.array_equal(self.fetch(self.buffers[1], self.bins), np.bincount(self.data, minlength=256))


class Sha256(Workload):
    """Hashes of 32-byte messages: integer arithmetic in registers, a table of constants, byte buffers."""

    def constants(self):
        primes = [p for p in range(2, 312) if all(p % d for d in range(2, int(p**0.5) + 1))]

        def fraction(p, root):
            # The first 32 bits behind the point of a root, by integers: floor(p^(1/root) * 2^32).
            low, high = 0, 1 << 40
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if middle**root <= p << (32 * root) else (low, middle)
            return low & 0xFFFFFFFF

        return [fraction(p, 3) for p in primes[:64]], [fraction(p, 2) for p in primes[:8]]

    def source(self):
        k, h = (", ".join(f"{value:#x}u" for value in values) for values in self.constants())
        return f"constant uint K[64] = {{{k}}};\nconstant uint H[8] = {{{h}}};" + """
        #define R(x, n) rotate((x), 32u - (n))
        kernel void sha256(global const uchar *messages, global uchar *digests)
        {
            uint me = get_global_id(0), w[16], s[8];
            for (uint i = 0; i < 8; i++) w[i] = as_uint(vload4(i, messages + 32 * me).wzyx);
            w[8] = 0x80000000u;
            for (uint i = 9; i < 15; i++) w[i] = 0;
            w[15] = 256;
            for (uint i = 0; i < 8; i++) s[i] = H[i];
            for (uint i = 0; i < 64; i++) {
                if (i >= 16) {
                    uint x = w[(i + 1) & 15], y = w[(i + 14) & 15];
                    w[i & 15] += (R(x, 7u) ^ R(x, 18u) ^ x >> 3) + w[(i + 9) & 15] + (R(y, 17u) ^ R(y, 19u) ^ y >> 10);
                }
                uint t = s[7] + (R(s[4], 6u) ^ R(s[4], 11u) ^ R(s[4], 25u)) + bitselect(s[6], s[5], s[4]) + K[i] + w[i & 15];
                uint u = (R(s[0], 2u) ^ R(s[0], 13u) ^ R(s[0], 22u)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
                s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + t; s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = t + u;
            }
            for (uint i = 0; i < 8; i++) vstore4(as_uchar4(s[i] + H[i]).wzyx, i, digests + 32 * me);
        }"""

    def count(self):
        return (4 << 20) if self.large else (16 << 10)

    def work(self):
        return self.count(), "Ghash/s"

    def set_up(self):
        self.kernel = self.program(self.source()).sha256
        self.messages = np.random.default_rng(5).integers(0, 256, (self.count(), 32), np.uint8)
        self.buffers = self.buffer(self.messages), self.buffer(np.zeros_like(self.messages))

    def enqueue(self):
        self.kernel(self.queue, (self.count(),), (64,), *self.buffers)

    def check(self):
        digests = self.fetch(self.buffers[1], self.messages)
        return all(bytes(digests[i]) == hashlib.sha256(bytes(self.messages[i])).digest() for i in range(0, self.count(), 97))


class Launches(Workload):
    """The time of a launch of a kernel that does next to nothing: waited for each time, or many behind each other."""

    count = 1000

    def work(self):
        return self.count, "s"

    def set_up(self):
        self.kernel = self.program("kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }").add
        self.data = np.zeros(64, np.uint32)
        self.target = self.buffer(self.data)
        self.total = 0
        # Set once: what Python needs to set arguments is not the driver's time.
        self.kernel.set_args(self.target, np.uint32(1))

    def enqueue(self):
        for _ in range(self.count):
            cl.enqueue_nd_range_kernel(self.queue, self.kernel, (64,), (64,))
        self.total += self.count

    def check(self):
        return np.all(self.fetch(self.target, self.data) == self.total)


class Latency(Launches):
    count = 100

    def enqueue(self):
        for _ in range(self.count):
            cl.enqueue_nd_range_kernel(self.queue, self.kernel, (64,), (64,))
            self.queue.finish()
        self.total += self.count


class Build(Workload):
    """From source to the end of the first launch, for a kernel of so many lines that no cache has seen."""

    lines = 20
    serial = itertools.count(int(time.time()))

    def work(self):
        return 1, "s"

    def set_up(self):
        self.a = np.arange(64, dtype=np.uint32)
        self.target = self.buffer(self.a)

    def source(self, seed):
        body = "\n".join(
            f"    x = (x ^ {(seed * 2654435761 + line * 40503) % 2**32}u) * {2 * line + 3}u + rotate(x, {line % 31 + 1}u);" if line % 10
            else f"    if (x & {1 << line % 20}u) x += {line}u; else x -= a[(i + {line}u) % 64];"
            for line in range(self.lines)
        )
        return f"kernel void k(global uint *a)\n{{\n    uint i = get_global_id(0), x = a[i];\n{body}\n    a[i] = x;\n}}\n"

    def warm_up(self):
        # The first build of a process loads and sets up the compiler.
        self.run()

    def run(self):
        kernel = self.program(self.source(next(self.serial))).k
        kernel(self.queue, (64,), (64,), self.target)
        self.queue.finish()


class Transfer(Workload):
    """Host to device, device to host, or a map and unmap in which the host reads one word a page."""

    way = "write"

    def bytes(self):
        return (256 << 20) if self.large else (64 << 20)

    def work(self):
        return self.bytes(), "GB/s"

    def set_up(self):
        self.data = np.arange(self.bytes() // 4, dtype=np.uint32)
        self.host = np.zeros_like(self.data)
        self.target = self.buffer(self.data)

    def run(self):
        if self.way == "write":
            cl.enqueue_copy(self.queue, self.target, self.data)
        elif self.way == "read":
            cl.enqueue_copy(self.queue, self.host, self.target)
        else:
            mapped, _ = cl.enqueue_map_buffer(self.queue, self.target, cl.map_flags.READ, 0, self.data.shape, self.data.dtype)
            self.seen = int(mapped[::1024].sum())
            mapped.base.release(self.queue)
        self.queue.finish()

    def check(self):
        if self.way == "map":
            return self.seen == int(self.data[::1024].sum())
        return np.array_equal(self.host if self.way == "read" else self.fetch(self.target, self.data), self.data)


WORKLOADS = {
    **{
        f"{kind}_{name}": of_type(Stream, kind=kind, kernel_type=name, element=element)
        for name, element in (("float", np.float32), ("float4", np.float32), ("uchar", np.uint8))
        for kind in ("copy", "scale", "triad")
    },
    "reduction": Reduction,
    "sgemm_naive": Sgemm,
    "sgemm_tiled": of_type(Sgemm, tiled=True),
    "blur_bytes": Blur,
    "mandelbrot": Mandelbrot,
    "nbody": NBody,
    "histogram": Histogram,
    "sha256": Sha256,
    "launch_latency": Latency,
    "launch_throughput": Launches,
    "build_20_lines": Build,
    "build_200_lines": of_type(Build, lines=200),
    "build_2000_lines": of_type(Build, lines=2000),
    **{f"{way}_bandwidth": of_type(Transfer, way=way) for way in ("write", "read", "map")},
}
