"""Rendering: rays through a hierarchy of boxes with a stack, and distances to a fractal."""

import numpy as np

from .base import SingleKernel


class Rays(SingleKernel):
    """The nearest triangle along each ray: a walk through a hierarchy of boxes with a stack in private memory, different for each work-item."""

    LEAF = 4
    SOURCE = """
    typedef struct { float low[3]; int first; float high[3]; int count; } Node;
    typedef struct { float4 a, b, c; } Triangle;
    float slab(global const Node *node, float3 from, float3 inverse, float limit)
    {
        float3 low = ((float3)(node->low[0], node->low[1], node->low[2]) - from) * inverse;
        float3 high = ((float3)(node->high[0], node->high[1], node->high[2]) - from) * inverse;
        float3 near = fmin(low, high), distant = fmax(low, high);
        float enter = fmax(fmax(near.x, near.y), fmax(near.z, 0.0f)), leave = fmin(fmin(distant.x, distant.y), fmin(distant.z, limit));
        return enter <= leave ? enter : INFINITY;
    }
    kernel void run(global const Node *nodes, global const Triangle *triangles, global float *distances, global int *hits, int width)
    {
        int x = get_global_id(0), y = get_global_id(1), at = 0, hit = -1, stack[32], top = 0;
        float3 from = (float3)(0.01f, 0.02f, -3.0f), along = normalize((float3)((x + 0.5f) / width - 0.5f, (y + 0.5f) / width - 0.5f, 1.0f));
        float3 inverse = 1.0f / along;
        float limit = 1e30f;
        for (;;) {
            global const Node *node = nodes + at;
            if (node->count) {
                for (int i = node->first; i < node->first + node->count; i++) {
                    float3 a = triangles[i].a.xyz, edge1 = triangles[i].b.xyz - a, edge2 = triangles[i].c.xyz - a;
                    float3 p = cross(along, edge2);
                    float scale = dot(edge1, p);
                    if (fabs(scale) < 1e-12f) continue;
                    scale = 1.0f / scale;
                    float3 s = from - a, q = cross(s, edge1);
                    float u = dot(s, p) * scale, v = dot(along, q) * scale, t = dot(edge2, q) * scale;
                    if (u >= 0 && v >= 0 && u + v <= 1 && t > 0 && t < limit) { limit = t; hit = i; }
                }
            } else {
                int left = node->first, right = left + 1;
                float a = slab(nodes + left, from, inverse, limit), b = slab(nodes + right, from, inverse, limit);
                if (b < a) {
                    float swap = a; a = b; b = swap;
                    int child = left; left = right; right = child;
                }
                if (a < INFINITY) {
                    if (b < INFINITY) stack[top++] = right;
                    at = left;
                    continue;
                }
            }
            if (top == 0) break;
            at = stack[--top];
        }
        distances[y * width + x] = limit;
        hits[y * width + x] = hit;
    }"""

    def side(self):
        return self.pick(128, 2048)

    def work(self):
        return self.side() ** 2, "Gray/s"

    def build(self, order):
        """The nodes of a hierarchy over the triangles; `order` is sorted so that each leaf has consecutive triangles."""
        corners = self.corners
        centres = corners.mean(axis=1)
        nodes, open_ = [None], [(0, 0, len(order))]
        while open_:
            node, begin, end = open_.pop()
            part = corners[order[begin:end]].reshape(-1, 3)
            box = part.min(axis=0), part.max(axis=0)
            if end - begin <= self.LEAF:
                nodes[node] = (box[0], begin, box[1], end - begin)
                continue
            inner = centres[order[begin:end]]
            axis, middle = np.ptp(inner, axis=0).argmax(), (begin + end) // 2
            order[begin:end] = order[begin:end][inner[:, axis].argsort(kind="stable")]
            nodes[node] = (box[0], len(nodes), box[1], 0)
            open_ += [(len(nodes), begin, middle), (len(nodes) + 1, middle, end)]
            nodes += [None, None]
        return np.array(nodes, np.dtype([("low", np.float32, 3), ("first", np.int32), ("high", np.float32, 3), ("count", np.int32)]))

    def data(self):
        random, count = np.random.default_rng(81), self.pick(2048, 65536)
        centres = random.normal(0, 0.6, (count, 1, 3))
        self.corners = (centres + random.normal(0, 1.2 / np.sqrt(count) * 2, (count, 3, 3))).astype(np.float32)
        order = np.arange(count)
        nodes = self.build(order)
        self.corners = self.corners[order]
        triangles = np.zeros((count, 3, 4), np.float32)
        triangles[..., :3] = self.corners
        self.distances, self.hits = np.zeros((self.side(),) * 2, np.float32), np.zeros((self.side(),) * 2, np.int32)
        self.arguments = [*(self.buffer(array) for array in (nodes, triangles, self.distances, self.hits)), np.int32(self.side())]
        self.items = (self.side(),) * 2, (8, 8)

    def check(self):
        distances, hits = self.fetch(self.arguments[2], self.distances), self.fetch(self.arguments[3], self.hits)
        corners, side, wrong, met = self.corners.astype(np.float64), self.side(), 0, 0
        a, edge1, edge2 = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        s = np.array([0.01, 0.02, -3.0], np.float32).astype(np.float64) - a
        q = np.cross(s, edge1)
        pixels = range(0, side * side, side * side // 500 + 1)
        for pixel in pixels:
            along = np.array([(pixel % side + 0.5) / side - 0.5, (pixel // side + 0.5) / side - 0.5, 1])
            along /= np.linalg.norm(along)
            p = np.cross(along, edge2)
            scale = 1 / (edge1 * p).sum(axis=1)
            u, v, t = (s * p).sum(axis=1) * scale, q @ along * scale, (edge2 * q).sum(axis=1) * scale
            t = np.where((u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0), t, 1e30)
            want, met = t.min(), met + (t.min() < 1e30)
            wrong += not (np.isclose(distances.flat[pixel], want, rtol=1e-4) and (hits.flat[pixel] == t.argmin() or want > 1e29))
        # Rays that touch an edge can differ. At least a fifth of the rays meet a triangle.
        return wrong <= len(pixels) // 100 and met > len(pixels) // 5


class Mandelbulb(SingleKernel):
    """Rays to a fractal: estimates of its distance with polar angles and powers, until a ray is at its surface or past it."""

    STEPS, ROUNDS = 24, 6
    SOURCE = """
    float estimate(float3 at)
    {
        float3 z = at;
        float growth = 1, r = 0;
        for (int i = 0; i < ROUNDS; i++) {
            r = length(z);
            if (r > 2.0f) break;
            float theta = acos(z.z / r) * 8.0f, phi = atan2(z.y, z.x) * 8.0f, power = pow(r, 7.0f);
            growth = power * 8.0f * growth + 1.0f;
            power *= r;
            z = at + power * (float3)(sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta));
        }
        r = length(z);
        return 0.5f * log(r) * r / growth;
    }
    kernel void run(global float4 *out, int width)
    {
        int x = get_global_id(0), y = get_global_id(1);
        float3 from = (float3)(0.1f, 0.15f, -2.4f), along = normalize((float3)((x + 0.5f) / width - 0.5f, (y + 0.5f) / width - 0.5f, 0.9f));
        float t = 0, d = 0;
        int n = 0;
        for (; n < STEPS; n++) {
            d = estimate(from + along * t);
            if (d < 0.002f || t > 4.0f) break;
            t += d;
        }
        out[y * width + x] = (float4)(t, d, n, 1);
    }"""
    OPTIONS = (f"-DSTEPS={STEPS}", f"-DROUNDS={ROUNDS}", "-cl-fast-relaxed-math")

    def side(self):
        return self.pick(64, 1024)

    def work(self):
        return self.side() ** 2, "Gray/s"

    def data(self):
        self.out = np.zeros((self.side(), self.side(), 4), np.float32)
        self.arguments, self.items = [self.buffer(self.out), np.int32(self.side())], ((self.side(),) * 2, (16, 4))

    def estimate(self, at):
        z, growth = at.copy(), np.ones(len(at))
        for _ in range(self.ROUNDS):
            r = np.linalg.norm(z, axis=1)
            inner = r <= 2
            theta, phi = 8 * np.arccos(z[:, 2] / r), 8 * np.arctan2(z[:, 1], z[:, 0])
            growth = np.where(inner, 8 * r**7 * growth + 1, growth)
            rotated = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=1)
            z = np.where(inner[:, None], at + r[:, None] ** 8 * rotated, z)
        r = np.linalg.norm(z, axis=1)
        return 0.5 * np.log(r) * r / growth

    def check(self):
        out, side = self.fetch(self.arguments[0], self.out).reshape(-1, 4), self.side()
        pixels = np.arange(0, side * side, side * side // 2000 + 1)
        along = np.stack([(pixels % side + 0.5) / side - 0.5, (pixels // side + 0.5) / side - 0.5, np.full(len(pixels), 0.9)], axis=1)
        along /= np.linalg.norm(along, axis=1)[:, None]
        t, d, n, moving = np.zeros(len(pixels)), np.zeros(len(pixels)), np.zeros(len(pixels)), np.full(len(pixels), True)
        for _ in range(self.STEPS):
            d = np.where(moving, self.estimate([0.1, 0.15, -2.4] + along * t[:, None]), d)
            moving &= ~((d < 0.002) | (t > 4))
            t, n = np.where(moving, t + d, t), n + moving
        # The fractal magnifies rounding errors, so that some rays near its surface take another path.
        right = np.isclose(out[pixels, 0], t, rtol=1e-3) & (out[pixels, 2] == n)
        return right.mean() > 0.9 and (n == self.STEPS).mean() < 0.9 and len(np.unique(n)) > 4


WORKLOADS = {"rays_bvh": Rays, "mandelbulb": Mandelbulb}
