#!/usr/bin/env python3
"""N-body simulation: float4 arithmetic, with positions shared through local memory."""

import numpy as np
import pyopencl as cl

import common

SOURCE = """
// position.w is the mass. Positions are double buffered: all work-items read `from` and write `to`.
kernel void step_bodies(global const float4 *from, global float4 *to, global float4 *velocity, local float4 *tile, float dt, float softening)
{
    size_t me = get_global_id(0), lane = get_local_id(0), width = get_local_size(0);
    float4 position = from[me];
    float4 acceleration = 0.0f;
    for (size_t first = 0; first < get_global_size(0); first += width) {
        tile[lane] = from[first + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t i = 0; i < width; i++) {
            float4 other = tile[i];
            float4 away = other - position;
            away.w = 0.0f;
            float inverse = rsqrt(dot(away, away) + softening);
            acceleration += away * (other.w * inverse * inverse * inverse);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float4 v = velocity[me] + acceleration * dt;
    velocity[me] = v;
    v.w = 0.0f;
    to[me] = position + v * dt;
}
"""


def reference(position, velocity, dt, softening):
    """The same step with numpy, in double precision."""
    away = position[None, :, :3] - position[:, None, :3]
    inverse = ((away**2).sum(axis=2) + softening) ** -1.5
    acceleration = (away * (position[None, :, 3] * inverse)[..., None]).sum(axis=1)
    velocity = velocity.copy()
    velocity[:, :3] += acceleration * dt
    position = position.copy()
    position[:, :3] += velocity[:, :3] * dt
    return position, velocity


def main():
    args = common.arguments(__doc__, bodies=(512, "number of bodies, a multiple of the group"), group=(64, "work-group size"), steps=(4, "steps"))
    context, queue = common.open_device(args)
    kernel = cl.Program(context, SOURCE).build().step_bodies

    random = np.random.default_rng(2)
    position = random.uniform(-1, 1, (args.bodies, 4)).astype(np.float32)
    position[:, 3] = random.uniform(0.1, 1, args.bodies) / args.bodies
    velocity = np.zeros_like(position)
    dt, softening = 0.01, 0.01

    source, target = common.to_device(context, position), common.to_device(context, position)
    velocities = common.to_device(context, velocity)
    tile = cl.LocalMemory(16 * args.group)
    time = 0.0
    for _ in range(args.steps):
        event = kernel(queue, (args.bodies,), (args.group,), source, target, velocities, tile, np.float32(dt), np.float32(softening))
        time += common.milliseconds(event)
        source, target = target, source
    result = common.to_host(queue, source, position)
    print(f"{args.bodies} bodies, {args.steps} steps: {time:.2f} ms")

    want, speed = position.astype(np.float64), velocity.astype(np.float64)
    for _ in range(args.steps):
        want, speed = reference(want, speed, dt, softening)
    common.verdict("positions", np.allclose(result, want, rtol=1e-4, atol=1e-5))


main()
