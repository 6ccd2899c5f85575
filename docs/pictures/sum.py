"""The program of the recording sanitizer.svg: a sum without a necessary barrier."""

import numpy as np
import pyopencl as cl

SOURCE = """
kernel void sum(global const float *in, global float *out, local float *part)
{
    int l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    out[get_global_id(0)] = part[l] + part[l ^ 1];
}
"""

context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
numbers = np.arange(64, dtype=np.float32)
source = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=numbers)
target = cl.Buffer(context, cl.mem_flags.READ_WRITE, numbers.nbytes)
kernel = cl.Kernel(cl.Program(context, SOURCE).build(), "sum")
kernel(queue, numbers.shape, numbers.shape, source, target, cl.LocalMemory(numbers.nbytes))
result = np.empty_like(numbers)
cl.enqueue_copy(queue, result, target)
print(f"the sums of pairs: {result[:4]} ...")
