"""Computes sines with wgcl through pyopencl, and compares them with numpy's. For scripts/test-arm64."""

import sys

import numpy
import pyopencl

SOURCE = """
kernel void sines(global const float *x, global float *y)
{
    size_t i = get_global_id(0);
    y[i] = sin(x[i]);
}
"""

platform = next(platform for platform in pyopencl.get_platforms() if "wgcl" in platform.name)
device = platform.get_devices()[0]
print(f"{platform.name}: {device.name} ({device.vendor}), {device.driver_version}, vectors of {device.preferred_vector_width_float} float")
context = pyopencl.Context([device])
queue = pyopencl.CommandQueue(context)
x = numpy.linspace(-1000, 1000, 4096, dtype=numpy.float32)
y = numpy.zeros_like(x)
flags = pyopencl.mem_flags
source = pyopencl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
result = pyopencl.Buffer(context, flags.WRITE_ONLY, y.nbytes)
program = pyopencl.Program(context, SOURCE).build()
pyopencl.Kernel(program, "sines")(queue, x.shape, None, source, result)
pyopencl.enqueue_copy(queue, y, result)
worst = numpy.abs(y - numpy.sin(x.astype(numpy.float64))).max()
print(f"largest error: {worst}")
sys.exit(not worst < 1e-6)
